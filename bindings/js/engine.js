// SPDX-License-Identifier: MIT
//
// engine.js - the WebAssembly module as classes.  Nothing here loads anything: index.js does that
// for the package, bindings/web/worker.js for the page.

const USES = ['record', 'key', 'digest', 'host'];
const LOOKUP = 16; // or-ed to the use of what is looked up, not added
const QUANTITIES = ['count', 'size', 'rate', 'duration'];
const STATES = ['key', 'nothing', 'malformed'];
const ROOM = 1 << 16; // bytes for one key, before memory is asked for
const BATCH_KEYS = 1024; // so that what a batch allocates stays among the engine's young objects
const BATCH_CHARS = 1 << 16;

// What a typed array says of itself can be overridden; this cannot.
const trueLength = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'byteLength').get;
const NO_KEY = 'a key is a string or a Uint8Array';

/** What is wrong with a key of a batch. */
export function noKey(index) {
  return Object.assign(new TypeError(`key ${index}: ${NO_KEY}`), { index });
}

/** The length of a key in bytes, or, of a string, in characters. */
function lengthOf(key) {
  if (typeof key === 'string') return key.length;
  if (!(key instanceof Uint8Array)) throw new TypeError(NO_KEY);
  return trueLength.call(key);
}

/** What was given as a batch, as an array.  Anything else that is iterable is a mistake. */
function batchOf(keys) {
  if (Array.isArray(keys)) return keys;
  if (typeof keys === 'object' && keys !== null && !ArrayBuffer.isView(keys)) {
    if (typeof keys[Symbol.iterator] === 'function') return Array.from(keys);
    if (typeof keys[Symbol.asyncIterator] === 'function' || typeof keys.getReader === 'function') {
      throw new TypeError('a batch of keys is at hand: for streams use addFrom or buildFrom');
    }
    if (typeof keys.then === 'function') throw new TypeError('a batch of keys is at hand: await the promise first');
  }
  throw new TypeError(`a batch of keys is an array or another iterable, not ${typeof keys === 'object' ? keys && 'an object like this' : `a ${typeof keys}`}`);
}

/**
 * What failed, in the library's own words; `code` is the name of its umbel_err.  `field` is the option or
 * the field of a file at fault, `offset` where in the bytes, `need` the limit that would do.
 */
export class UmbelError extends Error {
  constructor(code, message, { field = '', offset = 0, need = 0 } = {}) {
    super(message);
    this.name = 'UmbelError';
    Object.assign(this, { code, field, offset, need });
  }
}

function numberOf(list, name, what) {
  const at = list.indexOf(String(name).toLowerCase());
  if (at < 0) throw new TypeError(`${what}: no '${name}' among ${list.join(', ')}`);
  return at;
}

/** A whole number for an argument of this many bits. */
function whole(value, name, bits = 64) {
  if (value === undefined || value === null) return 0n;
  if ((typeof value === 'bigint' || Number.isInteger(value)) && value >= 0 && value < 2 ** bits) return BigInt(value);
  throw new RangeError(`${name}: a whole number from 0 to 2^${bits}-1 is needed, not ${value}`);
}

/** A number or a flag for a 32-bit argument. */
function small(value, name) {
  return typeof value === 'boolean' ? +value : Number(whole(value, name, 32));
}

function rate(value, name) {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && value > 0 && value < 1) return value;
  throw new RangeError(`${name}: a number between 0 and 1 is needed, not ${value}`);
}

/** Refuses misspelt options: an ignored capacity would make a filter of another size. */
function known(options, names, what) {
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new TypeError(`${what}: there is no option '${name}'`);
  }
}

const MAKING = ['kind', 'hashes', 'capacity', 'fpr', 'bytes', 'seed', 'secret', 'expansion',
  'maxLayers', 'generations', 'manual'];
const FOREIGN = ['format', 'variant', 'capacity', 'fpr', 'bytes', 'seed', 'hashes', 'bitsPerKey',
  'expansion', 'nonscaling'];

/** Parameters that the library's messages spell differently from the options here. */
function inOptions(text) {
  return text.replace('bits_per_key', 'bitsPerKey').replace('max_layers', 'maxLayers');
}

