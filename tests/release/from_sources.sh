# SPDX-License-Identifier: MIT
# In a bare Debian 12: the first command of the README, after the one that it says is needed for it.
apt-get -q update
apt-get install -qy --no-install-recommends make
tar -xzf "/release/umbel-$VERSION.tar.gz" -C /tmp
cd "/tmp/umbel-$VERSION"
make demo
make install
umbel --version | grep -qF "$VERSION"
echo "built, demonstrated and installed from the source archive"
