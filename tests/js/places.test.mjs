// SPDX-License-Identifier: MIT
//
// places.test.mjs - the package where people use it: import and require, Node 18, 20 and 22, bundles
// of esbuild and vite, TypeScript from es2020 to esnext.  The tools are those of tests/js/npm, which
// scripts/setup web installs below build/js-npm.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folder, root } from './support.mjs';

const tools = join(root, 'build/js-npm/node_modules');
const skip = existsSync(join(tools, 'esbuild')) ? false : 'tests/js/npm is not installed (scripts/setup web)';
const nodes = ['node18', 'node20', 'node22'].map((name) => join(tools, name, 'bin/node')).filter(existsSync);

/** A project with the package in it. */
function project(t, files) {
  const home = folder(t);
  mkdirSync(join(home, 'node_modules'));
  cpSync(join(root, 'build/js/package'), join(home, 'node_modules/umbel'), { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"private": true, "type": "module"}');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
  return home;
}

function run(home, command, ...args) {
  try {
    const { NODE_TEST_CONTEXT, ...env } = process.env; // or a test within a test would print for its parent
    return execFileSync(command, args, { cwd: home, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
  }
}

const USE = `const f = Filter.build(['ada'], { fpr: 1e-9 });
console.log(f.has('ada'), f.has('bob'), version.split('.').length);`;
const SAID = 'true false 3\n';

const MANNERS = {
  'import.mjs': `import { Filter, version } from 'umbel';\n${USE}`,
  'require.cjs': `const { Filter, version } = require('umbel');\n${USE}`,
  'init.mjs': `import { init } from 'umbel/init';\nimport { readFileSync } from 'node:fs';
const { Filter, version } = await init(readFileSync('node_modules/umbel/umbel.wasm'));\n${USE}`,
  'init.cjs': `const { initSync } = require('umbel/init');
const wasm = require('node:fs').readFileSync(require.resolve('umbel/umbel.wasm'));
const { Filter, version } = initSync(new WebAssembly.Module(wasm));\n${USE}`,
  'both.mjs': `import { Filter, version } from 'umbel';\nimport { createRequire } from 'node:module';
const other = createRequire(import.meta.url)('umbel');
if (other.Filter !== Filter) throw new Error('two instances');\n${USE}`,
  'stream.mjs': `import { Filter, version } from 'umbel';\nimport { Readable } from 'node:stream';
const f = await Filter.buildFrom(Readable.from(['ada']), { fpr: 1e-9 });
await Filter.create({ capacity: 10, fpr: 0.1 }).addFrom(ReadableStream.prototype.constructor === ReadableStream ? ['a'] : []);
console.log(f.has('ada'), f.has('bob'), version.split('.').length);`,
};

test('import, require and init, in each Node', { skip }, (t) => {
  assert.ok(nodes.length > 0 || process.arch !== 'x64');
  const home = project(t, MANNERS);
  for (const node of [process.execPath, ...nodes]) {
    for (const name of Object.keys(MANNERS)) assert.equal(run(home, node, name), SAID, `${node} ${name}`);
  }
});

test('the tests of misuse in each Node', { skip }, () => {
  for (const node of nodes) {
    const out = run(root, node, '--test', '--test-reporter=tap', 'tests/js/misuse.test.mjs');
    assert.match(out, /# pass \d\d\n# fail 0/);
  }
});

test('bundles of esbuild', { skip }, (t) => {
  const home = project(t, {
    'page.js': `import { init } from 'umbel/init';\nimport wasm from 'umbel/umbel.wasm';
const { Filter, version } = await init(wasm);\n${USE}`,
    'old.js': `import { initSync } from 'umbel/init';\nimport wasm from 'umbel/umbel.wasm';
const { Filter, version } = initSync(wasm);\n${USE}`,
    'server.js': `import { Filter, version } from 'umbel';\n${USE}`,
  });
  const esbuild = join(tools, 'esbuild/bin/esbuild');
  run(home, esbuild, 'page.js', '--bundle', '--format=esm', '--loader:.wasm=binary', '--outfile=out/page.mjs');
  run(home, esbuild, 'old.js', '--bundle', '--format=iife', '--target=es2020', '--minify', '--loader:.wasm=binary', '--outfile=out/old.cjs');
  for (const [format, name] of [['cjs', 'server.cjs'], ['esm', 'server.mjs']]) {
    run(home, esbuild, 'server.js', '--bundle', '--platform=node', `--format=${format}`, `--outfile=out/${name}`);
  }
  const elsewhere = folder(t);
  cpSync(join(home, 'out'), elsewhere, { recursive: true });
  for (const name of ['page.mjs', 'old.cjs']) assert.equal(run(elsewhere, process.execPath, name), SAID, name);
  const servers = ['server.cjs', 'server.mjs'];
  for (const name of servers) assert.throws(() => run(elsewhere, process.execPath, name), /umbel\/init/); // and says so
  cpSync(join(home, 'node_modules/umbel/umbel.wasm'), join(elsewhere, 'umbel.wasm'));
  for (const name of servers) assert.equal(run(elsewhere, process.execPath, name), SAID, name);
});

test('a bundle of vite', { skip }, async (t) => {
  const home = project(t, {
    'index.html': '<script type="module" src="/main.js"></script>',
    'main.js': `import { init } from 'umbel/init';\nimport place from 'umbel/umbel.wasm?url';
const { Filter, version } = await init(globalThis.given ?? place);\n${USE}`,
    'plain.html': '<script type="module" src="/plain.js"></script>',
    'plain.js': `import { Filter, version } from 'umbel';\n${USE}`,
    'vite.config.mjs': `export default { build: { target: 'esnext', rollupOptions: { input: ['index.html', 'plain.html'] } } };`,
  });
  run(home, process.execPath, join(tools, 'vite/bin/vite.js'), 'build', '--logLevel', 'error');
  const assets = readdirSync(join(home, 'dist/assets'));
  const wasm = assets.filter((name) => name.endsWith('.wasm'));
  assert.equal(wasm.length, 1, assets.join(' '));
  const bytes = readFileSync(join(home, 'dist/assets', wasm[0]));
  assert.ok(bytes.equals(readFileSync(join(root, 'build/js/umbel.wasm'))));
  // Both scripts name the file that was emitted; the one that is given its bytes runs outside a browser.
  for (const page of ['index', 'plain']) {
    const html = readFileSync(join(home, `dist/${page}.html`), 'utf8');
    const scripts = assets.filter((name) => name.endsWith('.js') && html.includes(name));
    assert.ok(scripts.length > 0);
    const all = assets.filter((name) => name.endsWith('.js')).map((name) => readFileSync(join(home, 'dist/assets', name), 'utf8'));
    assert.ok(all.some((text) => text.includes(wasm[0])));
  }
  const main = assets.find((name) => name.startsWith('index') && name.endsWith('.js'));
  writeFileSync(join(home, 'dist/assets/run.mjs'), `import { readFileSync } from 'node:fs';
globalThis.document = { querySelector: () => null, querySelectorAll: () => [], getElementsByTagName: () => [], createElement: () => ({ relList: { supports: () => true } }) };
globalThis.MutationObserver = class { observe() {} };
globalThis.given = readFileSync(new URL('./${wasm[0]}', import.meta.url));
await import('./${main}');`);
  assert.equal(run(home, process.execPath, 'dist/assets/run.mjs'), SAID);
});

const TYPED = `import { Filter, Recipe, plan, typedKey, parseQuantity, UmbelError, lists, version } from 'umbel';
import type { Batch, FilterInfo, Key, Plan, Stream } from 'umbel';
import { init, initSync } from 'umbel/init';

async function use(keys: Key[], stream: AsyncIterable<string>): Promise<number> {
  const filter = Filter.create({ capacity: 1e6, fpr: 0.01, kind: 'blocked' });
  const batch: Batch = new Set(keys);
  let n: number = filter.addMany(keys) + filter.addMany(batch) + (await filter.addFrom(stream, { batch: 10 }));
  const built: Filter = await Filter.buildFrom(stream, { fpr: 0.1, never: ['a'] });
  const info: FilterInfo = built.info();
  const solved: Plan = plan({ capacity: 1000, fpr: 0.01 });
  const guava = Filter.create({ format: 'guava', capacity: 10, fpr: 0.1, variant: ['mitz32'] });
  guava.add(typedKey('int64', 2n ** 60n));
  n += info.bytes + solved.bytes + parseQuantity('count', '2 billion') + lists.kinds.length + version.length;
  const source: Stream = stream;
  const asked: boolean = guava.hasText('Ada');
  const several: Uint8Array = guava.hasTexts(new Set(['Ada', 'bob']));
  n += several.length + Number(asked);
  const recipe = new Recipe('line');
  const { state, key } = recipe.apply('a');
  if (state === 'key') guava.has(key ?? 'a');
  const other = await init(new Uint8Array(3));
  const again = initSync(new ArrayBuffer(3)).Filter.build(['a']);
  again[Symbol.dispose]();
  other.Filter.build([]).free();
  try { await filter.addFrom(source); } catch (error) { if (error instanceof UmbelError && error.code === 'EFULL') n += (error.done ?? 0) + error.offset + error.need + error.field.length; }
  return n;
}
void use;
`;
const WRONG = `import { Filter, typedKey } from 'umbel';
const f = Filter.create({ capacity: 1, fpr: 0.1 });
f.addMany('abc'); // wrong
f.addMany(5); // wrong
f.addMany(Promise.resolve(['a'])); // wrong
Filter.build({}); // wrong
typedKey('int128', 1); // wrong
typedKey('uint32_be', 1); // wrong
Filter.create({ format: 'guava', variant: 'mitz' }); // wrong
new Filter(); // wrong
f.add(7); // wrong
f.hasText(7); // wrong
f.hasTexts('abc'); // wrong
`;

test('types, by tsc --strict from es2020 to esnext', { skip }, (t) => {
  const home = project(t, { 'typed.ts': TYPED, 'typed.cts': TYPED, 'wrong.ts': WRONG });
  const tsc = (...args) => run(home, process.execPath, join(tools, 'typescript/bin/tsc'), '--noEmit', '--strict',
    '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', ...args);
  for (const target of ['es2020', 'es2022', 'esnext']) {
    tsc('--target', target, '--lib', target, '--module', 'nodenext', 'typed.ts', 'typed.cts');
  }
  tsc('--target', 'es2021', '--lib', 'es2021,dom', '--module', 'esnext', '--moduleResolution', 'bundler', 'typed.ts');
  assert.throws(() => tsc('--target', 'es2022', '--module', 'nodenext', 'wrong.ts'), (error) => {
    const found = [...error.message.matchAll(/wrong\.ts\((\d+),/g)].map(([, line]) => Number(line));
    const want = WRONG.split('\n').flatMap((line, i) => (line.endsWith('// wrong') ? [i + 1] : []));
    assert.deepEqual([...new Set(found)], want, error.message);
    return true;
  });
});