/** The module's functions and memory. */
export class Engine {
  constructor(module) {
    // Stubs for the C library's files; there are none.
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      (imports[from] ??= {})[name] = () => 8; // EBADF
    }
    imports.js = { strtod: (text, used) => this.strtod(text >>> 0, used >>> 0) };
    this.wasm = new WebAssembly.Instance(module, imports).exports;
    this.wasm._initialize?.();
    this.encoder = new TextEncoder();
    this.decoder = new TextDecoder();
    this.room = this.alloc(ROOM);
    this.ends = this.alloc(4 * BATCH_KEYS);
    this.answers = this.alloc(BATCH_KEYS);
    this.staging = 0;
    this.stagingLength = 0;
    this.numbersAt = this.wasm.numbers();
    this.textsAt = this.wasm.texts();
    [this.kinds, this.formats, this.types, this.verdicts, this.errors, this.variants] =
      [0, 1, 2, 3, 4, 5].map((list) => this.namesIn(list));
  }

  /** C's, of a text that ends in NUL; where `used` points, how much of it is a number. */
  strtod(text, used) {
    const { bytes } = this;
    const all = this.decoder.decode(bytes.subarray(text, bytes.indexOf(0, text)));
    const [found] = /^(\s*(nan|[+-]?(inf(inity)?|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)))?/i.exec(all);
    new DataView(bytes.buffer).setUint32(used, found.length, true);
    return Number(found.replace(/inf.*/i, 'Infinity'));
  }

  /** The memory's bytes; a new view after it grew. */
  get bytes() {
    if (this.view?.buffer !== this.wasm.memory.buffer) {
      this.view = new Uint8Array(this.wasm.memory.buffer);
    }
    return this.view;
  }

  /** Where each key of a batch ends. */
  get endsView() {
    if (this.endsWords?.buffer !== this.wasm.memory.buffer) {
      this.endsWords = new Uint32Array(this.wasm.memory.buffer, this.ends, BATCH_KEYS);
    }
    return this.endsWords;
  }

  /** The room for one key. */
  get roomView() {
    if (this.roomBytes?.buffer !== this.wasm.memory.buffer) {
      this.roomBytes = new Uint8Array(this.wasm.memory.buffer, this.room, ROOM);
    }
    return this.roomBytes;
  }

  alloc(length) {
    const at = this.wasm.alloc(length) >>> 0;
    if (!at) throw new UmbelError('ENOMEM', `no memory for ${length} bytes`);
    return at;
  }

  release(at) {
    this.wasm.release(at);
  }

  numbers(count) {
    return Array.from(new Float64Array(this.wasm.memory.buffer, this.numbersAt, count));
  }

  /** `count` texts, one after the other. */
  texts(count, at = this.textsAt) {
    const texts = [];
    for (; texts.length < count; ) {
      const end = this.bytes.indexOf(0, at);
      texts.push(this.decoder.decode(this.bytes.subarray(at, end)));
      at = end + 1;
    }
    return texts;
  }

  /** One of the library's lists of names, in the order of their numbers. */
  namesIn(list) {
    const names = [];
    while (this.wasm.name(list, names.length)) names.push(this.texts(1)[0]);
    return names;
  }

  error() {
    const code = this.errors[this.wasm.error()] ?? 'EINVAL';
    let message = inOptions(this.texts(1, this.wasm.message() >>> 0)[0]);
    // The engine does not know how much memory a forgotten filter holds, and may collect it late.
    if (code === 'ENOMEM') message += '; free() gives back what a filter holds';
    if (!this.wasm.blame) return new UmbelError(code, message); // the page's module
    this.wasm.blame();
    const [offset, need] = this.numbers(2);
    return new UmbelError(code, message, { field: inOptions(this.texts(1)[0]), offset, need });
  }

  isBuiltOnce(kind) {
    return !!this.wasm.built_once(numberOf(this.kinds, kind, 'kind'));
  }

  /** What a call returned, unless that says that it failed. */
  must(result) {
    if (result === 0 || result === -1) throw this.error();
    return result >>> 0;
  }

  /** Hands a key to `use` as address and length. */
  withKey(key, use) {
    const at = this.room;
    if (typeof key === 'string') {
      const length = key.length;
      if (length <= 32) {
        const bytes = this.bytes;
        let i = 0;
        for (let code; i < length && (code = key.charCodeAt(i)) < 128; i++) bytes[at + i] = code;
        if (i === length) return use(at, length);
      }
      if (3 * length <= ROOM) {
        return use(at, this.encoder.encodeInto(key, this.roomView).written);
      }
      key = this.encoder.encode(key);
    }
    const size = lengthOf(key);
    if (size > ROOM) return this.withBytes(key, use);
    this.roomView.set(key);
    return use(at, size);
  }

  /** Hands a copy of the bytes to `use` as address and length. */
  withBytes(bytes, use) {
    const size = trueLength.call(bytes);
    const at = this.alloc(size);
    try {
      this.bytes.subarray(at, at + size).set(bytes);
      return use(at, size);
    } finally {
      this.release(at);
    }
  }

  /** Hands a text that ends in NUL to `use`. */
  withText(text, use) {
    if (typeof text !== 'string' || text.includes('\0')) throw new TypeError('a text without NUL is needed');
    return this.withKey(`${text}\0`, use);
  }

  /** Room for this many bytes of keys. */
  stage(length) {
    if (length > this.stagingLength) {
      this.release(this.staging);
      this.staging = this.stagingLength = 0;
      this.staging = this.alloc(length);
      this.stagingLength = length;
    }
    return this.staging;
  }

  /**
   * Puts keys into memory, from the one with this number on; returns how many.  Strings are joined and encoded in one go; if they are all
   * ASCII, they end where their lengths say.
   */
  stageKeys(keys, first) {
    const ends = this.endsView;
    let to = 0;
    let size = 0;
    let joined = '';
    let strings = true;
    while (to < keys.length && (size < BATCH_CHARS || !to)) {
      const key = keys[to];
      if (typeof key === 'string') {
        if (strings) joined += key;
        size += key.length;
      } else {
        strings = false;
        if (!(key instanceof Uint8Array)) throw noKey(first + to);
        size += lengthOf(key);
      }
      ends[to++] = size;
    }
    const at = this.stage(3 * size);
    if (strings) {
      const { written } = this.encoder.encodeInto(joined, this.bytes.subarray(at, at + 3 * size));
      if (written === size) return to;
    }
    this.stageMixed(keys, to, size);
    return to;
  }

  stageMixed(keys, to, size) {
    const bytes = this.bytes.subarray(this.staging, this.staging + 3 * size);
    const ends = this.endsView;
    let end = 0;
    for (let i = 0; i < to; i++) {
      const key = keys[i];
      if (typeof key === 'string') {
        end += this.encoder.encodeInto(key, bytes.subarray(end)).written;
      } else {
        bytes.set(key, end);
        end += trueLength.call(key);
      }
      ends[i] = end;
    }
  }

  /**
   * Calls `use` for every batch of the keys with how many there are and the first one's number.  Keys
   * are read once, before any of them is staged: what a getter does must not happen in between.
   */
  inBatches(keys, use) {
    const total = keys.length;
    for (let from = 0; from < total; ) {
      let piece = new Array(Math.min(total - from, BATCH_KEYS));
      for (let i = 0; i < piece.length; i++) piece[i] = keys[from + i];
      while (piece.length) {
        const count = this.stageKeys(piece, from);
        use(count, from);
        from += count;
        piece = count < piece.length ? piece.slice(count) : [];
      }
    }
    return total;
  }

  withSecret(secret, use) {
    if (secret === undefined || secret === null) {
      this.wasm.set_secret(0);
      return use();
    }
    if (!(secret instanceof Uint8Array) || trueLength.call(secret) !== 16) {
      throw new TypeError('secret: a Uint8Array of 16 bytes is needed');
    }
    this.withKey(secret, (at) => this.wasm.set_secret(at));
    try {
      return use();
    } finally {
      this.wasm.set_secret(0);
    }
  }

  setParams(o) {
    known(o, MAKING, 'a filter');
    this.wasm.set_params(numberOf(this.kinds, o.kind ?? 'auto', 'kind'), small(o.hashes, 'hashes'),
      whole(o.capacity, 'capacity'), rate(o.fpr, 'fpr'), whole(o.bytes, 'bytes'),
      whole(o.seed, 'seed'), small(o.expansion, 'expansion'), small(o.maxLayers, 'maxLayers'),
      small(o.generations, 'generations'), small(o.manual, 'manual'));
  }

  /** The bits of one name or several, or the bits themselves. */
  variantOf(given) {
    if (typeof given !== 'string' && !Array.isArray(given)) return small(given, 'variant');
    return [given].flat().reduce((bits, name) =>
      bits | 1 << numberOf(this.variants, name, 'variant'), 0);
  }

  setForeign(o) {
    known(o, FOREIGN, 'a format');
    this.wasm.set_foreign(numberOf(this.formats, o.format ?? 'any', 'format'),
      this.variantOf(o.variant), whole(o.capacity, 'capacity'), rate(o.fpr, 'fpr'),
      whole(o.bytes, 'bytes'), whole(o.seed, 'seed'), small(o.hashes, 'hashes'),
      small(o.bitsPerKey, 'bitsPerKey'), small(o.expansion, 'expansion'),
      small(o.nonscaling, 'nonscaling'));
  }
}

