// SPDX-License-Identifier: MIT
//
// run.mjs [COUNT] - the package next to npm's bloom-filters and bloomfilter, in one run, on URLs.
// Both are installed below build/js/peers; build/js/package must exist (make js).

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;
const peers = join(root, 'build/js/peers');
const wanted = ['bloom-filters@3.0.4', 'bloomfilter@1.1.0'];
const count = Number(process.argv[2] ?? 1e6);
const fpr = 0.01;

if (!wanted.every((name) => existsSync(join(peers, 'node_modules', name.split('@')[0])))) {
  mkdirSync(peers, { recursive: true });
  execFileSync('npm', ['install', '--prefix', peers, '--no-save', '--no-audit', '--no-fund',
    ...wanted], { stdio: ['ignore', 'inherit', 'inherit'] });
}
const need = createRequire(join(peers, 'x.js'));
const { Filter } = await import(join(root, 'build/js/package/node.mjs'));

/** Strings in one piece, as a file or a socket gives them. */
const urls = (host) => Array.from({ length: count }, (_, i) =>
  Buffer.from(`https://${host}/articles/${(i * 7919) % 1000003}?page=${i}`).toString('latin1'));
const inside = urls('www.example.com');
const outside = urls('www.example.org');
const bytes = inside.map((url) => new TextEncoder().encode(url));

const sum = (hits) => {
  let total = 0;
  for (let i = 0; i < hits.length; i++) total += hits[i];
  return total;
};
const make = () => Filter.create({ capacity: count, fpr, kind: 'blocked' });
const { BloomFilter: Small } = need('bloomfilter');
const { BloomFilter: Large } = need('bloom-filters');
const part = Math.ceil(count / 50); // tens of microseconds per key: some of the keys are enough

const rows = [
  { name: 'umbel, batch of strings', keys: count, make,
    add: (filter) => filter.addMany(inside), ask: (filter) => sum(filter.hasMany(outside)) },
  { name: 'umbel, batch of bytes', keys: count, make,
    add: (filter) => filter.addMany(bytes), ask: (filter) => sum(filter.hasMany(bytes)) - count },
  { name: 'umbel, one call per key', keys: count, make,
    add: (filter) => inside.forEach((url) => filter.add(url)),
    ask: (filter) => outside.reduce((total, url) => total + filter.has(url), 0) },
  { name: 'bloomfilter', keys: count,
    make: () => new Small(Math.ceil(-count * Math.log(fpr) / Math.LN2 ** 2), 7),
    add: (filter) => inside.forEach((url) => filter.add(url)),
    ask: (filter) => outside.reduce((total, url) => total + filter.test(url), 0) },
  { name: 'bloom-filters', keys: part, make: () => Large.create(part, fpr),
    add: (filter) => inside.slice(0, part).forEach((url) => filter.add(url)),
    ask: (filter) => outside.slice(0, part).reduce((total, url) => total + filter.has(url), 0) },
];

/** Milliseconds of processor time that a task took, including the garbage collector's threads.
 * Unlike wall-clock time, this does not depend on how busy other programs were. */
function spent(task) {
  const before = process.cpuUsage();
  const result = task();
  const { user, system } = process.cpuUsage(before);
  return { result, time: (user + system) / 1000 };
}

// All take turns, and the best round of each counts: other programs disturb some of them.
const best = rows.map(() => ({ add: Infinity, ask: Infinity, wrong: 0 }));
for (let round = 0; round < 9; round++) {
  rows.forEach((row, i) => {
    const filter = row.make();
    const added = spent(() => row.add(filter));
    const asked = spent(() => row.ask(filter));
    best[i].wrong = asked.result / row.keys;
    best[i].add = Math.min(best[i].add, 1e6 * added.time / row.keys);
    best[i].ask = Math.min(best[i].ask, 1e6 * asked.time / row.keys);
    filter.free?.();
  });
}

console.table(rows.map(({ name, keys }, i) => ({ name, keys, 'add ns': Math.round(best[i].add),
  'ask ns': Math.round(best[i].ask), 'wrong %': +(100 * best[i].wrong).toFixed(2) })));
const [batch, , , bloomfilter, bloomFilters] = best.map(({ add, ask }) => add + ask);
console.log(`batches: ${(bloomFilters / batch).toFixed(1)} times bloom-filters, ` +
  `${(bloomfilter / batch).toFixed(1)} times bloomfilter`);
