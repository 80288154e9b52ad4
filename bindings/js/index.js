// SPDX-License-Identifier: MIT
//
// index.js - for browsers, Deno and the like: fetches umbel.wasm from where this file is

import { init } from './init.js';

export const { Filter, Recipe, plan, typedKey, parseQuantity, UmbelError, version, lists } =
  await init(new URL('./umbel.wasm', import.meta.url));
