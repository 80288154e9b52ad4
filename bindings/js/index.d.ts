// SPDX-License-Identifier: MIT
//
// index.d.ts - types of the package umbel

declare global {
  interface SymbolConstructor {
    /** Part of ES2026, declared for older compiler settings. */
    readonly dispose: unique symbol;
  }
}

/** Bytes as they are, or a string as UTF-8.  Empty keys are ordinary keys. */
export type Key = string | Uint8Array;

export type Kind =
  | 'blocked'
  | 'classic'
  | 'static'
  | 'counting'
  | 'scalable'
  | 'window'
  | 'tight'
  | 'line'
  | 'exact';

export type Variant = 'int32' | 'mitz32' | 'guava2024' | 'index' | 'numbers' | 'pre2024' | 'v1';

export type Format =
  | 'native'
  | 'leveldb'
  | 'corekv'
  | 'badger'
  | 'clickhouse'
  | 'gocrc32'
  | 'guava'
  | 'parquet'
  | 'redisbloom'
  | 'dcso'
  | 'rocksdb'
  | 'spark'
  | 'datasketches';

export type ValueType =
  | 'string'
  | 'utf16'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'float'
  | 'double'
  | 'uint32be'
  | 'uuid'
  | 'bytea'
  | 'date'
  | 'timestamp'
  | 'timestamptz'
  | 'inet'
  | 'numeric';

/** Keys that are all available: an array, a set, a generator; not a string or bytes. */
export type Batch = readonly Key[] | (Iterable<Key> & object);

/** Keys that come one after the other: async iterables, streams of objects, lines of node:readline. */
export type Stream =
  | AsyncIterable<Key>
  | Batch
  | { getReader(): { read(): Promise<{ done: boolean; value?: Key | undefined }>; cancel(): Promise<unknown> } };

export interface StreamOptions {
  /** Keys that are gathered before they are added; 4096 by default. */
  batch?: number;
}

/** Of capacity, fpr and bytes give two and the third follows. */
export interface FilterOptions {
  /** 'auto': blocked or line, or classic if it is at least 25% smaller. */
  kind?: Kind | 'auto';
  /** Keys planned for. */
  capacity?: number | bigint;
  /** False-positive rate promised once they are in, between 0 and 1. */
  fpr?: number;
  /** Memory for the bits, at most. */
  bytes?: number | bigint;
  /** Probes per key, of classic and static filters. */
  hashes?: number;
  /** Places keys elsewhere; filters merge only if their seeds are equal. */
  seed?: number | bigint;
  /** 16 bytes without which nobody can construct false positives.  No file holds them. */
  secret?: Uint8Array;
  /** Scalable: each layer is for this many times the keys of the last. */
  expansion?: number;
  /** Scalable: no more layers than these. */
  maxLayers?: number;
  /** Window: forget in this many steps. */
  generations?: number;
  /** Window: only advance() makes it forget. */
  manual?: boolean;
}

export interface BuildOptions extends FilterOptions {
  /** Good keys that must not be found, unless they are among the keys. */
  never?: Batch;
}

/** A filter of another system, as that system makes it. */
export interface ForeignOptions {
  format: Format;
  variant?: Variant | Variant[] | number;
  capacity?: number | bigint;
  fpr?: number;
  bytes?: number | bigint;
  seed?: number | bigint;
  hashes?: number;
  bitsPerKey?: number;
  expansion?: number;
  nonscaling?: boolean;
}

/** What the bytes do not say about themselves: mostly nothing. */
export interface ReadOptions extends Partial<Omit<ForeignOptions, 'format'>> {
  /** 'any': recognised by its first bytes. */
  format?: Format | 'any';
  secret?: Uint8Array;
}

