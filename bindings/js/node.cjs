// SPDX-License-Identifier: MIT
//
// node.cjs - for require() in Node: umbel.wasm is read from the disk

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { initSync } = require('./init.cjs');
const { shared } = require('./shared.cjs');

module.exports = shared(join(__dirname, 'umbel.wasm'), readFileSync, initSync);
