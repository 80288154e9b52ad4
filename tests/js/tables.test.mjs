// SPDX-License-Identifier: MIT
//
// tables.test.mjs - Parquet files and LevelDB tables in WebAssembly, damaged ones among them

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { corpus, root } from './support.mjs';

const { bind } = await import(join(root, 'build/js/package/engine.js'));
const { Filter, engine } = bind(
  await WebAssembly.compile(readFileSync(join(root, 'build/js/package/umbel.wasm'))));
const { wasm } = engine;

/** The states of the filters in a table, all of which are asked; null when it is no table. */
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
      const filter = new Filter(handle);
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
  const packed = corpus('table_leveldb').find(([name]) => name === 'snappy60')[1];
  assert.ok(walk(new Uint8Array(packed), 'key000001').length > 0);
});

for (const target of ['table_leveldb', 'table_parquet', 'table_clickhouse']) {
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
