// SPDX-License-Identifier: MIT
//
// corpus.test.mjs - the fuzz corpora once more, in WebAssembly: whatever the bytes, an answer or an
// error, never a trap, and the module works on
//
// Twice: through the package, and by the fuzz targets themselves, compiled like the module.  Not
// here are the targets of what is not in the module: decompress and most of parse (the command),
// redis_load (the server's module).  decode_foreign's own target needs zlib; its bytes are here.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { built, corpus, folder, nativeFiles, root } from './support.mjs';

const { Filter, UmbelError, lists, parseQuantity, plan, typedKey } = await import(built);
const { bind } = await import(join(root, 'build/js/package/engine.js'));

const formats = ['any', ...lists.formats];

/** True when it is a filter; then it is also queried and written. */
function use(bytes, options) {
  let filter;
  try {
    filter = Filter.fromBytes(bytes, options);
  } catch (error) {
    assert.ok(error instanceof UmbelError, `${error}`);
    assert.ok(error.code !== 'ENOMEM' && error.message.length > 5, `${error}`);
    return false;
  }
  filter.has('ada');
  filter.hasMany(['', 'ada', 'bob']);
  filter.measure();
  const { format, bits } = filter.info();
  for (const bit of filter.probes('four')) assert.ok(bit < bits);
  const again = Filter.fromBytes(filter.toBytes(format), { ...options, format });
  assert.ok(again.equals(filter));
  again.free();
  filter.free();
  return true;
}

/** What clickhouse and gocrc32 must be told. */
function hints(format) {
  if (format === 'clickhouse') return { format, hashes: 3, seed: 1 };
  if (format === 'gocrc32') return { format, capacity: 10, fpr: 0.01 };
  return { format };
}

for (const [target, head] of [['decode_native', 1], ['decode_foreign', 16]]) {
  test(target, () => {
    let read = 0;
    const inputs = corpus(target);
    assert.ok(inputs.length > 100);
    for (const [, input] of inputs) {
      const bytes = new Uint8Array(input.subarray(head));
      for (const format of formats) read += use(bytes, hints(format));
    }
    assert.ok(read > 10);
  });
}

const kinds = ['auto', 'blocked', 'classic', 'static', 'counting', 'scalable', 'window', 'tight', 'line'];

test('plan', () => {
  let possible = 0;
  const inputs = corpus('plan');
  assert.ok(inputs.length > 100);
  for (const [, input] of inputs) {
    // As fuzz_plan.c reads them, without what only native code takes.
    const bytes = Buffer.concat([input, Buffer.alloc(64)]);
    const given = bytes[2];
    const options = { kind: kinds[bytes[1] % kinds.length] };
    if (given & 1) options.capacity = bytes.readBigUInt64LE(6) >> BigInt(bytes[3] % 64);
    const rate = bytes.readDoubleLE(14);
    if (given & 2) options.fpr = rate > 0 && rate < 1 ? rate : 2 ** -(1 + bytes[14] * 4);
    if (given & 4) options.bytes = bytes.readBigUInt64LE(22) >> BigInt(bytes[4] % 64);
    if (given & 8) options.hashes = bytes.readUInt32LE(30);
    const result = plan(options);
    possible += result.possible;
    if (result.possible) assert.ok(result.rate >= 0 && result.bytes > 0 && result.capacity > 0);
    else assert.ok(result.why.length > 5 && result.verdict !== 'ok', `${result.verdict}`);
  }
  assert.ok(possible > 10 && possible < inputs.length);
});

test('the fuzz targets, compiled to WebAssembly', async (t) => {
  const names = ['decode_native', 'model', 'plan', 'table_clickhouse', 'table_leveldb', 'table_parquet',
    'table_rocksdb'];
  const path = join(folder(t), 'fuzz.wasm');
  execFileSync(join(root, 'bindings/js/build-wasm'), [path, ...names.map((name) => `tests/fuzz/fuzz_${name}.c`)]);
  const module = await WebAssembly.compile(readFileSync(path));
  for (const name of names) {
    await t.test(name, () => {
      const { wasm } = bind(module).engine;
      const inputs = corpus(name);
      assert.ok(inputs.length > 15);
      for (const [input, bytes] of inputs) {
        const at = wasm.alloc(Math.max(bytes.length, 1)) >>> 0;
        new Uint8Array(wasm.memory.buffer).set(bytes, at);
        try {
          wasm[`fuzz_${name}`](at, bytes.length);
        } catch (error) {
          throw new Error(`${name}: ${input}`, { cause: error });
        }
        wasm.release(at);
      }
    });
  }
});

test('parse: what people type into the page, and typed keys', () => {
  const types = ['string', 'utf16', 'int8', 'int64', 'uint8', 'uint64', 'float', 'double', 'uint32be'];
  const inputs = corpus('parse').map(([, bytes]) => bytes.subarray(5).toString());
  assert.ok(inputs.length > 100);
  let numbers = 0;
  let keys = 0;
  for (const text of inputs) {
    for (const what of ['count', 'size', 'rate', 'duration']) {
      try {
        const value = parseQuantity(what, text);
        assert.ok(value >= 0 && value <= (what === 'rate' ? 1 : 2 ** 64), `${JSON.stringify(text)}: ${value}`);
        numbers += value > 0;
      } catch (error) {
        const refused = text.includes('\0') ? error instanceof TypeError : error.code === 'EINVAL';
        assert.ok(refused, `${JSON.stringify(text)}: ${error}`);
      }
    }
    for (const type of types) {
      try {
        keys += typedKey(type, text).length > 0;
      } catch (error) {
        assert.ok(error instanceof UmbelError && error.code === 'EINVAL', `${JSON.stringify(text)}: ${error}`);
      }
    }
  }
  assert.ok(numbers > 10 && keys > 50, `${numbers} numbers, ${keys} keys`);
});

/** A small generator: the same changes in every run. */
function random(seed) {
  return () => {
    seed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return (seed ^ (seed >>> 13)) >>> 0;
  };
}

test('golden files, changed at random places', () => {
  const next = random(7);
  let refused = 0;
  const files = nativeFiles().map(([, bytes]) => bytes);
  for (const folder of ['dcso', 'guava', 'parquet', 'table']) {
    const path = join(root, 'tests/golden', folder);
    const names = readdirSync(path).filter((name) => /\.(bloom|bin|parquet|ldb)$/.test(name));
    files.push(...names.map((name) => new Uint8Array(readFileSync(join(path, name)))));
  }
  for (const bytes of files) {
    for (let i = 0; i < 100; i++) {
      const changed = bytes.slice(0, i % 4 ? bytes.length : next() % bytes.length);
      for (let j = next() % 4; j >= 0 && changed.length; j--) {
        changed[next() % Math.min(changed.length, 200)] ^= 1 << next() % 8;
      }
      refused += !use(changed, {});
    }
  }
  assert.ok(refused > 1000);
});
