// SPDX-License-Identifier: MIT
//
// command.test.mjs - the same bytes as the command's, and the same answers

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { built, folder, runs, umbel, urls } from './support.mjs';

const { Filter, plan } = await import(built);
const skip = existsSync(umbel) ? false : `${umbel} is not built`;

test('files are those of the command', { skip }, (t) => {
  const home = folder(t);
  const keys = urls(50000);
  const list = join(home, 'urls.txt');
  writeFileSync(list, keys.join('\n') + '\n');
  for (const kind of ['blocked', 'classic', 'static', 'counting', 'scalable', 'window', 'tight', 'line']) {
    for (const fpr of [0.01, 0.0001]) {
      const out = join(home, `${kind}-${fpr}.umb`);
      runs('build', '--kind', kind, '-p', String(fpr), '-q', '-o', out, list);
      const mine = Filter.build(keys, { kind, fpr });
      assert.ok(readFileSync(out).equals(mine.toBytes()), `${kind} ${fpr}`);
      const read = Filter.fromBytes(new Uint8Array(readFileSync(out)));
      assert.ok(read.equals(mine), kind);
    }
  }
});

test('the planner is the command\'s', { skip }, () => {
  for (const [keys, fpr] of [[1000, 0.01], [1e6, 0.001], [123456789, 1e-6]]) {
    const text = runs('plan', '-n', String(keys), '-p', String(fpr), '--json');
    for (const theirs of JSON.parse(text).kinds ?? []) {
      const mine = plan({ kind: theirs.kind, capacity: keys, fpr });
      assert.equal(mine.bytes, theirs.bytes, theirs.kind);
    }
  }
});
