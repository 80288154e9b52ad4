// SPDX-License-Identifier: MIT
//
// misuse.test.mjs - what is not a batch, keys that lie, code that runs in between, filters that are
// sent, shown and forgotten; streams and their back-pressure

import assert from 'node:assert/strict';
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { built, folder, runs, umbel, urls } from './support.mjs';

const { Filter, Recipe, UmbelError, lists, typedKey } = await import(built);

const small = (options) => Filter.create({ capacity: 1000, fpr: 0.01, ...options });

async function* slowly(keys) {
  for (const key of keys) {
    await null;
    yield key;
  }
}

// ---- What is not a batch ----

test('what is not a batch is a TypeError, everywhere', async () => {
  const not = ['abc', 5, 5n, true, null, undefined, {}, Promise.resolve(['a']), slowly(['a']), () => 1,
    new Uint8Array(3), new Uint8Array(0), new DataView(new ArrayBuffer(3)), Symbol('a'), Readable.from(['a']),
    new ReadableStream(), createInterface({ input: Readable.from(['a']) })];
  const filter = small();
  for (const batch of not) {
    for (const use of [() => filter.addMany(batch), () => filter.hasMany(batch), () => Filter.build(batch)]) {
      assert.throws(use, TypeError, String(typeof batch));
    }
    if (batch) assert.throws(() => Filter.build(['a'], { never: batch }), TypeError, `never: ${typeof batch}`);
  }
  assert.equal(filter.info().keysAdded, 0);
  assert.throws(() => filter.addMany(slowly([])), /addFrom/);
  assert.throws(() => filter.addMany(Promise.resolve([])), /await/);
  for (const batch of [['a', 5], ['a', null], [['a']], [,], new Set([{}]), [new Uint16Array(2)], [new DataView(new ArrayBuffer(2))]]) {
    assert.throws(() => filter.addMany(batch), /a key is a string or a Uint8Array/);
  }
  const many = [...urls(5000), 7, 'b'];
  for (const use of [(keys) => filter.addMany(keys), (keys) => filter.hasMany(keys), (keys) => filter.hasTexts(keys),
    (keys) => Filter.build(keys), (keys) => Filter.build(['a'], { never: keys })]) {
    assert.throws(() => use(many), (error) => error instanceof TypeError && error.index === 5000 &&
      error.message === 'key 5000: a key is a string or a Uint8Array');
  }
  await assert.rejects(small().addFrom(many), (error) => error instanceof TypeError && error.index === 5000 && /key 5000/.test(error.message));
  await assert.rejects(Filter.buildFrom(slowly(many), { batch: 7 }), (error) => error.index === 5000);
  const full = () => Filter.create({ kind: 'scalable', capacity: 100, fpr: 0.01, maxLayers: 2, expansion: 2 });
  const done = full().addMany.bind(full());
  let known;
  assert.throws(() => done(urls(100000)), (error) => error.code === 'EFULL' && (known = error.done) > 0 && known < 100000);
  await assert.rejects(full().addFrom(urls(100000), { batch: 5 }), (error) => error.code === 'EFULL' && error.done === known);
  assert.throws(() => new Recipe('line fnord'), (error) => error.field === 'fnord' && error.offset === 5 && error.need === 0);
  assert.throws(() => Filter.fromBytes(new Uint8Array(Buffer.from(small().toBytes())).fill(1, 4200, 4210)), (error) =>
    error.code === 'ECORRUPT' && error.field.includes('checksum') && error.offset > 0);
  for (const source of ['abc', 5, {}, null, Promise.resolve([]), new Uint8Array(2), Readable.from(['a'], { objectMode: false })]) {
    await assert.rejects(small().addFrom(source), TypeError);
    await assert.rejects(Filter.buildFrom(source), TypeError);
  }
});

test('batches that are not arrays', () => {
  for (const batch of [new Set(['a', 'b']), new Map([['a', 1], ['b', 2]]).keys(), (function* () { yield* 'ab'; })()]) {
    assert.equal(small().addMany(batch), 2);
  }
});

// ---- Streams ----

test('streams fill filters and wait meanwhile', async (t) => {
  const keys = urls(30000);
  const want = Filter.build(keys, { fpr: 0.001 });
  const list = join(folder(t), 'keys.txt');
  writeFileSync(list, keys.join('\n') + '\n');
  const lines = () => createInterface({ input: createReadStream(list), crlfDelay: Infinity });
  for (const source of [slowly(keys), Readable.from(keys), lines(), keys, ReadableStream.from?.(keys) ?? keys]) {
    assert.ok((await Filter.buildFrom(source, { fpr: 0.001 })).equals(want));
  }
  const one = Filter.create({ capacity: 30000, fpr: 0.01 });
  const other = Filter.create({ capacity: 30000, fpr: 0.01 });
  assert.equal(await one.addFrom(lines(), { batch: 7 }), other.addMany(keys));
  assert.ok(one.equals(other));
  await assert.rejects(Filter.buildFrom(slowly(keys), { kind: 'blocked' }), /capacity/);
  assert.equal((await Filter.buildFrom(slowly(keys), { kind: 'blocked', capacity: 30000 })).info().kind, 'blocked');
  await assert.rejects(one.addFrom([], { batch: 0 }), RangeError);
});

