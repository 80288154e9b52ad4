// SPDX-License-Identifier: MIT
//
// support.mjs - what the tests of the package share

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = new URL('../../', import.meta.url).pathname;
export const built = join(root, 'build/js/package/node.mjs');

/** The command, to compare with. */
export const umbel = process.env.UMBEL ?? join(root, 'build/umbel');

export function runs(...args) {
  return execFileSync(umbel, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A folder that is gone after the test. */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), 'umbel-js-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function urls(count, host = 'www.example.com') {
  return Array.from({ length: count }, (_, i) => `https://${host}/path/${i * 7}?page=${i}`);
}

/** Lines of a golden table that are not comments, split at tabs. */
export function golden(name) {
  const text = readFileSync(join(root, 'tests/golden', name), 'utf8');
  return text.split('\n').filter((line) => line && line[0] !== '#').map((line) => line.split('\t'));
}

export function hex(text) {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

/** The golden native files: names and bytes. */
export function nativeFiles() {
  return ['filters', 'tight'].flatMap((table) => golden(`native/${table}.tsv`).slice(1)
    .map((row) => [row[0], hex(row.at(-1))]));
}

/** The inputs of a fuzz target. */
export function corpus(target) {
  return unpack(readFileSync(join(root, `tests/fuzz/corpus/${target}.pack`)));
}

/** "inputs N", then for each "NAME LENGTH", its bytes and a newline. */
function unpack(bytes) {
  const inputs = [];
  let at = bytes.indexOf(10) + 1;
  while (at < bytes.length) {
    const end = bytes.indexOf(10, at);
    const [name, length] = bytes.toString('latin1', at, end).split(' ');
    inputs.push([name, bytes.subarray(end + 1, end + 1 + Number(length))]);
    at = end + 1 + Number(length) + 1;
  }
  return inputs;
}
