// SPDX-License-Identifier: MIT
//
// node.mjs - for import in Node: umbel.wasm is read from the disk

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { initSync } from './init.js';
import { shared } from './shared.js';

// A bundle in the older form has no import.meta, but __dirname.
const at = import.meta.url ? fileURLToPath(new URL('./umbel.wasm', import.meta.url)) : `${__dirname}/umbel.wasm`;

export const { Filter, Recipe, plan, typedKey, parseQuantity, UmbelError, version, lists } =
  shared(at, readFileSync, initSync);
