// SPDX-License-Identifier: MIT
//
// shared.js - one instance for import and require() in Node, so that a filter of one is a filter of the other

/** What `start` makes of the bytes at this place, once per process. */
export function shared(place, read, start) {
  const name = Symbol.for(`umbel at ${place}`);
  if (globalThis[name]) return globalThis[name];
  let bytes;
  try {
    bytes = read(place);
  } catch (error) {
    throw new Error(`${place} cannot be read. In a bundle, import 'umbel/init' and give it the bytes.`, { cause: error });
  }
  return Object.defineProperty(globalThis, name, { value: start(bytes) })[name];
}
