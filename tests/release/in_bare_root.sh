# SPDX-License-Identifier: MIT
# In a bare Debian 12: the archive of the static command is unpacked, and that is all.
tar -xzf "/release/umbel-$VERSION-linux-x86_64.tar.gz" -C /usr/local --strip-components=1
seq 1000 >/tmp/keys
umbel build -q -p 1e-6 -o /tmp/keys.umb /tmp/keys
[ "$(umbel check -c /tmp/keys.umb /tmp/keys)" = 1000 ]
[ "$(echo 7 | umbel serve --squid /tmp/keys.umb)" = "OK tag=keys" ]
umbel --version | grep -qF "$VERSION"
for file in man/man1/umbel-build.1 man/man7/umbel-kinds.7 bash-completion/completions/umbel \
    zsh/site-functions/_umbel fish/vendor_completions.d/umbel.fish umbel/umbel.magic mime/packages/umbel.xml \
    doc/umbel/LICENSE; do
    [ -s "/usr/local/share/$file" ] || { echo "no $file"; exit 1; }
done
echo "the command, its pages and completions"
