# SPDX-License-Identifier: MIT
# start.sh - sourced by every example: the command and a temporary directory
set -eu
umbel=${UMBEL:-umbel}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
