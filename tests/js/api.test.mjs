// SPDX-License-Identifier: MIT
//
// api.test.mjs - what the package's calls do

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { built, runs, umbel, urls } from './support.mjs';

const { Filter, UmbelError, parseQuantity, plan, typedKey, version } = await import(built);

const adding = ['blocked', 'classic', 'counting', 'scalable', 'window', 'line'];

test('no key is missed, and the rate is kept, by every kind', () => {
  const keys = urls(20000);
  const others = urls(100000, 'other.example');
  for (const kind of [...adding, 'static', 'tight']) {
    const filter = adding.includes(kind)
      ? Filter.create({ capacity: keys.length, fpr: 0.01, kind })
      : Filter.build(keys, { fpr: 0.01, kind });
    if (adding.includes(kind)) assert.ok(filter.addMany(keys) > 0.98 * keys.length, kind);
    assert.ok(filter.hasMany(keys).every((hit) => hit === 1), kind);
    assert.ok(filter.has(keys[77]), kind);
    const wrong = filter.hasMany(others).reduce((sum, hit) => sum + hit, 0);
    assert.ok(wrong < 1000 + 5 * Math.sqrt(1000), `${kind}: ${wrong} of 100,000`);
    assert.equal(filter.info().kind, kind);
    filter.free();
  }
});

test('strings and their UTF-8 bytes are the same keys', () => {
  const strings = ['', 'ada', 'Grüße', '布隆过滤器', '😀', 'a\0b', 'x'.repeat(100000),
    '语'.repeat(50000)];
  const bytes = strings.map((text) => new TextEncoder().encode(text));
  for (const kind of adding) {
    const one = Filter.create({ capacity: 100, fpr: 1e-6, kind });
    const many = Filter.create({ capacity: 100, fpr: 1e-6, kind });
    for (const key of strings) one.add(key);
    many.addMany(bytes);
    assert.ok(one.equals(many), kind);
    assert.ok(one.hasMany(bytes).every((hit) => hit) && many.hasMany(strings).every((hit) => hit));
    for (const key of bytes) assert.ok(one.has(key));
  }
});

test('one call and a batch are the same, also of mixed keys and other iterables', () => {
  const keys = urls(70000);
  keys[100] = new TextEncoder().encode(keys[100]);
  keys[200] = '语';
  const one = Filter.create({ capacity: 70000, fpr: 0.01 });
  const batch = Filter.create({ capacity: 70000, fpr: 0.01 });
  let fresh = 0;
  for (const key of keys) fresh += one.add(key);
  assert.equal(batch.addMany(new Set(keys)), fresh);
  assert.deepEqual(one.toBytes(), batch.toBytes());
  assert.equal(batch.addMany(keys), 0);
  assert.equal(batch.hasMany([]).length, 0);
});

test('counting filters forget what is removed', () => {
  const filter = Filter.create({ capacity: 1000, fpr: 1e-6, kind: 'counting' });
  filter.add('ada');
  filter.add('ada');
  assert.equal(filter.count('ada'), 2);
  assert.equal(filter.remove('bob'), false);
  assert.ok(filter.remove('ada') && filter.remove('ada'));
  assert.equal(filter.has('ada'), false);
  const blocked = Filter.create({ capacity: 1000, fpr: 0.01, kind: 'blocked' });
  assert.throws(() => blocked.remove('ada'), { name: 'UmbelError', code: 'ENOTSUP' });
});

test('sets: merge, intersect, copy, clear, fold, snapshot', () => {
  const a = Filter.create({ capacity: 100000, fpr: 0.001 });
  const b = a.copy();
  a.addMany(['x', 'y']);
  b.addMany(['y', 'z']);
  const both = a.copy().merge(b);
  assert.ok(['x', 'y', 'z'].every((key) => both.has(key)));
  const common = a.copy().intersect(b);
  assert.ok(common.has('y') && !common.has('x'));
  const before = both.info().bytes;
  assert.ok(both.fold(0.001).info().bytes < before && both.has('x'));
  assert.equal(a.clear().measure().bitsSet, 0);
  const counting = Filter.create({ capacity: 100, fpr: 0.01, kind: 'counting' });
  counting.add('x');
  assert.ok(counting.snapshot().has('x'));
  const seeded = Filter.create({ capacity: 100000, fpr: 0.001, seed: 2n ** 63n });
  assert.equal(seeded.info().seed, 2n ** 63n);
  assert.throws(() => a.merge(seeded), { code: 'EMISMATCH', message: /seed/ });
});

