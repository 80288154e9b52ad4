// SPDX-License-Identifier: MIT
//
// index.js - loads umbel.wasm from where this file is: in Node from the disk, elsewhere by fetch

import { bind } from './engine.js';

const place = new URL('./umbel.wasm', import.meta.url);

async function load() {
  if (place.protocol === 'file:' && globalThis.process?.versions?.node) {
    const { readFile } = await import('node:fs/promises');
    return WebAssembly.compile(await readFile(place));
  }
  const response = await fetch(place);
  if (!response.ok) throw new Error(`${place}: ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

export const { Filter, Recipe, plan, typedKey, parseQuantity, UmbelError, version, lists } = bind(await load());
