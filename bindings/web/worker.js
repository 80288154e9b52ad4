// SPDX-License-Identifier: MIT
//
// worker.js - the library behind the page: everything that takes time happens here
//
// A message {id, call, args} runs handlers[call](args, progress) and is answered by {id, result} or
// {id, error}; {id, progress} may come before.  {cancel: id} stops a call that reads a file.

import { bind, UmbelError } from '../js/engine.js';
import { unpack } from './unlzma.js';

const SLICE = 4 << 20; // of a file, read at a time
const LARGE = 64 << 20; // so that reading it takes a while
const MOST_COUNT = 2 ** 60; // of anything that is typed
const RECORD = 0; // umbel_recipe_use
const LOOKUP = 16;
const MOST_BYTES = 3 * 2 ** 30; // a file beyond this has no room in WebAssembly's memory

let umbel;
let engine;
const cancelled = new Set();

class Cancelled extends Error {}

/** Calls `use` with each slice of a file and where it lies; reports progress. */
async function inSlices(file, task, use) {
  for (let at = 0; at < file.size; at += SLICE) {
    const slice = new Uint8Array(await file.slice(at, at + SLICE).arrayBuffer());
    if (cancelled.delete(task.id)) throw new Cancelled('cancelled');
    use(slice, at);
    task.progress(Math.min(at + SLICE, file.size) / file.size);
  }
}

/** What a file begins as: the library's name for it, and the error that refuses it as lines. */
async function glimpse(file) {
  const first = new Uint8Array(await file.slice(0, SLICE).arrayBuffer());
  const is = engine.withBytes(first, (at, length) => engine.wasm.input(at, length));
  return { is, name: engine.texts(1)[0], refusal: engine.error() };
}

/** A stream that unpacks what is compressed so; undefined where this browser has none. */
function unpackerOf(name) {
  try {
    return new DecompressionStream(name);
  } catch {
    return undefined;
  }
}

