// SPDX-License-Identifier: MIT
//
// memory.test.mjs - bindings/js/wasm_malloc.c: nothing overlaps, what is freed is used again, up to the last page

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './support.mjs';

test('memory: nothing overlaps, what is freed merges, and the memory grows in few steps', () => {
  const module = new WebAssembly.Module(readFileSync(join(root, 'build/js/umbel.wasm')));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 8;
  const wasm = new WebAssembly.Instance(module, imports).exports;
  wasm._initialize?.();
  const size = () => wasm.memory.buffer.byteLength;
  let state = 12345;
  const random = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
  const live = [];
  let steps = 0;
  for (let i = 0, last = size(), held = 0; i < 40000; i++) {
    if (live.length && (random(100) < 48 || held > 30e6)) {
      const [{ at, length, mark }] = live.splice(random(live.length), 1);
      assert.ok(new Uint8Array(wasm.memory.buffer, at, length).every((byte) => byte === mark));
      wasm.release(at);
      held -= length;
    } else {
      const length = 1 + random(2 ** (1 + random(18)));
      const mark = random(256);
      const at = wasm.alloc(length) >>> 0;
      assert.ok(at && at % 16 === 0);
      new Uint8Array(wasm.memory.buffer, at, length).fill(mark);
      live.push({ at, length, mark });
      held += length;
    }
    if (size() !== last) steps++;
    last = size();
  }
  for (const { at } of live) wasm.release(at);
  assert.ok(steps < 40, `${steps} steps`);
  const before = size();
  const all = wasm.alloc(before - 2 ** 20) >>> 0;
  assert.ok(all && size() === before, 'what was freed is one piece again');
  wasm.release(all);
  // What is free at the end counts when the memory grows: all of it can be had.
  const most = wasm.alloc(4.28e9) >>> 0;
  assert.ok(most);
  assert.equal(wasm.alloc(1e9), 0);
  wasm.release(most);
});
