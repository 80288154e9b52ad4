#!/bin/sh
# SPDX-License-Identifier: MIT
# make.sh - files that may be given where lines are expected, each written by the real program
set -eu
cd "$(dirname "$0")"
rm -f -- *.list
printf 'ada\ngrace\nedsger\n' > plain.list
: > empty.list
sed 's/$/\r/' plain.list > crlf.list
printf '\357\273\277' | cat - plain.list > bom.list
printf '\357\273\277' | cat - crlf.list > bom_crlf.list
printf 'ada\0grace\0edsger\0' > nul.list
printf 'ada\r\ngrace\nedsger\r\n' > mixed.list
iconv -f UTF-8 -t UTF-16 plain.list > utf16.list # with a mark, little-endian
(printf '\376\377' && iconv -f UTF-8 -t UTF-16BE plain.list) > utf16_be.list
iconv -f UTF-8 -t UTF-16LE plain.list > utf16le.list
iconv -f UTF-8 -t UTF-16BE plain.list > utf16be.list
iconv -f UTF-8 -t UTF-32 plain.list > utf32.list
for name in plain empty crlf bom; do gzip -9nc $name.list > ${name}_gz.list; done
cat plain_gz.list plain_gz.list > members_gz.list
gzip -9nc plain_gz.list > twice_gz.list
gzip -9nc ../dcso/a.bloom > filter_gz.list
gzip -9nc utf16.list > utf16_gz.list
zstd -qc plain.list > plain_zst.list
bzip2 -c plain.list > plain_bz2.list
bzip2 -c empty.list > empty_bz2.list
xz -c plain.list > plain_xz.list
lz4 -qc plain.list > plain_lz4.list
zip -qX - plain.list > plain_zip.list
sqlite3 -batch sqlite.list 'CREATE TABLE keys (name)'
browser="chromium --headless --no-sandbox --disable-gpu --window-size=64,64"
$browser --screenshot=page.png about:blank
mv page.png png.list
$browser --print-to-pdf=pdf.list about:blank
# What an independent writer in Python made.
awk '$1 == "ada" { print $2 }' ../native/filters.tsv | xxd -r -p > umbel.list
cp ../dcso/a.bloom dcso.list
cp ../parquet/duckdb_t.parquet parquet.list
