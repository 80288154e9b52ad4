// SPDX-License-Identifier: MIT
//
// package.test.mjs - the tarball in an empty project, every example of its README, and that the
// package makes the command's bytes and gives its answers

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { built, folder, root, runs, umbel, urls } from './support.mjs';

const packed = join(root, 'build/js',
  readdirSync(join(root, 'build/js')).find((name) => name.endsWith('.tgz')));

test('the tarball installs into an empty project and its README tells the truth', (t) => {
  const project = folder(t);
  writeFileSync(join(project, 'package.json'), '{"private": true}');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', packed],
    { cwd: project, stdio: 'pipe' });
  assert.deepEqual(readdirSync(join(project, 'node_modules')).filter((name) => name[0] !== '.'),
    ['umbel']);
  const readme = readFileSync(join(project, 'node_modules/umbel/README.md'), 'utf8');
  const examples = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
  assert.ok(examples.length >= 6);
  for (const [number, code] of examples.entries()) {
    const file = join(project, `example${number}.mjs`);
    writeFileSync(file, code);
    const printed = execFileSync(process.execPath, [file], { cwd: project, encoding: 'utf8' });
    const promised = [...code.matchAll(/\/\/ prints: (.*)/g)].map(([, text]) => text);
    assert.deepEqual(printed.trimEnd().split('\n'), promised, `example ${number}`);
  }
});

test('the version is the library\'s', async () => {
  const { version } = await import(join(root, 'build/js/package/node.mjs'));
  const { version: packaged } = JSON.parse(readFileSync(join(root, 'bindings/js/package.json'), 'utf8'));
  assert.equal(packaged, version);
});

test('the types name every export and every method', async () => {
  const types = readFileSync(join(root, 'bindings/js/index.d.ts'), 'utf8');
  const umbel = await import(join(root, 'build/js/package/node.mjs'));
  for (const name of Object.keys(umbel)) {
    assert.match(types, new RegExp(`export (class|function|const) ${name}\\b`));
  }
  const methods = [umbel.Filter, umbel.Recipe].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype));
  for (const name of methods.filter((name) => !['constructor', 'handle'].includes(name))) {
    assert.match(types, new RegExp(`^  (readonly )?${name}[(:]`, 'm'));
  }
});

// ---- Beside the command ----

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