test('good keys are never found, members always', () => {
  const members = Array.from({ length: 2000 }, (_, i) => `bad${i}`);
  const good = Array.from({ length: 5000 }, (_, i) => `good${i}`);
  for (const kind of [...adding, 'static', 'tight']) {
    const plain = Filter.build(members, { fpr: 0.2, kind });
    const caught = plain.hasMany(good).reduce((sum, hit) => sum + hit, 0);
    const filter = Filter.build(members, { fpr: 0.2, kind, never: new Set([...good, 'bad7']) });
    assert.ok(caught > 0 || kind === 'scalable', kind);
    for (const asked of [filter, Filter.fromBytes(filter.toBytes())]) {
      assert.equal(asked.info().exceptions, caught, kind);
      assert.equal(asked.info().outdated, false);
      assert.ok(asked.hasMany(members).every((hit) => hit === 1), kind);
      assert.ok(asked.hasMany(good).every((hit) => hit === 0), kind);
    }
    assert.equal(plain.info().exceptions, 0);
  }
  const exact = Filter.build(members, { kind: 'exact', never: [...good, 'bad7'] });
  assert.equal(exact.info().universe, 5000);
  assert.equal(exact.info().exceptions, 0);
  assert.ok(exact.info().bits < 5 * 2000);
  assert.ok(exact.hasMany(members).every((hit) => hit === 1));
  assert.ok(Filter.fromBytes(exact.toBytes()).hasMany(good).every((hit) => hit === 0));
  assert.throws(() => Filter.build(['a'], { never: [5] }), TypeError);
  const many = Array.from({ length: 200000 }, (_, i) => String(i));
  assert.throws(() => Filter.build(['a'], { fpr: 0.5, never: many }), { code: 'EFULL' });
});

test('windows forget', () => {
  const window = Filter.create({ kind: 'window', capacity: 100, fpr: 0.001, generations: 2,
    manual: true });
  window.add('ada');
  for (let i = 0; i < 3; i++) window.advance();
  assert.equal(window.has('ada'), false);
});

test('a secret is needed again', () => {
  const secret = new TextEncoder().encode('sixteen bytes it');
  const filter = Filter.create({ capacity: 100, fpr: 0.01, secret });
  filter.add('ada');
  const bytes = filter.toBytes();
  assert.notEqual(filter.info().fingerprint, 0n);
  assert.throws(() => Filter.fromBytes(bytes), { code: 'ESECRET' });
  assert.ok(Filter.fromBytes(bytes, { secret }).has('ada'));
  assert.throws(() => Filter.create({ capacity: 100, fpr: 0.01, secret: secret.slice(1) }),
    TypeError);
});

test('what is wrong is said', () => {
  assert.throws(() => Filter.create({ capacity: 100 }), UmbelError);
  assert.throws(() => Filter.create({ capacity: 100, fpr: 2 }), RangeError);
  assert.throws(() => Filter.create({ capacity: 1.5, fpr: 0.1 }), RangeError);
  assert.throws(() => Filter.create({ capacity: 100, fpr: 0.1, kind: 'blocky' }), /blocky/);
  assert.throws(() => Filter.create({ capcity: 100, fpr: 0.1 }), /capcity/);
  assert.throws(() => Filter.fromBytes(new Uint8Array(100)), { code: 'EUNKNOWN' });
  assert.throws(() => Filter.fromBytes('text'), TypeError);
  assert.throws(() => Filter.create({ kind: 'static', fpr: 0.1 }), UmbelError);
  const filter = Filter.create({ capacity: 100, fpr: 0.1 });
  assert.throws(() => filter.add(42), TypeError);
  assert.throws(() => filter.hasMany(['a', 42]), TypeError);
  filter.free();
  filter.free();
  assert.throws(() => filter.has('a'), /freed/);
  assert.throws(() => new Filter(), TypeError);
});

test('errors have the names of the options', () => {
  const says = [
    [() => Filter.create({ kind: 'static', fpr: 0.1 }), 'kind: is built once, from all the keys: Filter.build'],
    [() => Filter.create({ capacity: 10, fpr: 0.1, maxLayers: 3 }), 'maxLayers: only for scalable filters'],
    [() => Filter.create({ format: 'leveldb', capacity: 10 }), 'bitsPerKey: give this, fpr or bytes'],
    [() => Filter.create({ format: 'leveldb', capacity: 10, bitsPerKey: 5, hashes: 3 }),
      'hashes: follows from bitsPerKey in this format'],
    [() => Filter.create({ capacity: 10, fpr: 0.1 }).remove('ada'), 'only counting filters can remove keys'],
    [() => Filter.create({ capacity: 10, fpr: 0.1 }).advance(), 'only windows advance'],
    [() => Filter.create({ capacity: 10, fpr: 0.1 }).snapshot(), 'only counting filters have snapshots'],
  ];
  for (const [act, message] of says) {
    const [field] = message.includes(': ') ? message.split(': ') : [''];
    assert.throws(act, { name: 'UmbelError', message, field });
  }
});

test('memory that does not exist is an error, and nothing is lost', () => {
  const kept = Filter.create({ capacity: 100, fpr: 0.01 });
  kept.add('ada');
  assert.throws(() => Filter.create({ kind: 'blocked', bytes: 8 * 2 ** 30 }), UmbelError);
  assert.throws(() => Filter.create({ kind: 'blocked', bytes: 4 * 2 ** 30 - 32 }),
    { code: 'ENOMEM' });
  assert.ok(kept.has('ada'));
});

