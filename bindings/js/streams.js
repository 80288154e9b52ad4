// SPDX-License-Identifier: MIT
//
// streams.js - keys that come one after the other: async iterables, Node's and the web's streams

import { noKey } from './engine.js';

const BATCH = 4096;

/** A web stream where those cannot be iterated over yet. */
async function* chunksOf(stream) {
  const reader = stream.getReader();
  try {
    for (let next; !(next = await reader.read()).done; ) yield next.value;
  } finally {
    await reader.cancel();
  }
}

/** Something that `for await` accepts; throws a TypeError for anything else. */
function keysIn(source) {
  if (typeof source === 'object' && source !== null && !ArrayBuffer.isView(source)) {
    if (typeof source.pipe === 'function' && source.readableObjectMode === false) {
      throw new TypeError('a stream of bytes comes in pieces, not in keys: read its lines with node:readline');
    }
    if (typeof source[Symbol.asyncIterator] === 'function' || typeof source[Symbol.iterator] === 'function') {
      return source;
    }
    if (typeof source.getReader === 'function') return chunksOf(source);
  }
  throw new TypeError('keys come from an async iterable, a stream or an iterable');
}

/** Passes keys on in batches.  The source is not read meanwhile, so it may wait. */
async function inBatches(source, { batch = BATCH } = {}, use) {
  if (!Number.isInteger(batch) || batch < 1) throw new RangeError('batch: a whole number from 1 on is needed');
  let keys = [];
  let before = 0;
  const pass = () => {
    try {
      use(keys);
    } catch (error) { // of all keys, not of this batch
      if (error instanceof TypeError && error.index !== undefined) throw noKey(before + error.index);
      if (error.done !== undefined) error.done += before;
      throw error;
    }
    before += keys.length;
    keys = [];
  };
  for await (const key of keysIn(source)) {
    keys.push(key);
    if (keys.length === batch) pass();
  }
  pass();
}

/** The classes of bind() with the methods that wait. */
export function withStreams(bound) {
  const { Filter, startBuild } = bound;
  const later = (on, name, value) => Object.defineProperty(on, name, { value, writable: true, configurable: true });

  later(Filter.prototype, 'addFrom', async function addFrom(source, options) {
    let fresh = 0;
    await inBatches(source, options, (keys) => {
      fresh += this.addMany(keys);
    });
    return fresh;
  });

  later(Filter, 'buildFrom', async function buildFrom(source, { batch, ...options } = {}) {
    const building = startBuild(options);
    try {
      await inBatches(source, { batch }, building.add);
      return building.finish();
    } finally {
      building.dispose();
    }
  });
  return bound;
}
