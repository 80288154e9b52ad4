// SPDX-License-Identifier: MIT
//
// site.test.mjs - the page as a server sends it, its policy, and builds that are the same twice

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { root } from '../js/support.mjs';
import { Browser } from './browser.mjs';

const types = { html: 'text/html', css: 'text/css', js: 'text/javascript', wasm: 'application/wasm' };

async function serve(folder) {
  const server = createServer((request, response) => {
    const name = request.url === '/' ? 'index.html' : request.url.slice(1);
    if (!readdirSync(folder).includes(name)) {
      response.writeHead(name === 'favicon.ico' ? 204 : 404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': types[name.split('.').at(-1)] ?? 'text/plain' });
    response.end(readFileSync(join(folder, name)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

test('the site works under its policy and asks for its own parts only', async () => {
  const folder = join(root, 'build/web/site');
  const { server, origin } = await serve(folder);
  const browser = await Browser.start();
  try {
    const page = await browser.page(`${origin}/#plan?keys=2e9&memory=500+MB`);
    await page.until('document.querySelectorAll("#plan-chart .curve").length === ' +
      'document.querySelectorAll("#plan-table tbody tr").length', 60);
    assert.deepEqual(page.complaints(), []);
    for (const url of page.requests()) assert.ok(url.startsWith(`${origin}/`) || /^about:/.test(url), url);
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    assert.doesNotMatch(html, /<script>|<style|style="|onclick|'unsafe-inline'|'unsafe-eval'/);
  } finally {
    await browser.stop();
    server.close();
  }
});

test('the package in a browser', async () => {
  const folder = join(root, 'build/js/package');
  const { server, origin } = await serve(folder);
  const browser = await Browser.start();
  try {
    const page = await browser.page(`${origin}/README.md`);
    const found = await page.run(`import('/index.js').then(({ Filter }) => {
      const filter = Filter.create({ capacity: 1000, fpr: 0.01 });
      filter.addMany(['ada', '语']);
      return [filter.has('ada'), filter.has('语'), filter.has('bob'), filter.info().kind];
    })`);
    assert.deepEqual(found, [true, true, false, 'blocked']);
  } finally {
    await browser.stop();
    server.close();
  }
});

test('the single file has a policy of hashes and fits into 160 KiB, gzipped', () => {
  const html = readFileSync(join(root, 'build/web/umbel.html'));
  const head = html.toString().slice(0, 2000);
  assert.match(head, /default-src 'none'; script-src 'sha256-[^']+' 'wasm-unsafe-eval'; style-src 'sha256-/);
  assert.doesNotMatch(head, /'unsafe-inline'|'unsafe-eval'|https?:/);
  assert.ok(gzipSync(html, { level: 9 }).length <= 163_840);
});

test('two builds are the same bytes', () => {
  const sum = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');
  const folder = mkdtempSync(join(tmpdir(), 'umbel-twice-'));
  const page = sum(join(root, 'build/web/umbel.html'));
  try {
    execFileSync(join(root, 'bindings/js/build-wasm'), ['--page', join(folder, 'page.wasm'), join(folder, 'umbel.wasm')]);
    assert.equal(sum(join(folder, 'page.wasm')), sum(join(root, 'build/js/page.wasm')));
    assert.equal(sum(join(folder, 'umbel.wasm')), sum(join(root, 'build/js/umbel.wasm')));
    execFileSync(join(root, 'bindings/web/build'));
    assert.equal(sum(join(root, 'build/web/umbel.html')), page);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
