// SPDX-License-Identifier: MIT
//
// node.mjs - what require() gives, for import: one instance for both

import umbel from './node.cjs';

export const { Filter, Recipe, plan, typedKey, parseQuantity, UmbelError, version, lists } = umbel;
