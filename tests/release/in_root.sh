# SPDX-License-Identifier: MIT
# In a bare Debian 12: the Debian packages with their own tests, and what other systems' tools install.
mkdir /src
tar -xzf "/release/umbel-$VERSION.tar.gz" -C /src --strip-components=1
cd /src
apt-get -q update
needs=$(sed -n 's/^Depends: //p' debian/tests/control | tr ',' '\n' | grep -v umbel)
apt-get install -qy --no-install-recommends $needs /release/debian/*.deb \
    file shared-mime-info libxxhash-dev python3-venv python3-dev python3-setuptools python3-wheel nodejs

for part in $(sed -n 's/^Tests: //p' debian/tests/control); do
    echo "-- package: $part"
    AUTOPKGTEST_TMP=$(mktemp -d) debian/tests/$part
done
seq 1000 | umbel build -q -p 1e-6 -o /tmp/keys.umb
file -m /usr/share/umbel/umbel.magic /tmp/keys.umb | grep -q 'umbel filter version 1'
[ -s /usr/share/mime/application/x-umbel.xml ] # written by the trigger of shared-mime-info

echo "-- module"
mkdir /tmp/module
tar -xzf "/release/umbel-redis-$VERSION-linux-x86_64.tar.gz" -C /tmp/module --strip-components=1
tests/consumer/try_module.sh /tmp/module/umbel.so

# No access to a registry: what is installed is what was released.
for file in /release/python/*_x86_64.whl "/release/python/umbel-$VERSION.tar.gz"; do
    echo "-- $file"
    rm -rf /tmp/venv
    python3 -m venv --system-site-packages /tmp/venv
    /tmp/venv/bin/pip install -q --no-index --no-build-isolation --force-reinstall "$file"
    (cd /tmp && venv/bin/python /src/tests/release/ask.py keys.umb /tmp/venv/)
done

echo "-- npm package, unpacked as npm does"
mkdir -p /tmp/node/node_modules/umbel
tar -xzf "/release/npm/umbel-$VERSION.tgz" -C /tmp/node/node_modules/umbel --strip-components=1
cd /tmp/node
cat >ask.mjs <<'P'
import { readFileSync } from 'node:fs';
import { Filter } from 'umbel';
const keys = Filter.fromBytes(readFileSync('/tmp/keys.umb'));
if (!keys.has('7') || keys.has('1001')) throw new Error('wrong answers');
P
node ask.mjs

echo "-- one file"
mkdir /tmp/one
tar -xzf "/release/umbel-amalgamation-$VERSION.tar.gz" -C /tmp/one --strip-components=1
cc -O1 -I/tmp/one /src/tests/consumer/whole_use.c /tmp/one/umbel.c -o /tmp/whole_use -lm -lpthread
/tmp/whole_use /tmp/whole.umb
echo "Debian packages, module, wheel, source distribution, npm package and the one file"
