// SPDX-License-Identifier: MIT
//
// node.cjs - for Node: umbel.wasm is read from the disk, so that require() can have it

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { initSync } = require('./init.cjs');

function bytes() {
  const place = join(__dirname, 'umbel.wasm');
  try {
    return readFileSync(place);
  } catch (error) {
    throw new Error(`${place} cannot be read. In a bundle, import 'umbel/init' and give it the bytes.`, { cause: error });
  }
}

module.exports = initSync(bytes());