test('no more than a batch is taken before it is in', async () => {
  const filter = Filter.create({ capacity: 10000, fpr: 0.01 });
  let ahead = 0;
  let given = 0;
  async function* source() {
    for (; given < 5000; given++) {
      ahead = Math.max(ahead, given - filter.info().keysAdded);
      yield `key ${given}`;
    }
  }
  await filter.addFrom(source(), { batch: 100 });
  assert.ok(ahead <= 100 + 20, `${ahead} keys ahead`); // some are false positives, so not counted
  let read = 0;
  const stream = new Readable({ objectMode: true, highWaterMark: 16, read() { this.push(read < 1000 ? `${read++}` : null); } });
  await filter.addFrom(stream, { batch: 10 });
  assert.equal(read, 1000);
});

test('a stream that fails, and one with what is no key, ends the call and the stream', async () => {
  const failing = Readable.from((async function* () { yield 'a'; throw new Error('gone'); })());
  await assert.rejects(small().addFrom(failing), /gone/);
  let closed = false;
  async function* wrong() { try { yield 'a'; yield 7; yield 'b'; } finally { closed = true; } }
  await assert.rejects(small().addFrom(wrong(), { batch: 1 }), TypeError);
  assert.ok(closed);
  const filter = small();
  async function* freeing() { yield 'a'; filter.free(); yield 'b'; }
  await assert.rejects(filter.addFrom(freeing(), { batch: 1 }), /freed/);
});

// ---- Keys that lie, and code that runs in between ----

class Liar extends Uint8Array {
  get length() { return 1; }
  get byteLength() { return 1; }
}

test('a key that lies about its length', () => {
  const honest = new Uint8Array(200000).fill(65);
  const liar = new Liar(200000).fill(65);
  const [one, two] = [small(), small()];
  for (const f of [one, two]) f.add('canary');
  one.addMany(['x', honest, 'y']);
  two.addMany(['x', liar, 'y']);
  assert.ok(one.equals(two));
  assert.ok(two.has(liar) && two.has(honest) && two.has('canary'));
  const long = new (class extends Uint8Array { get length() { return 1 << 30; } })(3);
  two.addMany([long, 'z']);
  assert.ok(two.has(new Uint8Array(3)) && two.has(long));
  const fake = Object.setPrototypeOf({ length: 5 }, Uint8Array.prototype);
  for (const use of [() => two.add(fake), () => two.addMany([fake]), () => Filter.fromBytes(fake)]) assert.throws(use, TypeError);
  assert.throws(() => small({ secret: new (class extends Uint8Array { get length() { return 16; } })(3) }), TypeError);
});

test('a generator, a getter or a proxy that frees or uses the filter', () => {
  const filter = small();
  assert.throws(() => filter.addMany((function* () { yield 'a'; filter.free(); yield 'b'; })()), /freed/);
  const gone = small();
  const trap = ['a', 'b'];
  Object.defineProperty(trap, 1, { get() { gone.free(); return 'b'; }, enumerable: true });
  assert.throws(() => gone.addMany(trap), /freed/);
  assert.throws(() => gone.hasMany([]), /freed/);
  const [one, two] = [small(), small()];
  const busy = ['first', 'x'.repeat(70000), 'third'];
  const meddling = [...busy];
  Object.defineProperty(meddling, 2, { get() { two.addMany(['other', 'keys']); return 'third'; } });
  two.addMany(meddling);
  one.addMany([...busy, 'other', 'keys']);
  assert.ok(one.equals(two));
  let reads = 0;
  const changing = new Proxy(['a', 'b'], { get(on, name) { if (name === '0') reads++; return name === '0' && reads > 1 ? new Uint8Array(1e6) : on[name]; } });
  const three = small();
  three.addMany(changing);
  assert.ok(three.has('a') && three.has('b') && reads === 1);
});

test('only filters are merged, and only the module makes them', () => {
  const filter = small();
  for (const other of [{ handle: 64 }, Object.create(filter), null, 5, {}, 'f']) {
    for (const use of ['merge', 'intersect', 'equals']) assert.throws(() => filter[use](other), TypeError);
    assert.throws(() => new Recipe('line').hit(other, new Uint8Array(1)), TypeError);
  }
  assert.throws(() => new Filter(64), TypeError);
  assert.throws(() => new Filter(Symbol('inside'), 64), TypeError);
  filter.handle = 64;
  assert.ok(filter.add('a'));
});

// ---- Sent, shown, forgotten ----