/** Calls `use` with the pieces that an unpacker makes of a file; reports progress. */
async function inUnpacked(file, task, unpacker, use) {
  let read = 0;
  const counted = new TransformStream({ transform(piece, to) {
    read += piece.length;
    task.progress(read / file.size);
    to.enqueue(piece);
  } });
  const reader = file.stream().pipeThrough(counted).pipeThrough(unpacker).getReader();
  try {
    for (let next; !(next = await reader.read()).done; ) {
      if (cancelled.delete(task.id)) throw new Cancelled('cancelled');
      use(next.value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error instanceof UmbelError || error instanceof Cancelled ? error
      : new UmbelError('ECORRUPT', 'gzip: the file is damaged, or has several parts, which browsers do not read (gzip -dc)');
  }
}

/** Calls `use` with the address and length of each piece of a file of lines, unpacked; then with none, as the last. */
async function inLines(file, task, use) {
  const { is, name, refusal } = await glimpse(file);
  const unpacker = is && unpackerOf(name);
  if (is && !unpacker) throw refusal;
  const at = engine.alloc(SLICE);
  const pass = (piece) => {
    for (let from = 0; from < piece.length; from += SLICE) {
      const part = piece.subarray(from, from + SLICE);
      engine.bytes.set(part, at);
      use(at, part.length, false);
    }
  };
  try {
    if (unpacker) await inUnpacked(file, task, unpacker, pass);
    else await inSlices(file, task, pass);
    use(at, 0, true);
  } finally {
    engine.release(at);
  }
}

/** What cannot be seen in lines, but is part of their keys. */
function unseen(records) {
  engine.wasm.records_unseen(records);
  const [returns, marks, nuls] = engine.numbers(3);
  return { returns, marks, nuls };
}

// ---- Plan ----

/** What a field says: {} if nothing, {value}, or {bad: the reason}. */
function parse({ what, text }) {
  if (!text) return {};
  try {
    const value = umbel.parseQuantity(what, text);
    return value >= MOST_COUNT ? { bad: 'too large' } : value === 0 ? { bad: 'too small' } : { value };
  } catch (error) {
    return { bad: error.message };
  }
}

/** All but 'auto', what each is for, and one of the page's nine colours. */
function kinds() {
  const purposes = engine.namesIn(6);
  return umbel.lists.kinds.slice(1).map((kind, i) => ({ kind, purpose: purposes[i], colour: i % 9 }));
}

function plans({ capacity, fpr, bytes }) {
  const given = { capacity, fpr, bytes };
  return {
    chosen: umbel.plan(given),
    kinds: kinds().map((about) =>
      ({ ...umbel.plan({ ...given, kind: about.kind }), ...about, builtOnce: engine.isBuiltOnce(about.kind) })),
  };
}

/**
 * What each field says; and if two are given and none is wrong, the plans.  When it is the rate that follows
 * from the others, also what the wanted one, or else the usual one, would take.
 */
function solve({ fields, usual }) {
  const read = fields.map(parse);
  const given = {};
  for (const [i, { of }] of fields.entries()) if (read[i].value) given[of] = read[i].value;
  if (read.some(({ bad }) => bad) || Object.keys(given).length < 2) return { read };
  const { capacity, bytes, fpr = usual } = given;
  const tight = capacity && bytes;
  return { read, given, plans: plans(given),
    need: tight && plans({ capacity, fpr }).kinds, hold: tight && plans({ bytes, fpr }).kinds };
}

/** Rates over bits per key, for that many keys: one curve per kind. */
function curves({ capacity, from, to, points }) {
  return kinds().map(({ kind, colour }) => {
    const curve = [];
    for (let i = 0; i < points; i++) {
      const bits = from * (to / from) ** (i / (points - 1));
      const plan = umbel.plan({ kind, capacity, bytes: Math.max(1, Math.round(bits * capacity / 8)) });
      if (plan.possible && plan.rate > 0) curve.push([bits, plan.rate]);
    }
    return { kind, colour, curve };
  });
}

// ---- Learn ----

const models = {
  classic: () => umbel.Filter.create({ kind: 'classic', bytes: 32, hashes: 4 }),
  blocked: () => umbel.Filter.create({ kind: 'blocked', bytes: 64 }),
  counting: () => umbel.Filter.create({ kind: 'counting', bytes: 256 }),
  leveldb: () => umbel.Filter.create({ format: 'leveldb', bytes: 32, hashes: 6 }),
};

/** Where a key is in a small filter of that sort that holds `keys`, and whether it is in. */
function look({ model, keys, key }) {
  const filter = models[model]();
  try {
    filter.addMany(keys);
    const { bits, hashes } = filter.info();
    const own = keys.map((one) => filter.probes(one));
    const answer = key === undefined ? undefined : {
      probes: filter.probes(key),
      has: filter.has(key),
      hash: hashOf(filter, model, key),
    };
    return { bits, hashes, own, answer, ...filter.measure() };
  } finally {
    filter.free();
  }
}

function hashOf(filter, model, key) {
  const which = model === 'classic' ? 1 : model === 'leveldb' ? 2 : 0;
  engine.withKey(key, (at, length) => engine.wasm.show_hash(umbel.handleOf(filter), which, at, length));
  return engine.texts(1)[0];
}

/** Tries words until one that was never added is found. */
function mistake({ model, keys, from }) {
  const filter = models[model]();
  try {
    filter.addMany(keys);
    const added = new Set(keys);
    for (let i = from; i < from + 200000; i++) {
      const word = wordOf(i);
      if (!added.has(word) && filter.has(word)) return { word, tried: i - from + 1 };
    }
    return { word: '', tried: 200000 };
  } finally {
    filter.free();
  }
}

/** The i-th pronounceable word. */
function wordOf(i) {
  let word = '';
  let rest = (i * 7919 + 12289) % 1000003;
  while (rest > 0 || word.length < 4) {
    word += 'bdfgklmnprstvz'[rest % 14] + 'aeiou'[Math.floor(rest / 14) % 5];
    rest = Math.floor(rest / 70);
  }
  return word;
}

function words({ from, count }) {
  return Array.from({ length: count }, (_, i) => wordOf(from + i));
}

// ---- Open ----

const opened = { filter: null, table: 0, bytes: 0, place: 0 };

function close() {
  opened.filter?.free();
  if (opened.table) engine.wasm.table_dispose(opened.table);
  if (opened.bytes) engine.release(opened.bytes);
  Object.assign(opened, { filter: null, table: 0, bytes: 0, length: 0, place: 0 });
}

/** Unpacked only as far as there is room. */
async function gunzipped(file, task) {
  if ((await glimpse(file)).name !== 'gzip') return file;
  const parts = [];
  let size = 0;
  await inUnpacked(file, task, unpackerOf('gzip'), (piece) => {
    size += piece.length;
    if (size > MOST_BYTES) throw tooLarge();
    parts.push(new Blob([piece]));
  });
  return new Blob(parts);
}

function tooLarge() {
  return new UmbelError('ELIMIT', 'a browser has room for files of up to 3 GiB; the umbel command opens larger ones');
}

/** What Parquet files and tables of LevelDB and RocksDB end in. */
const magics = ['PAR1', '\x57\xfb\x80\x8b\x24\x75\x47\xdb', '\xf7\xcf\xf4\x85\xb7\x41\xe2\x88'];

function isTable(length) {
  return magics.some((magic) => {
    const end = engine.bytes.subarray(opened.bytes + length - magic.length, opened.bytes + length);
    return length > magic.length && String.fromCharCode(...end) === magic;
  });
}

/** What is known about a file that is not a filter, in place of `error`. */
function explained(error) {
  if (engine.wasm.input(opened.bytes, opened.length)) return engine.error();
  // Without its definition an index of ClickHouse is recognised, but not read.
  const table = engine.wasm.table(opened.bytes, opened.length) >>> 0;
  if (table) engine.wasm.table_dispose(table);
  return table || engine.error().code === 'ECORRUPT' ? error
    : new UmbelError('ENOTSUP', 'a file of ClickHouse, whose filters are spread over a part; the command opens parts: umbel table');
}

/** A filter, or a table with filters in it. */
async function open({ file, as, secret }, task) {
  close();
  const plain = as.format === 'any' || as.format === 'dcso' ? await gunzipped(file, task) : file;
  if (plain.size > MOST_BYTES) throw tooLarge();
  if (as.format === 'any' && plain.size > LARGE) await glance(plain);
  opened.bytes = engine.alloc(plain.size);
  opened.length = plain.size;
  await inSlices(plain, task, (slice, at) => engine.bytes.set(slice, opened.bytes + at));
  try {
    if (as.format === 'any' && isTable(plain.size)) {
      opened.table = engine.must(engine.wasm.table(opened.bytes, plain.size));
      return openTable();
    }
    engine.setForeign(as);
    const handle = engine.withSecret(secret, () =>
      engine.must(engine.wasm.open(opened.bytes, plain.size)));
    opened.filter = umbel.wrap(handle);
    return describe();
  } catch (error) {
    const words = as.format === 'any' && error.code === 'EUNKNOWN' ? explained(error) : error;
    close();
    throw words;
  }
}

/** Refuses a large file that cannot be a filter or a table before all of it is read. */
async function glance(file) {
  const bytes = async (from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer());
  const start = await bytes(0, SLICE);
  const end = await bytes(file.size - 8, file.size);
  if (magics.some((magic) => String.fromCharCode(...end).endsWith(magic))) return;
  engine.setForeign({});
  if (engine.withBytes(start, (at) => engine.wasm.recognised(at, file.size))) return;
  const error = engine.error();
  throw engine.withBytes(start, (at, length) => engine.wasm.input(at, length)) ? engine.error() : error;
}

function openTable() {
  const count = engine.wasm.table_count(opened.table) >>> 0;
  const [system] = engine.texts(1);
  const places = [];
  for (let i = 0; i < Math.min(count, 5000); i++) {
    engine.wasm.table_place(opened.table, i);
    const [state, offset, length, first, end, keys] = engine.numbers(6);
    const [column, type] = engine.texts(2);
    places.push({ i, state, offset, length, first, end, keys, column, type });
  }
  const faults = [];
  for (let at, i = 0; (at = engine.wasm.table_fault(opened.table, i) >>> 0); i++) {
    faults.push(engine.texts(1, at)[0]);
  }
  const table = { system, count, places, faults };
  const first = places.find((place) => place.state === 0);
  return first ? { ...choose({ place: first.i }), table } : { table };
}

/** The filter of one of the table's places. */
function choose({ place }) {
  opened.filter?.free();
  opened.filter = null;
  const handle = engine.must(engine.wasm.table_filter(opened.table, place));
  opened.filter = umbel.wrap(handle);
  opened.place = place;
  return describe();
}

function describe() {
  const info = opened.filter.info();
  return { info: { ...info, seed: String(info.seed), fingerprint: info.fingerprint.toString(16) },
    now: opened.filter.measure(), fill: fill(info) };
}

/** Where the bits lie among the bytes of the file. */
function bitsAt() {
  let [offset, length] = [0, opened.length];
  if (opened.table) {
    engine.wasm.table_place(opened.table, opened.place);
    [, offset, length] = engine.numbers(3);
  }
  const at = opened.bytes + offset;
  return offset + (engine.wasm.bits_at(umbel.handleOf(opened.filter), at, length) >>> 0);
}

/** The share of set bits in each of up to 1024 equal parts of the filter. */
function fill(info) {
  const start = opened.bytes + bitsAt();
  const length = Math.min(info.bytes, opened.bytes + opened.length - start);
  const unit = { blocked: 32, line: 64, counting: 128 }[info.kind] ?? 1;
  const units = Math.max(1, Math.floor(length / unit));
  const parts = Math.min(1024, units);
  const shares = new Float32Array(parts);
  const counting = info.kind === 'counting';
  const ones = Uint8Array.from({ length: 256 }, (_, byte) => counting
    ? ((byte & 15) > 0) + (byte > 15)
    : byte.toString(2).replaceAll('0', '').length);
  const bytes = engine.bytes;
  for (let part = 0; part < parts; part++) {
    const from = start + unit * Math.floor(part * units / parts);
    const to = part === parts - 1 ? start + length
      : start + unit * Math.floor((part + 1) * units / parts);
    // For large parts a sample is enough for a picture.
    const step = Math.max(1, Math.floor((to - from) / 65536));
    let set = 0;
    let seen = 0;
    for (let i = from; i < to; i += step) {
      set += ones[bytes[i]];
      seen++;
    }
    shares[part] = seen ? set / (seen * (counting ? 2 : 8)) : 0;
  }
  return { shares, unit: units === parts ? unit : 0 };
}

/** The filter's recipe, with a type if one was chosen: not every format can keep it. */
function recipeFor(type) {
  const { recipe } = opened.filter;
  return new umbel.Recipe(type === 'string' ? recipe : `${recipe} type=${type}`);
}

/** The key of a value in a table's column. */
function tableKey(text) {
  return engine.withKey(text, (at, length) => {
    const room = Math.max(32, length);
    const out = engine.alloc(room);
    try {
      const written = engine.wasm.table_key(opened.table, opened.place, at, length, out, room);
      if (written < 0) throw engine.error();
      return engine.bytes.slice(out, out + written);
    } finally {
      engine.release(out);
    }
  });
}

/** What is typed is a key: nothing is selected from it. */
function ask({ text, type }) {
  const { filter } = opened;
  const recipe = opened.table ? new umbel.Recipe('line') : recipeFor(type);
  try {
    const { state, key } = opened.table ? { state: 'key', key: tableKey(text) } : recipe.apply(text, 'key', true);
    if (state !== 'key') throw new UmbelError('EINVAL', `not ${recipe.expects || 'a key'}`);
    const hit = recipe.hit(filter, key);
    const asked = hit ?? key;
    return { has: hit !== null, parent: hit && hit.length < key.length ? new TextDecoder().decode(hit) : '',
      count: filter.count(asked), probes: filter.probes(asked), kind: filter.info().kind };
  } finally {
    recipe.free();
  }
}

/** The lines of a file that may be in the filter, as a blob. */
async function askList({ file, type }, task) {
  if (opened.table) {
    engine.wasm.table_place(opened.table, opened.place);
    type = engine.texts(2)[1] || 'string';
    if (!engine.types.includes(type)) throw new UmbelError('ENOTSUP', `values of type ${type} are asked for one by one`);
  }
  const recipe = recipeFor(type);
  const records = engine.must(engine.wasm.records(umbel.recipeOf(recipe), LOOKUP));
  const matches = [];
  const sum = { lines: 0, missing: 0, malformed: 0, hits: 0 };
  try {
    await inLines(file, task, (at, length, last) => {
      engine.must(engine.wasm.match_lines(umbel.handleOf(opened.filter), umbel.recipeOf(recipe), records, at, length, last ? 1 : 0));
      const [out, kept, lines, missing, malformed, hits] = engine.numbers(6);
      if (kept) matches.push(engine.bytes.slice(out, out + kept));
      sum.lines += lines;
      sum.missing += missing;
      sum.malformed += malformed;
      sum.hits += hits;
    });
    return { ...sum, ...unseen(records), expects: recipe.expects, blob: new Blob(matches, { type: 'text/plain' }) };
  } finally {
    engine.wasm.records_free(records);
    recipe.free();
  }
}

// ---- Build ----

async function countLines(file, task) {
  let lines = 0;
  let last = 10;
  await inLines(file, task, (at, length) => {
    lines += engine.wasm.count_lines(at, length);
    if (length) last = engine.bytes[at + length - 1];
  });
  return lines + (last === 10 ? 0 : 1);
}

async function build({ file, never, kind, fpr, bytes, capacity, crlf }, task) {
  const options = { kind, fpr, bytes, capacity };
  const passes = engine.isBuiltOnce(kind) || capacity || (fpr && bytes) ? 1 : 2;
  const part = (number) => ({ id: task.id, progress: (share) =>
    task.progress((number + share) / passes) });
  if (passes === 2) options.capacity = Math.max(1, await countLines(file, part(0)));
  for (const name of Object.keys(options)) if (!options[name]) delete options[name];
  engine.setParams(options);
  const builder = engine.must(engine.wasm.builder());
  const words = crlf ? 'line crlf' : 'line';
  const recipe = new umbel.Recipe(words);
  const records = engine.must(engine.wasm.records(umbel.recipeOf(recipe), RECORD));
  let asked = 0;
  let lines = 0;
  try {
    if (never) {
      asked = engine.must(engine.wasm.records(umbel.recipeOf(recipe), RECORD));
      await inLines(never, { id: task.id, progress: () => {} }, (at, length, last) => {
        engine.must(engine.wasm.build_lines(builder, 1, asked, at, length, last ? 1 : 0));
      });
    }
    await inLines(file, part(passes - 1), (at, length, last) => {
      engine.must(engine.wasm.build_lines(builder, 0, records, at, length, last ? 1 : 0));
      lines += engine.numbers(1)[0];
    });
    const filter = umbel.wrap(engine.must(engine.wasm.builder_finish(builder)));
    try {
      if (crlf) filter.recipe = words;
      const { seed, fingerprint, ...info } = filter.info();
      return { lines, ...unseen(records), info, now: filter.measure(),
        blob: new Blob([filter.toBytes('native')], { type: 'application/octet-stream' }) };
    } finally {
      filter.free();
    }
  } finally {
    engine.wasm.records_free(records);
    engine.wasm.records_free(asked);
    recipe.free();
    engine.wasm.builder_dispose(builder);
  }
}

// ---- Messages ----

const handlers = { version: () => umbel.version, lists: () => ({ ...umbel.lists, about: kinds() }), parse, solve, curves, look, mistake, words, open, choose, ask, askList, build };

async function start({ wasm, unpacker, size }) {
  umbel = bind(await WebAssembly.compile(unpacker ? unpack(unpacker, wasm, size) : wasm));
  ({ engine } = umbel);
}

let ready;

self.onmessage = async ({ data }) => {
  if (data.wasm) {
    ready = start(data);
    return;
  }
  if (data.cancel) {
    cancelled.add(data.cancel);
    return;
  }
  const { id, call, args } = data;
  let reported = 0;
  const progress = (share) => {
    const now = performance.now();
    if (now - reported < 50 && share < 1) return;
    reported = now;
    self.postMessage({ id, progress: share });
  };
  try {
    await ready;
    self.postMessage({ id, result: await handlers[call](args, { id, progress }) });
  } catch (error) {
    const own = error instanceof UmbelError;
    self.postMessage({ id, error: { message: error.message, own, code: error.code,
      cancelled: error instanceof Cancelled } });
  }
  cancelled.delete(id);
};
