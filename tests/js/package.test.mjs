// SPDX-License-Identifier: MIT
//
// package.test.mjs - the tarball in an empty project, and every example of its README

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, root } from './support.mjs';

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
  const { version } = await import(join(root, 'build/js/package/index.js'));
  const { version: packaged } = JSON.parse(readFileSync(join(root, 'js/package.json'), 'utf8'));
  assert.equal(packaged, version);
});

test('the types name every export and every method', async () => {
  const types = readFileSync(join(root, 'js/index.d.ts'), 'utf8');
  const umbel = await import(join(root, 'build/js/package/index.js'));
  for (const name of Object.keys(umbel)) {
    assert.match(types, new RegExp(`export (class|function|const) ${name}\\b`));
  }
  const methods = Object.getOwnPropertyNames(umbel.Filter.prototype);
  for (const name of methods.filter((name) => !['constructor', 'handle'].includes(name))) {
    assert.match(types, new RegExp(`^  ${name}\\(`, 'm'));
  }
});
