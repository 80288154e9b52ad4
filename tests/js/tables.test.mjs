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
