// SPDX-License-Identifier: MIT
//
// init.js - the package over a module that the caller brings: for bundlers, and wherever umbel.wasm
// does not lie next to the script

import { bind } from './engine.js';
import { withStreams } from './streams.js';

/** From the bytes of umbel.wasm, or what WebAssembly.compile made of them. */
export function initSync(source) {
  const module = source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source);
  const { Filter, Recipe, plan, typedKey, parseQuantity, UmbelError, version, lists } = withStreams(bind(module));
  return { Filter, Recipe, plan, typedKey, parseQuantity, UmbelError, version, lists };
}

/** Likewise, without blocking; also from a Response, a URL, or a promise of any of them. */
export async function init(source) {
  let given = await source;
  if (typeof given === 'string' || given instanceof URL) given = await fetch(given);
  if (typeof Response === 'function' && given instanceof Response) {
    if (!given.ok) throw new Error(`${given.url}: ${given.status}`);
    given = await given.arrayBuffer();
  }
  return initSync(given instanceof WebAssembly.Module ? given : await WebAssembly.compile(given));
}
