// SPDX-License-Identifier: MIT
//
// golden.test.mjs - filters that other systems wrote, read and written again as they were

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { built, golden, hex, nativeFiles, root } from './support.mjs';

const { Filter } = await import(built);

function again(bytes, options) {
  const filter = Filter.fromBytes(bytes, options);
  const { format } = filter.info();
  assert.deepEqual(Buffer.from(filter.toBytes(format)), Buffer.from(bytes));
  filter.measure();
  return filter;
}

test('native', () => {
  const secret = new TextEncoder().encode('sixteen bytes it');
  for (const [name, bytes] of nativeFiles()) {
    const filter = again(bytes, name.startsWith('keyed') ? { secret } : {});
    if (name === 'ada') assert.ok(filter.has('ada'));
  }
});

test('leveldb', () => {
  for (const [keys, count, , filter] of golden('leveldb/filters.tsv').slice(1)) {
    const read = again(hex(filter), { format: 'leveldb' });
    if (keys !== 'key%d_0_999') continue;
    for (let i = 0; i < Number(count); i++) assert.ok(read.has(`key${i}`));
  }
});

test('guava', () => {
  for (const row of golden('guava/filters.tsv').slice(1)) {
    if (!row.at(-1)) continue; // too large for the table
    const filter = again(hex(row.at(-1)), { format: 'guava' });
    if (row[6] === 'string' && row[7] === 'key0..key99') assert.ok(filter.has('key99'));
  }
});

test('dcso', () => {
  for (const name of ['a.bloom', 'c.bloom', 'crlf.bloom']) {
    again(new Uint8Array(readFileSync(join(root, 'tests/golden/dcso', name))), {});
  }
});

test('corekv', () => {
  for (const row of golden('corekv/filters.tsv').slice(1)) again(hex(row[4]), { format: 'corekv' });
});

test('parquet', () => {
  for (const row of golden('parquet/filters.tsv').slice(1)) {
    const filter = again(hex(row[3] + row[6]), {});
    if (row[4] === 'string') assert.ok(filter.has('val0'));
  }
});

test('redisbloom', () => {
  for (const row of golden('redisbloom/filters.tsv').slice(1)) {
    const header = hex(row[6]);
    const frame = Buffer.concat([Buffer.from('UMBRBLM1'), Buffer.alloc(8), header, hex(row[8])]);
    frame.writeBigUInt64LE(BigInt(header.length), 8);
    assert.ok(again(new Uint8Array(frame), {}).has('key0'));
  }
});

test('gocrc32', () => {
  for (const row of golden('gocrc32/int64.tsv').slice(1)) {
    if (!row[6]) continue; // no bits, no file
    const filter = again(hex(row[6]),
      { format: 'gocrc32', capacity: Number(row[0]), fpr: Number(row[1]) });
    assert.equal(filter.info().text, row[4]);
  }
});