export interface FilterInfo {
  kind: Kind;
  /** Whose hashing and sizing it follows. */
  format: Format;
  layout: string;
  kernel: string;
  /** What the filter's own system prints for it, if anything. */
  text: string;
  /** Probes per key. */
  hashes: number;
  layers: number;
  generations: number;
  /** 0: unknown. */
  capacity: number;
  /** Rate promised at capacity; 0: none. */
  fpr: number;
  bits: number;
  bytes: number;
  keysAdded: number;
  seed: bigint;
  /** Tells secrets apart; 0n: no secret. */
  fingerprint: bigint;
  grows: boolean;
  frozen: boolean;
  manual: boolean;
  /** Good keys that would be found by mistake, and are not. */
  exceptions: number;
  /** Keys were added after the exceptions were found: other good keys may be found. */
  outdated: boolean;
  /** exact: known keys that are not in it, and never found. */
  universe: number;
  /** How records became keys: docs/recipes.md. */
  recipe: string;
  meta: Record<string, string>;
}

export interface Measurement {
  bitsSet: number;
  /** Distinct keys, as well as can be known; Infinity when every bit is set. */
  keys: number;
  /** Standard error of keys; 0: they were counted. */
  keysError: number;
  /** The live false-positive rate. */
  rate: number;
  /** Beyond doubt more keys than planned, or a rate above the promise. */
  overfull: boolean;
  /** Overfull because of its keys, not only because of its rate. */
  beyondPlan: boolean;
  /** Keys that may still come within the plan. */
  room: number;
}

/** How a record of input becomes a key.  The constructor throws UmbelError, naming the word. */
export class Recipe {
  constructor(text: string);
  /** The canonical text. */
  readonly text: string;
  /** What a malformed record is not; empty if none is malformed. */
  readonly expects: string;
  /** The recipe for a file with this header, for recipes that name columns. */
  bind(header: Key): Recipe;
  /** The key of a record; of a text that is a key already ('key'); of a digest ('digest'); of a host
      from DNS or mail ('host').  With lookup, a text that is not a domain name has the key of its longest parent that is one. */
  apply(record: Key, use?: 'record' | 'key' | 'digest' | 'host', lookup?: boolean):
    { state: 'key'; key: Uint8Array } | { state: 'nothing' | 'malformed'; key: null };
  /** The key, or the first of a domain's parents, that may be in the filter; null: none is. */
  hit(filter: Filter, key: Uint8Array): Uint8Array | null;
  toJSON(): string;
  free(): void;
  [Symbol.dispose](): void;
}

export class Filter {
  private constructor();

  /** An empty filter.  Throws UmbelError where there is no such filter. */
  static create(options: FilterOptions | ForeignOptions): Filter;

  /** A filter from all its keys: the only way to a static one, which is the default kind here. */
  static build(keys: Batch, options?: BuildOptions): Filter;

  /** Builds from a stream, which waits while keys are added.  Kinds that take adds need a capacity. */
  static buildFrom(keys: Stream, options?: BuildOptions & StreamOptions): Promise<Filter>;

  /** A filter of any format from untrusted bytes, all of which are checked. */
  static fromBytes(bytes: Uint8Array | ArrayBuffer, options?: ReadOptions): Filter;

  /** How records became keys; kept in native bytes.  has() and add() take keys, hasText() texts. */
  recipe: string;

  /** True: the key was certainly not in before. */
  add(key: Key): boolean;

  /** False: certainly not added.  True: added, or a false positive. */
  has(key: Key): boolean;

  /** How many were certainly not in before.  Several times as fast as add. */
  addMany(keys: Batch): number;

  /** Whether the key of a text may be in: by the filter's recipe, as `umbel check -e` asks; of a domain
      name, its parents as well.  A text without a key is in no filter. */
  hasText(text: Key): boolean;

  /** 1 or 0 for each text. */
  hasTexts(texts: Batch): Uint8Array;

  /** Adds from a stream, which waits while keys are added. */
  addFrom(keys: Stream, options?: StreamOptions): Promise<number>;

  /** 1 or 0 for each key. */
  hasMany(keys: Batch): Uint8Array;

  /** Counting filters.  False: the key is certainly not in. */
  remove(key: Key): boolean;

  /** Counting filters: how often it was added at most; 15 means 15 or more. */
  count(key: Key): number;

