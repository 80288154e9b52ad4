// SPDX-License-Identifier: MIT
//
// golden.test.mjs - filters that other systems wrote, read and written again as they were, and those
// inside Parquet files and LevelDB tables, damaged ones among them

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { built, corpus, golden, hex, nativeFiles, root } from './support.mjs';

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

// ---- Tables ----

const { bind } = await import(join(root, 'build/js/package/engine.js'));
const { wrap, engine } = bind(
  await WebAssembly.compile(readFileSync(join(root, 'build/js/package/umbel.wasm'))));
const { wasm } = engine;

/** The states of the filters in a table, all of which are queried; null when it is not a table. */
function walk(bytes, key) {
  return engine.withBytes(bytes, (at, length) => {
    const table = wasm.table(at, length) >>> 0;
    if (!table) {
      assert.ok(engine.error().message.length > 5);
      return null;
    }
    const found = [];
    for (let i = 0; i < wasm.table_count(table); i++) {
      wasm.table_place(table, i);
      const [state] = engine.numbers(1);
      const handle = wasm.table_filter(table, i) >>> 0;
      if (state !== 0) assert.equal(handle, 0);
      if (!handle) continue;
      const filter = wrap(handle);
      found.push(filter.has(key));
      filter.measure();
      filter.free();
    }
    for (let i = 0; wasm.table_fault(table, i); i++) assert.ok(i < 100);
    wasm.table_dispose(table);
    return found;
  });
}

test('golden tables, and one whose blocks are compressed with snappy', () => {
  const golden = (name) => new Uint8Array(readFileSync(join(root, 'tests/golden', name)));
  assert.ok(walk(golden('parquet/duckdb_t.parquet'), 'val7').includes(true));
  assert.ok(walk(golden('table/keys300.ldb'), 'key000001').includes(true));
  for (const name of ['v2', 'v5_reverse_parts', 'v5_ribbon_parts', 'v6_ribbon']) {
    assert.ok(walk(golden(`rocksdb/${name}.sst`), 'key000000150').includes(true), name);
  }
  const packed = corpus('table_leveldb').find(([name]) => name === 'snappy60')[1];
  assert.ok(walk(new Uint8Array(packed), 'key000001').length > 0);
});

for (const target of ['table_leveldb', 'table_rocksdb', 'table_parquet', 'table_clickhouse']) {
  test(`the corpus ${target}`, () => {
    assert.ok(corpus(target).length > 10);
    for (const [, input] of corpus(target)) {
      const bytes = new Uint8Array(input);
      walk(bytes, 'ada');
      if (target === 'table_parquet' && bytes.length >= 8) {
        bytes.set([80, 65, 82, 49], 0);
        bytes.set([80, 65, 82, 49], bytes.length - 4);
        walk(bytes, 'ada');
      }
    }
  });
}

test('a snappy table, changed at every byte of its compressed blocks', () => {
  const packed = corpus('table_leveldb').find(([name]) => name === 'snappy60')[1];
  for (let i = 0; i < packed.length; i++) {
    const changed = new Uint8Array(packed);
    changed[i] ^= 1 << i % 8;
    walk(changed, 'ada');
  }
});

/** LevelDB's masked CRC-32C. */
function checksum(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0x82f63b78 & -(crc & 1));
  }
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

test('a table whose index is compressed with Zstandard is refused in words that say so', () => {
  const bytes = readFileSync(join(root, 'tests/golden/table/keys300.ldb'));
  let at = bytes.length - 48;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      value += (bytes[at] & 127) * 2 ** shift;
      if (bytes[at++] < 128) return value;
    }
  };
  varint(); // where the block of other blocks is, and its length
  varint();
  const index = varint();
  const end = index + varint();
  bytes[end] = 2;
  bytes.writeUInt32LE(checksum(bytes.subarray(index, end + 1)), end + 1);
  engine.withBytes(bytes, (from, length) => {
    const table = wasm.table(from, length) >>> 0;
    const said = table ? engine.texts(1, wasm.table_fault(table, 0) >>> 0)[0] : engine.error().message;
    assert.match(said, /Zstandard/);
    if (table) wasm.table_dispose(table);
  });
});
