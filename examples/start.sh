# SPDX-License-Identifier: MIT
# start.sh - what the examples begin with: the command, and a directory that goes away
set -eu
umbel=${UMBEL:-umbel}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