  /** Adds all keys of a filter of the same kind, size and seed. */
  merge(other: Filter): this;
  intersect(other: Filter): this;
  equals(other: Filter): boolean;
  clear(): this;

  /** Divides the size by the largest whole number that divides it and leaves the rate at or below fpr. */
  fold(fpr: number): this;

  /** Windows: forgets the oldest generation. */
  advance(): this;
  copy(): Filter;

  /** The blocked filter with the keys of a counting one. */
  snapshot(): Filter;

  /** What the filter was made as, in constant time. */
  info(): FilterInfo;

  /** What its bits show; reads all of them. */
  measure(): Measurement;

  /** The bits that a lookup of this key reads. */
  probes(key: Key): number[];

  /** Also the way to another thread: postMessage and structuredClone refuse a Filter. */
  toBytes(format?: Format): Uint8Array;

  /** What JSON.stringify and console.log show. */
  toJSON(): Pick<FilterInfo, 'kind' | 'format' | 'capacity' | 'fpr' | 'bytes' | 'keysAdded' | 'recipe'> | { freed: true };

  /** Frees the memory; the filter cannot be used afterwards. */
  free(): void;
  [Symbol.dispose](): void;
}

export type Verdict =
  | 'ok'
  | 'underdetermined'
  | 'bad-rate'
  | 'below-bound'
  | 'beyond-kind'
  | 'too-large'
  | 'too-small'
  | 'bad-kind'
  | 'bad-hashes';

export interface Plan {
  possible: boolean;
  verdict: Verdict;
  /** Why not; '' when it is possible. */
  why: string;
  kind: Kind | 'auto';
  hashes: number;
  capacity: number;
  fpr: number;
  bytes: number;
  bits: number;
  /** Mean rate over all such filters at capacity. */
  rate: number;
  bitsPerKey: number;
  /** The rate below which no filter of any kind can be. */
  bound: number;
  generations: number;
}

export interface PlanOptions {
  kind?: Kind | 'auto';
  hashes?: number;
  capacity?: number | bigint;
  fpr?: number;
  bytes?: number | bigint;
  generations?: number;
}

/** What is possible: two of capacity, fpr and bytes give the third. */
export function plan(options: PlanOptions | ForeignOptions): Plan;

/**
 * The bytes that other systems hash for a value, such as Guava for a long.  A number beyond 2^53 is a
 * RangeError where an integer is meant: give a bigint.
 */
export function typedKey(type: ValueType, value: string | number | bigint): Uint8Array;

/**
 * The number that a person wrote: '2 billion', '500 MB', '1 in 1,000', '24h' (in seconds).  Throws an
 * UmbelError that says what it is not; counts and sizes beyond 2^53 are rounded.
 */
export function parseQuantity(what: 'count' | 'size' | 'rate' | 'duration', text: string): number;

export type ErrorCode =
  | 'OK'
  | 'EINVAL'
  | 'ENOMEM'
  | 'ELIMIT'
  | 'ECORRUPT'
  | 'EVERSION'
  | 'ESPACE'
  | 'EFULL'
  | 'EFROZEN'
  | 'EMISMATCH'
  | 'ENOTSUP'
  | 'EABSENT'
  | 'EIO'
  | 'ESECRET'
  | 'EUNKNOWN'
  | 'EUNSYNCED'
  | 'EUNSIGNED';

/** What failed, in the library's own words.  Something in a batch that is not a key is a TypeError with an `index`. */
export class UmbelError extends Error {
  code: ErrorCode;
  /** The option, or the field of a file, at fault; '' if there is none. */
  field: string;
  /** Where in the bytes; 0 where that is not known. */
  offset: number;
  /** The limit that would do; 0 where that is not known. */
  need: number;
  /** Of a batch: how many keys are in. */
  done?: number;
}

/** Every name that the library knows, in the order of its numbers. */
export const lists: {
  kinds: (Kind | 'auto')[];
  formats: Format[];
  types: ValueType[];
  verdicts: Verdict[];
  errors: ErrorCode[];
  variants: Variant[];
};

/** Of the library. */
export const version: string;