test('a filter is not sent as {}', () => {
  const channel = new MessageChannel();
  try {
    for (const thing of [small(), new Recipe('line'), { deep: [small()] }]) {
      assert.throws(() => structuredClone(thing), { name: 'DataCloneError' });
      assert.throws(() => channel.port1.postMessage(thing), { name: 'DataCloneError' });
    }
    assert.throws(() => structuredClone(small()), /toBytes/);
  } finally {
    channel.port1.close();
  }
  const filter = small();
  filter.add('a');
  assert.ok(Filter.fromBytes(structuredClone(filter.toBytes())).has('a'));
});

test('a filter shows what it is', () => {
  const filter = small({ kind: 'classic' });
  filter.add('a');
  assert.match(inspect(filter), /^Filter \{\s+kind: 'classic',\s+format: 'native',\s+capacity: 1000,/);
  assert.match(inspect({ a: { b: { c: filter } } }), /\[Filter\]/);
  assert.deepEqual(JSON.parse(JSON.stringify({ filter })).filter,
    { kind: 'classic', format: 'native', capacity: 1000, fpr: 0.01, bytes: filter.info().bytes, keysAdded: 1, recipe: 'line' });
  filter.free();
  assert.match(inspect(filter), /freed: true/);
  assert.match(inspect(new Recipe('line  lower')), /Recipe \{ "line lower" \}/);
});

test('memory that is given back is used again; that which is not is an error that says so', () => {
  for (let i = 0; i < 3000; i++) { // 12 GB in all
    const filter = Filter.create({ bytes: 4 << 20, kind: 'blocked' });
    filter.add('a');
    filter[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
  }
  const kept = [];
  try {
    assert.throws(() => { while (kept.length < 9) kept.push(Filter.create({ bytes: 600 << 20, kind: 'blocked' })); },
      (error) => error instanceof UmbelError && error.code === 'ENOMEM' && /free\(\)/.test(error.message));
  } finally {
    for (const filter of kept) filter.free();
  }
  assert.ok(small().add('a'));
});

// ---- Values ----

test('numbers are exact or refused', () => {
  for (const [type, bytes] of [['double', 8], ['float', 4]]) { // the sign is the highest bit, the last byte
    const zero = new Uint8Array(bytes);
    const negative = new Uint8Array(bytes);
    negative[bytes - 1] = 0x80;
    assert.deepEqual(typedKey(type, 0), zero);
    assert.deepEqual(typedKey(type, -0), negative);
    assert.deepEqual(typedKey(type, '-0'), negative);
  }
  assert.deepEqual(typedKey('int64', -0), new Uint8Array(8));
  assert.deepEqual(typedKey('int64', 2n ** 60n), typedKey('int64', '1152921504606846976'));
  assert.deepEqual(typedKey('int64', 2 ** 53 - 1), typedKey('int64', '9007199254740991'));
  for (const value of [2 ** 53, 2 ** 60, -(2 ** 60), 1e20]) {
    for (const type of ['int64', 'uint64', 'int32', 'uint32be']) assert.throws(() => typedKey(type, value), /bigint/);
  }
  for (const value of [1.5, NaN, Infinity]) assert.throws(() => typedKey('int64', value), UmbelError);
  assert.deepEqual(typedKey('double', 2 ** 60), new Uint8Array(new Float64Array([2 ** 60]).buffer));
  for (const value of [{}, null, undefined, true, [1], new Uint8Array(2)]) assert.throws(() => typedKey('string', value), TypeError);
});

test('variants have names', () => {
  assert.deepEqual(lists.variants, ['int32', 'mitz32', 'guava2024', 'index', 'numbers', 'pre2024', 'v1']);
  const usual = Filter.create({ format: 'guava', capacity: 100, fpr: 0.01 });
  const older = Filter.create({ format: 'guava', capacity: 100, fpr: 0.01, variant: 'mitz32' });
  assert.notDeepEqual(usual.toBytes('guava'), older.toBytes('guava'));
  Filter.create({ format: 'clickhouse', capacity: 10, fpr: 0.01, variant: ['index', 'numbers'] });
  for (const variant of ['none', ['mitz32', 'none'], 'toString', {}, 2.5]) {
    assert.throws(() => Filter.create({ format: 'guava', capacity: 100, fpr: 0.01, variant }), /variant/);
  }
  assert.ok(lists.types.includes('uint32be') && !lists.types.includes('uint32_be'));
});

test('metadata called __proto__ is there like any other', { skip: existsSync(umbel) ? false : `${umbel} is not built` }, (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'keys'), 'a\n');
  runs('build', '-q', '-n', '10', '--meta', '__proto__=kept', '--meta', 'other=too', '-o', join(home, 'f.umb'), join(home, 'keys'));
  const { meta } = Filter.fromBytes(readFileSync(join(home, 'f.umb'))).info();
  assert.deepEqual(Object.entries(meta).sort(), [['__proto__', 'kept'], ['other', 'too']]);
  assert.equal(Object.getPrototypeOf(meta), Object.prototype);
});