function word(high, low) {
  return (BigInt(high) << 32n) | BigInt(low);
}

/** The classes over one instance of the module. */
export function bind(module) {
  const engine = new Engine(module);
  const { wasm } = engine;
  const forgotten = new FinalizationRegistry((handle) => wasm.dispose(handle));
  const inside = Symbol('inside'); // what only this module has
  const forgottenRecipes = new FinalizationRegistry((handle) => wasm.recipe_free(handle));

  /** Own, so that structuredClone and postMessage refuse: private fields would arrive as {}. */
  const uncloneable = () => 'a filter is sent as its bytes: toBytes() and Filter.fromBytes()';

  let handleOf;

  /** A filter that is being built; `total`, if known, is the capacity of kinds that need one. */
  function startBuild({ secret, never, ...rest }, total) {
    const goodKeys = never ? batchOf(never) : [];
    if (rest.kind === undefined) rest.kind = 'static';
    const follows = rest.kind === 'exact'; // the rate, from the numbers of keys and good keys
    if (rest.fpr === undefined && rest.bytes === undefined && !follows) rest.fpr = 0.01;
    const counts = engine.isBuiltOnce(rest.kind) || rest.capacity !== undefined;
    if (!counts && !(rest.fpr && rest.bytes)) {
      if (total === undefined) throw new RangeError('capacity: a stream does not say how many keys will come');
      rest.capacity = Math.max(total, 1);
    }
    let builder = 0;
    const dispose = () => {
      wasm.builder_dispose(builder);
      builder = 0;
    };
    const take = (keys, good) => engine.inBatches(keys, (count) => {
      engine.must(wasm.builder_add(builder, good, engine.staging, engine.ends, count));
    });
    try {
      engine.withSecret(secret, () => {
        engine.setParams(rest);
        builder = engine.must(wasm.builder());
      });
      take(goodKeys, 1);
    } catch (error) {
      dispose();
      throw error;
    }
    return {
      add: (keys) => take(keys, 0),
      finish: () => new Filter(inside, engine.must(wasm.builder_finish(builder))),
      dispose,
    };
  }

  class Filter {
    #handle;

    constructor(key, handle) {
      if (key !== inside) throw new TypeError('use Filter.create, Filter.build or Filter.fromBytes');
      this.#handle = handle;
      forgotten.register(this, handle, this);
      Object.defineProperty(this, 'clone', { value: uncloneable, enumerable: true });
    }

    /** Throws a TypeError for what is not a filter, whatever it says of itself. */
    static {
      handleOf = (filter) => filter.#live();
    }

    #live() {
      if (!this.#handle) throw new TypeError('this filter was freed');
      return this.#handle;
    }

    static create(options = {}) {
      const { format, secret, ...rest } = options;
      if (format !== undefined && format !== 'native') {
        known(options, FOREIGN, `a ${format} filter`);
        engine.setForeign(options);
        return new Filter(inside, engine.must(wasm.create_foreign()));
      }
      if (engine.isBuiltOnce(rest.kind ?? 'auto')) {
        throw new UmbelError('ENOTSUP', 'kind: is built once, from all the keys: Filter.build', { field: 'kind' });
      }
      return engine.withSecret(secret, () => {
        engine.setParams(rest);
        return new Filter(inside, engine.must(wasm.create()));
      });
    }

    static build(keys, options = {}) {
      keys = batchOf(keys);
      const building = startBuild(options, keys.length);
      try {
        building.add(keys);
        return building.finish();
      } finally {
        building.dispose();
      }
    }

    static fromBytes(bytes, options = {}) {
      if (bytes instanceof ArrayBuffer) bytes = new Uint8Array(bytes);
      if (!(bytes instanceof Uint8Array)) throw new TypeError('bytes: a Uint8Array is needed');
      const { secret, ...as } = options;
      engine.setForeign(as);
      return engine.withSecret(secret, () => engine.withBytes(bytes, (at, length) =>
        new Filter(inside, engine.must(wasm.decode(at, length)))));
    }

    free() {
      if (!this.#handle) return;
      forgotten.unregister(this);
      wasm.dispose(this.#handle);
      this.#handle = 0;
    }

    add(key) {
      const handle = this.#live();
      const added = engine.withKey(key, (at, length) => wasm.add(handle, at, length));
      if (added < 0) throw engine.error();
      return added === 1;
    }

    has(key) {
      const handle = this.#live();
      return engine.withKey(key, (at, length) => wasm.has(handle, at, length)) === 1;
    }

    addMany(keys) {
      let fresh = 0;
      keys = batchOf(keys);
      this.#live(); // throws if there is none, also for an empty batch
      engine.inBatches(keys, (count, from) => {
        const done = wasm.add_many(this.#live(), engine.staging, engine.ends, count, engine.answers);
        const answers = engine.bytes.subarray(engine.answers, engine.answers + done);
        for (let i = 0; i < done; i++) fresh += answers[i];
        if (done < count) throw Object.assign(engine.error(), { done: from + done });
      });
      return fresh;
    }

    hasMany(keys) {
      keys = batchOf(keys);
      this.#live();
      const hits = new Uint8Array(keys.length);
      engine.inBatches(keys, (count, from) => {
        wasm.has_many(this.#live(), engine.staging, engine.ends, count, engine.answers);
        hits.set(engine.bytes.subarray(engine.answers, engine.answers + count), from);
      });
      return hits;
    }

    hasText(text) {
      const handle = this.#live();
      return engine.withKey(text, (at, length) => {
        engine.endsView[0] = length;
        engine.must(wasm.has_texts(handle, at, engine.ends, 1, engine.answers));
        return engine.bytes[engine.answers] === 1;
      });
    }

    hasTexts(texts) {
      texts = batchOf(texts);
      this.#live();
      const hits = new Uint8Array(texts.length);
      engine.inBatches(texts, (count, from) => {
        engine.must(wasm.has_texts(this.#live(), engine.staging, engine.ends, count, engine.answers));
        hits.set(engine.bytes.subarray(engine.answers, engine.answers + count), from);
      });
      return hits;
    }

    remove(key) {
      const handle = this.#live();
      const removed = engine.withKey(key, (at, length) => wasm.remove_key(handle, at, length));
      if (removed) return true;
      const error = engine.error();
      if (error.code === 'EABSENT') return false;
      throw error;
    }

    count(key) {
      const handle = this.#live();
      return engine.withKey(key, (at, length) => wasm.count(handle, at, length) >>> 0);
    }

    merge(other) {
      engine.must(wasm.merge(this.#live(), other.#live()));
      return this;
    }

    intersect(other) {
      engine.must(wasm.intersect(this.#live(), other.#live()));
      return this;
    }

    equals(other) {
      return wasm.equal(this.#live(), other.#live()) === 1;
    }

    clear() {
      engine.must(wasm.clear(this.#live()));
      return this;
    }

    fold(fpr) {
      engine.must(wasm.fold(this.#live(), fpr));
      return this;
    }

    advance() {
      engine.must(wasm.advance(this.#live()));
      return this;
    }

    copy() {
      return new Filter(inside, engine.must(wasm.copy(this.#live())));
    }

    snapshot() {
      return new Filter(inside, engine.must(wasm.snapshot(this.#live())));
    }

    info() {
      wasm.describe(this.#live());
      const [, , hashes, layers, generations, grows, frozen, manual, capacity, fpr, bits, bytes,
        keysAdded, exceptions, outdated, universe, seedHigh, seedLow, printHigh, printLow] = engine.numbers(20);
      const [kind, format, layout, kernel, text] = engine.texts(5);
      const meta = [];
      while (wasm.meta(this.#live(), meta.length)) meta.push(engine.texts(2));
      return {
        kind, format, layout, kernel, text, hashes, layers, generations, capacity, fpr, bits,
        bytes, keysAdded, seed: word(seedHigh, seedLow), fingerprint: word(printHigh, printLow),
        grows: !!grows, frozen: !!frozen, manual: !!manual, exceptions, outdated: !!outdated, universe,
        recipe: this.recipe, meta: Object.fromEntries(meta), // also of one called __proto__
      };
    }

    /** How records became keys. */
    get recipe() {
      wasm.get_recipe(this.#live());
      return engine.texts(1)[0];
    }

    set recipe(text) {
      const handle = this.#live();
      engine.withText(text, (at) => engine.must(wasm.set_recipe(handle, at)));
    }

    measure() {
      wasm.measure(this.#live());
      const [bitsSet, keys, keysError, rate, overfull, beyondPlan, room] = engine.numbers(7);
      return { bitsSet, keys, keysError, rate, overfull: !!overfull, beyondPlan: !!beyondPlan, room };
    }

    probes(key) {
      const handle = this.#live();
      const most = 64 * 1024; // a chain may have many layers
      const out = engine.stage(8 * most);
      const count = engine.withKey(key, (at, length) =>
        wasm.probes(handle, at, length, out, most));
      const bits = new BigUint64Array(wasm.memory.buffer, out, Math.min(count, most));
      return Array.from(bits, Number);
    }

    /** What console.log and JSON.stringify show. */
    toJSON() {
      if (!this.#handle) return { freed: true };
      const { kind, format, capacity, fpr, bytes, keysAdded, recipe } = this.info();
      return { kind, format, capacity, fpr, bytes, keysAdded, recipe };
    }

    [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
      return depth < 0 ? '[Filter]' : `Filter ${inspect(this.toJSON(), { ...options, depth: 1 })}`;
    }

    toBytes(format = 'native') {
      const number = numberOf(engine.formats, format, 'format');
      const length = wasm.encoded_size(this.#live(), number);
      const at = engine.alloc(length);
      try {
        engine.must(wasm.encode(this.#live(), number, at, length));
        return engine.bytes.slice(at, at + length);
      } finally {
        engine.release(at);
      }
    }
  }
  Filter.prototype[Symbol.dispose ?? Symbol.for('Symbol.dispose')] = Filter.prototype.free;

  let recipeOf;

  /** How a record becomes a key. */
  class Recipe {
    #handle;

    constructor(text) {
      this.#handle = engine.withText(text, (at) => engine.must(wasm.recipe(at)));
      forgottenRecipes.register(this, this.#handle, this);
      Object.defineProperty(this, 'clone', { value: () => 'a recipe is sent as its text', enumerable: true });
    }

    #live() {
      if (!this.#handle) throw new TypeError('this recipe was freed');
      return this.#handle;
    }

    static {
      recipeOf = (recipe) => recipe.#live();
    }

    free() {
      if (!this.#handle) return;
      forgottenRecipes.unregister(this);
      wasm.recipe_free(this.#handle);
      this.#handle = 0;
    }

    get text() {
      wasm.recipe_text(this.#live());
      return engine.texts(1)[0];
    }

    toJSON() {
      return this.text;
    }

    [Symbol.for('nodejs.util.inspect.custom')]() {
      return `Recipe { ${JSON.stringify(this.text)} }`;
    }

    /** What a malformed record is not; '': none is malformed. */
    get expects() {
      wasm.recipe_expects(this.#live());
      return engine.texts(1)[0];
    }

    bind(header) {
      const handle = this.#live();
      const bound = new Recipe('line');
      wasm.recipe_free(bound.#handle);
      forgottenRecipes.unregister(bound);
      bound.#handle = 0;
      bound.#handle = engine.withKey(header, (at, length) => engine.must(wasm.recipe_bind(handle, at, length)));
      forgottenRecipes.register(bound, bound.#handle, bound);
      return bound;
    }

    apply(record, use = 'record', lookup = false) {
      const handle = this.#live();
      const number = numberOf(USES, use, 'use') | (lookup ? LOOKUP : 0);
      return engine.withKey(record, (at, length) => {
        const scratch = engine.alloc(wasm.recipe_room(handle, length));
        try {
          const state = STATES[wasm.recipe_apply(handle, number, at, length, scratch)];
          const [from, size] = engine.numbers(2);
          return { state, key: state === 'key' ? engine.bytes.slice(from, from + size) : null };
        } finally {
          engine.release(scratch);
        }
      });
    }

    /** The key, or the first of its parents, that may be in the filter; null: none. */
    hit(filter, key) {
      const handle = this.#live();
      const of = handleOf(filter);
      const at = engine.withKey(key, (from, length) => wasm.recipe_hit(handle, of, from, length));
      if (at === -2) throw engine.error();
      return at < 0 ? null : key.subarray(at);
    }
  }
  Recipe.prototype[Symbol.dispose ?? Symbol.for('Symbol.dispose')] = Recipe.prototype.free;

  function answer(solved) {
    const [verdict, , hashes, capacity, fpr, bytes, bits, mean, bitsPerKey, bound, generations] =
      engine.numbers(11);
    const [kind, why] = engine.texts(2);
    return { possible: !!solved, verdict: engine.verdicts[verdict], why, kind, hashes, capacity, fpr,
      bytes, bits, rate: mean, bitsPerKey, bound, generations };
  }

  function plan(options) {
    if (options.format !== undefined && options.format !== 'native') {
      engine.setForeign(options);
      return answer(engine.must(wasm.plan_foreign()));
    }
    known(options, ['kind', 'hashes', 'capacity', 'fpr', 'bytes', 'generations', 'format'],
      'a plan');
    return answer(wasm.plan(numberOf(engine.kinds, options.kind ?? 'auto', 'kind'),
      small(options.hashes, 'hashes'), whole(options.capacity, 'capacity'),
      rate(options.fpr, 'fpr'), whole(options.bytes, 'bytes'),
      small(options.generations, 'generations')));
  }

  /** The key that another system hashes for a value, given as text or number. */
  function typedKey(type, value) {
    const number = numberOf(engine.types, type, 'type');
    if (!['string', 'number', 'bigint'].includes(typeof value)) {
      throw new TypeError('a value is a string, a number or a bigint');
    }
    if (/int/.test(type) && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw new RangeError(`${value}: beyond 2^53 a number also stands for its neighbours; give a bigint`);
    }
    // String(-0) is '0', but a float or double has a sign even then.
    const negative = ['float', 'double'].includes(type) && Object.is(value, -0);
    return engine.withKey(negative ? '-0' : String(value), (at, length) => {
      const out = engine.alloc(2 * length + 8);
      try {
        const written = wasm.typed_key(number, at, length, out, 2 * length + 16);
        if (written < 0) throw engine.error();
        return engine.bytes.slice(out, out + written);
      } finally {
        engine.release(out);
      }
    });
  }

  /** The number that a text stands for, as the command reads it. */
  function parseQuantity(what, text) {
    const number = numberOf(QUANTITIES, what, 'what');
    return engine.withText(text, (at) => {
      engine.must(wasm.parse(number, at));
      return engine.numbers(1)[0];
    });
  }

  wasm.version();
  const [version] = engine.texts(1);
  const { kinds, types, verdicts, errors } = engine;
  const lists = { kinds, formats: engine.formats.slice(1), types, verdicts, errors, variants: engine.variants };
  // For the page, which makes filters from handles itself.
  const wrap = (handle) => new Filter(inside, handle);
  return { Filter, Recipe, plan, typedKey, parseQuantity, UmbelError, version, lists, engine, wrap, handleOf, recipeOf, startBuild };
}