test('plans', () => {
  const two = plan({ capacity: 2e9, bytes: 500 * 2 ** 20 });
  assert.equal(two.kind, 'classic');
  assert.ok(two.rate > 0.377 && two.rate < 0.379 && two.bound > 0.23 && two.bound < 0.24);
  const wish = plan({ capacity: 2e9, bytes: 500 * 2 ** 20, fpr: 0.01 });
  assert.ok(!wish.possible && wish.verdict === 'below-bound' && wish.why.length > 10);
  const filter = Filter.create({ capacity: 12345, fpr: 0.003 });
  assert.equal(plan({ capacity: 12345, fpr: 0.003 }).bytes, filter.info().bytes);
  assert.equal(plan({ format: 'guava', capacity: 1000, fpr: 0.01 }).hashes, 7);
});

test('probes are the bits that an add sets', () => {
  const filter = Filter.create({ kind: 'classic', bytes: 512, hashes: 5 });
  const bits = filter.probes('ada');
  assert.equal(bits.length, 5);
  filter.add('ada');
  const file = filter.toBytes();
  const payload = Number(new DataView(file.buffer).getBigUint64(96, true));
  const set = [];
  for (let bit = 0; bit < 4096; bit++) {
    if (file[payload + (bit >> 3)] >> (bit & 7) & 1) set.push(bit);
  }
  assert.deepEqual(set, [...new Set(bits)].sort((a, b) => a - b));
});

test('every kind names the bits that decide about a key', () => {
  for (const kind of [...adding, 'static', 'tight']) {
    const filter = Filter.build(urls(300), { fpr: 1e-7, kind });
    const bits = filter.probes(urls(1)[0]);
    assert.ok(bits.length >= filter.info().hashes, kind);
    assert.ok(bits.every((bit) => bit < filter.info().bits), kind);
  }
});

test('quantities: what the command reads, and its reason for what it does not', () => {
  for (const [what, text, value] of [['count', '2 billion', 2e9], ['count', '20亿', 2e9], ['count', '1,500', 1500],
    ['size', '500 MB', 5e8], ['size', '64 mib', 64 * 2 ** 20], ['rate', '0.5%', 0.005], ['rate', '1 in 1,000', 0.001],
    ['duration', '1.5h', 5400]]) {
    assert.equal(parseQuantity(what, text), value, text);
  }
  const option = { count: '-n', size: '-m', rate: '-p' };
  for (const [what, text, reason] of [['rate', '0,5%', 'not a rate'], ['count', '1,5', 'not a number'],
    ['size', '1,5 GB', 'not a size'], ['count', '1e30', 'too large'],
    ['duration', '90', 'not a duration'], ['count', '', 'not a number'], ['count', '9'.repeat(1e5), 'not a number']]) {
    assert.throws(() => parseQuantity(what, text), { code: 'EINVAL', message: reason }, text);
    if (!option[what] || text.length > 100 || !existsSync(umbel)) continue;
    assert.throws(() => runs('plan', option[what], text), ({ stderr }) => stderr.includes(`'${text}' is ${reason}`), text);
  }
  assert.throws(() => parseQuantity('rate', '1%\0'), TypeError);
  assert.throws(() => parseQuantity('weight', '1'), TypeError);
});

test('numbers in texts are those of JavaScript', () => {
  for (const text of ['0', '-0', '1.', '.5', '1e5', '-1.5E-7', '1e400', '4.9e-324', '0.1', '9007199254740993', 'Infinity', '-inf', 'NaN',
    '2.2250738585072011e-308', '1.7976931348623158e308', '0.1000000000000000055511151231257827021181583404541015625']) {
    const value = Number(text.replace(/inf$/, 'Infinity'));
    assert.deepEqual(typedKey('double', text), new Uint8Array(new Float64Array([value]).buffer), text);
  }
  for (const text of ['', ' 1', '1 ', '.', 'e5', '1e', '0x', '1,5', 'nanx', '--1']) {
    assert.throws(() => typedKey('double', text), { code: 'EINVAL' }, text);
  }
});

test('typed keys, version, dispose', () => {
  assert.deepEqual([...typedKey('int64', -2n)], [254, 255, 255, 255, 255, 255, 255, 255]);
  assert.throws(() => typedKey('int8', '300'), { code: 'EINVAL' });
  assert.match(version, /^\d+\.\d+\.\d+$/);
  const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
  const filter = Filter.create({ capacity: 100, fpr: 0.1 });
  filter[dispose]();
  assert.throws(() => filter.info(), /freed/);
});

test('memory is given back', () => {
  for (let i = 0; i < 300; i++) {
    Filter.create({ kind: 'blocked', bytes: 64 * 2 ** 20 }).free();
  }
});
