// SPDX-License-Identifier: MIT
//
// page.test.mjs - the page in a real browser, from a file: address, as people use it

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync, openSync, writeSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { built, golden, hex, nativeFiles, root, runs, umbel } from '../js/support.mjs';
import { Browser } from './browser.mjs';

const { Filter, plan } = await import(built);
const address = `file://${join(root, 'build/web/umbel.html')}`;
const kinds = ['blocked', 'classic', 'static', 'counting', 'scalable', 'window', 'tight', 'line', 'exact'];
const models = { classic: 4, blocked: 8, counting: 8, leveldb: 6 };
const noCommand = existsSync(umbel) ? false : `${umbel} is not built`;
const place = (...names) => join(root, 'tests/golden', ...names);
const native = new Map(nativeFiles());
let browser;
let home;

before(async () => {
  browser = await Browser.start();
  home = mkdtempSync(join(tmpdir(), 'umbel-web-'));
});

after(async () => {
  await browser.stop();
  rmSync(home, { recursive: true, force: true });
});

/** A golden native file as a separate file. */
function written(name) {
  const path = join(home, `${name}.umb`);
  writeFileSync(path, native.get(name));
  return path;
}

const text = (page, id) => page.run(`document.getElementById('${id}').textContent`);
const click = (page, id) => page.run(`document.getElementById('${id}').click()`);

async function open(part, options) {
  const page = await browser.page(address + part, options);
  await page.until('document.getElementById("version").textContent');
  return page;
}

/** Until the third field has an answer, or there can be none, and the curves are there. */
function planned(page) {
  return page.until(`document.getElementById("plan-sentence").ariaBusy === "false" &&
    document.querySelectorAll("#plan-chart .curve").length === ${kinds.length}`);
}

/** Opens a file in the page; what the facts say, or the error. */
async function opens(page, path, format = 'any', more = {}) {
  await page.run(`document.getElementById('open-format').value = '${format}'`);
  for (const [id, value] of Object.entries(more)) {
    await page.run(`document.getElementById('${id}').value = ${JSON.stringify(value)}`);
  }
  await page.run(`document.getElementById('open-result').hidden = true;
    document.getElementById('open-error').textContent = ''`);
  await page.choose('open-file', path);
  await page.until('document.getElementById("open-progress").hidden && ' +
    '(!document.getElementById("open-result").hidden || document.getElementById("open-error").textContent)');
  const error = await text(page, 'open-error');
  const list = await page.run('[...document.querySelectorAll("#open-info dt")].map((e) => [e.textContent, e.nextSibling.textContent])');
  return { error, ...Object.fromEntries(list) };
}

async function asks(page, key) {
  await page.run('document.getElementById("open-answer").textContent = ""');
  await page.type('open-key', key);
  await page.key('Enter');
  return page.until('document.getElementById("open-answer").textContent');
}

/** Clicks on a link; the bytes that are saved, under the name that was asked for. */
async function downloaded(page, id, name) {
  await page.downloadsTo(home);
  const seen = browser.events.length;
  const later = (method, state) => browser.events.slice(seen).find((event) =>
    event.method === `Browser.${method}` && (!state || event.params.state === state));
  for (let i = 0; i < 2400 && !later('downloadProgress', 'completed'); i++) {
    // On a busy machine a click can miss a link that has just moved: click again, as people do.
    if (i % 400 === 0 && !later('downloadWillBegin')) await click(page, id);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const { guid, suggestedFilename } = later('downloadWillBegin').params;
  assert.equal(suggestedFilename, name);
  const bytes = readFileSync(join(home, guid));
  rmSync(join(home, guid));
  return bytes;
}

/** Builds with what the form says; until the filter is there. */
async function builds(page) {
  await page.run(`document.getElementById('build-result').hidden = true;
    document.querySelector('#build-form [type=submit]').click()`);
  await page.until('document.getElementById("build-progress").hidden && ' +
    '(!document.getElementById("build-result").hidden || document.getElementById("build-error").textContent)', 280);
  assert.equal(await text(page, 'build-error'), '');
}

test('plan: two fields give the third, curves, table and the command\'s sentence', async (t) => {
  const page = await open('#plan');
  for (const [fields, args] of [
    [{ keys: '2e9', rate: '', memory: '500 MB' }, ['-n', '2e9', '-m', '500 MB']],
    [{ keys: '1 million', rate: '1%', memory: '' }, ['-n', '1M', '-p', '1%']],
    [{ keys: '', rate: '1 in 10,000', memory: '64 MiB' }, ['-p', '1/10000', '-m', '64MiB']],
    [{ keys: '2e9', rate: '1%', memory: '500 MiB' }, ['-n', '2e9', '-p', '1%', '-m', '500MiB']],
    [{ keys: '20亿', rate: '25.2%', memory: '500MB' }, ['-n', '2e9', '-p', '25.2%', '-m', '500MB']],
    [{ keys: '1,000,000', rate: '', memory: '64 MB' }, ['-n', '1e6', '-m', '64MB']],
    [{ keys: '10M', rate: '1/1000', memory: '1G' }, ['-n', '10M', '-p', '0.1%', '-m', '1GiB']],
  ]) {
    for (const [name, value] of Object.entries(fields)) await page.type(`plan-${name}`, value);
    await planned(page);
    assert.equal(await page.run('document.querySelectorAll("#plan-table tbody tr").length'), kinds.length);
    const sentence = await text(page, 'plan-sentence');
    if (noCommand) continue;
    let said;
    try {
      said = runs('plan', ...args);
    } catch (error) {
      said = error.stdout; // impossible plans have a different status
    }
    assert.equal(sentence, said.split('\n\n')[0].replaceAll('\n', ' ').trim());
  }
  const colours = await page.run(`[...document.querySelectorAll('#plan-chart .curve')].map((e) => getComputedStyle(e).stroke)`);
  assert.equal(new Set(colours).size, kinds.length, `${colours}`);
  assert.ok(!colours.includes('none'));
  for (const [field, wrong, reason] of [['keys', 'many', 'not a number'], ['keys', '1,5', 'not a number'],
    ['rate', '0,5%', 'not a rate'], ['memory', '0', 'too small']]) {
    await page.type(`plan-${field}`, wrong);
    await page.until(`document.getElementById("plan-${field}-hint").textContent.startsWith('"${wrong}" is ${reason}: ')`);
    assert.equal(await page.run(`document.getElementById("plan-${field}").getAttribute("aria-invalid")`), 'true');
  }
  t.diagnostic(await text(page, 'plan-sentence'));
  await page.close();
});

test('plan: the address holds it, examples fill it in', async () => {
  const page = await open('#plan');
  await page.run('[...document.querySelectorAll(".chip")].find((e) => e.textContent === "2 billion URLs in 500 MB").click()');
  await page.until('location.hash.includes("memory")');
  const fragment = await page.run('location.hash');
  assert.match(fragment, /^#plan\?keys=2e9&memory=500\+MB$/);
  await planned(page);
  const other = await open(fragment);
  await planned(other);
  for (const name of ['keys', 'rate', 'memory']) {
    const value = `document.getElementById('plan-${name}').value`;
    assert.equal(await other.run(value), await page.run(value));
  }
  await other.until('document.getElementById("plan-sentence").textContent.includes("2,000,000,000")');
  assert.equal(await text(other, 'plan-sentence'), await text(page, 'plan-sentence'));
  // A plan that is pasted into the address of an open page is also shown.
  await other.run('location.hash = "#plan?keys=1000&rate=1%25"');
  await other.until('document.getElementById("plan-sentence").textContent.startsWith("1,000 keys at a false-positive rate of 1%:")');
  await page.close();
  await other.close();
});

test('plan: the lines to copy make the filter that is shown', { skip: noCommand }, async () => {
  const page = await open('#plan');
  const keys = join(home, 'keys.txt');
  writeFileSync(keys, 'ada\ngrace\n');
  for (const fields of [{ keys: '12345', rate: '0.1%', memory: '' }, { keys: '12345', rate: '', memory: '40 KB' },
    { keys: '', rate: '0.5%', memory: '64 KiB' }]) {
    for (const [name, value] of Object.entries(fields)) await page.type(`plan-${name}`, value);
    await planned(page);
    const size = await page.run(`[...document.querySelectorAll('#plan-answer dt')].find((e) => e.textContent === 'Size').nextSibling.textContent`);
    const lines = Object.fromEntries(await page.run(
      `[...document.querySelectorAll('#plan-lines dt')].map((e) => [e.textContent, e.nextSibling.querySelector('code').textContent])`));
    const sizes = {};
    const made = join(home, 'made.umb');
    const [program, ...args] = lines.Command.split(' ');
    assert.equal(program, 'umbel');
    runs(...args.map((arg) => ({ 'keys.umb': made, 'keys.txt': keys })[arg] ?? arg));
    sizes.Command = JSON.parse(runs('info', '--json', made));
    rmSync(made);
    const seen = new Function('Filter', `${lines.Node} return seen;`)(Filter);
    sizes.Node = seen.info();
    const source = join(home, 'line.c');
    writeFileSync(source, `#include "umbel.h"
      int main(void) { ${lines.C.startsWith('umbel_create') ? 'umbel_filter *seen = NULL; ' : ''}${lines.C}
        return umbel_file_save(seen, UMBEL_FMT_NATIVE, "${made}", NULL); }\n`);
    execFileSync('cc', ['-Wall', '-Werror', '-o', join(home, 'line'), source, `-I${join(root, 'include')}`,
      `-L${join(root, 'build')}`, `-Wl,-rpath,${join(root, 'build')}`, '-lumbel']);
    execFileSync(join(home, 'line'));
    sizes.C = JSON.parse(runs('info', '--json', made));
    rmSync(made);
    assert.equal(sizes.C.bytes, sizes.Command.bytes, lines.C);
    assert.equal(Number(sizes.Node.bytes), sizes.Command.bytes, lines.Node);
    assert.equal(lines.Python.replace(/^seen = umbel\.Filter\(\d+, (fpr|bytes)=[\d.]+\)$/, ''), '');
    assert.match(size, /KiB$/);
    assert.ok(Math.abs(parseFloat(size) * 1024 - sizes.Command.bytes) < 600, `${size}, ${sizes.Command.bytes}`);
  }
  await page.type('plan-keys', 'many');
  await page.until('document.getElementById("plan-take").hidden');
  await page.close();
});

/** The longest task so far: observers are told of it when the page is idle. */
async function told(page) {
  await page.run('new Promise((done) => setTimeout(() => requestIdleCallback(done), 300))');
  return page.run('longest');
}

test('plan: the page never waits for the planner, and its curves never block it for 50 ms', async (t) => {
  const page = await browser.page('about:blank');
  await page.send('Page.addScriptToEvaluateOnNewDocument', { source: `window.compiled = 0;
    for (const name of ['Instance', 'Module', 'compile', 'instantiate', 'instantiateStreaming']) {
      WebAssembly[name] = () => { compiled++; };
    }` });
  await page.go(`${address}#plan`);
  await page.run(`window.longest = 0; new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longest = Math.max(longest, entry.duration);
  }).observe({ type: 'longtask' })`);
  // Chromium tells of tasks above 50 ms.  What other programs disturb does not come in every round;
  // what the page does itself would.
  let longest = Infinity;
  for (let round = 0; round < 50 && longest > 0; round++) {
    await page.run('longest = 0');
    for (const keys of ['10', '1e5', '1e9', '12345678', '1e12']) {
      await page.type('plan-keys', keys);
      await planned(page);
    }
    longest = Math.min(longest, await told(page));
  }
  t.diagnostic(`longest task of the page: ${longest || 'below 50'} ms`);
  assert.equal(longest, 0);
  assert.equal(await page.run('compiled'), 0);
  await page.run('setTimeout(() => { for (const end = performance.now() + 80; performance.now() < end; ); })');
  assert.ok(await told(page) >= 80, 'a task that blocks is noticed');
  await page.close();
});

test('explainer: probes light up, a false positive happens, the rate rises', async () => {
  const page = await open('#learn');
  for (const [model, probes] of Object.entries(models)) {
    await click(page, 'learn-clear');
    await page.run(`document.querySelector('input[value=${model}]').click()`);
    await page.until(`document.getElementById('learn-bits').dataset.model === '${model}'`);
    await page.type('learn-word', '布隆');
    await page.key('Enter');
    await page.until('document.querySelectorAll("#learn-keys li").length === 1');
    await page.until('document.querySelectorAll(".cell.on").length > 0');
    const lit = await page.run('document.querySelectorAll(".cell.on").length');
    assert.ok(lit > 0 && lit <= probes, model);
    await page.type('learn-ask', '布隆');
    await page.until('document.querySelector("#learn-answer.maybe")');
    assert.equal(await page.run('document.querySelectorAll(".cell.yes").length'), lit);
    assert.match(await text(page, 'learn-answer'), /[0-9a-f]{8}/);
    await page.type('learn-ask', 'never');
    await page.until('document.querySelector("#learn-answer.no")');
    assert.ok(await page.run('document.querySelectorAll(".cell.no").length') > 0);
    const rates = [];
    for (let words = 11; words <= 71; words += 10) {
      await click(page, 'learn-more');
      await page.until(`document.querySelectorAll('#learn-keys li').length === ${words}`);
      await page.until(`document.getElementById('learn-history-title').textContent.includes('${words} words')`);
      rates.push(await page.run('document.getElementById("learn-rate").value'));
    }
    assert.ok(rates.every((rate, i) => i === 0 || rate >= rates[i - 1]) && rates.at(-1) > rates[0], model);
    await click(page, 'learn-mistake');
    await page.until('document.querySelector("#learn-answer.fooled")');
    assert.equal(await page.run('document.querySelectorAll(".cell.no").length'), 0);
  }
  await page.run('document.querySelector("input[value=counting]").click()');
  await page.until('document.querySelector("#learn-keys button")');
  const before = await page.run('document.querySelectorAll("#learn-keys li").length');
  await page.run('document.querySelector("#learn-keys button").click()');
  await page.until(`document.querySelectorAll('#learn-keys li').length === ${before - 1}`);
  assert.equal(await page.run('document.querySelector("#view-learn details").open'), false);
  await page.close();
});

test('open: every golden file', async () => {
  const page = await open('#open');
  let files = 0;
  for (const name of native.keys()) {
    const keyed = name.startsWith('keyed');
    const found = await opens(page, written(name), 'any',
      { 'open-secret': keyed ? Buffer.from('sixteen bytes it').toString('hex') : '' });
    assert.equal(found.error, '', name);
    assert.equal(found.format, 'native');
    assert.ok(await page.run('document.getElementById("open-fill").width > 0'));
    files++;
  }
  assert.match(await opens(page, written('ada'), 'any', { 'open-secret': '' }).then(() => asks(page, 'ada')), /is in it/);
  assert.match(await asks(page, 'bob'), /certainly not/);
  const whole = [...readdirSync(place('dcso')).filter((file) => file.endsWith('.bloom')).map((file) => ['dcso', file]),
    ...readdirSync(place('guava')).filter((file) => file.endsWith('.bin')).map((file) => ['guava', file])];
  for (const [format, name] of whole) {
    const found = await opens(page, place(format, name), format === 'guava' ? 'guava' : 'any');
    assert.equal(found.error, '', name);
    assert.equal(found.format, format);
    files++;
  }
  await opens(page, place('guava/mitz64_str_100_0.03.bin'), 'guava');
  assert.match(await asks(page, 'key42'), /is in it/);
  const rows = [
    ...golden('leveldb/filters.tsv').slice(1).map((row) => ['leveldb', row[3]]),
    ...golden('corekv/filters.tsv').slice(1, 6).map((row) => ['corekv', row[4]]),
    ...golden('parquet/filters.tsv').slice(1).map((row) => ['parquet', row[3] + row[6]]),
    ...golden('guava/filters.tsv').slice(1).filter((row) => row.at(-1)).map((row) => ['guava', row.at(-1)]),
  ];
  const path = join(home, 'filter.bin');
  for (const [format, bytes] of rows) {
    writeFileSync(path, hex(bytes));
    const found = await opens(page, path, format);
    assert.equal(found.error, '', format);
    assert.equal(found.format, format);
    files++;
  }
  for (const row of golden('redisbloom/filters.tsv').slice(1)) {
    const header = hex(row[6]);
    const frame = Buffer.concat([Buffer.from('UMBRBLM1'), Buffer.alloc(8), header, hex(row[8])]);
    frame.writeBigUInt64LE(BigInt(header.length), 8);
    writeFileSync(path, frame);
    const found = await opens(page, path);
    assert.equal(found.format, 'redisbloom');
    assert.match(await asks(page, 'key0'), /is in it/);
    files++;
  }
  const go = golden('gocrc32/int64.tsv').slice(1).find((row) => Number(row[0]) > 10 && row[6]);
  writeFileSync(path, hex(go[6]));
  const found = await opens(page, path, 'gocrc32', { 'open-capacity': go[0], 'open-rate': go[1] });
  assert.equal(found['as text'], go[4]);
  assert.ok(files > 40);
  await page.close();
});

test('open: filters inside Parquet files and tables of LevelDB and RocksDB', async () => {
  const page = await open('#open');
  let found = await opens(page, place('parquet/duckdb_t.parquet'));
  assert.equal(found.error, '');
  assert.equal(found.format, 'parquet');
  assert.ok(await page.run('document.querySelectorAll("#open-place option").length >= 5'));
  assert.match(await asks(page, 'val7'), /is in it/);
  found = await opens(page, place('table/keys300.ldb'));
  assert.equal(found.error, '');
  assert.equal(found.format, 'leveldb');
  assert.match(await asks(page, 'key000001'), /is in it/);
  found = await opens(page, place('rocksdb/v6.sst'));
  assert.equal(found.error, '');
  assert.equal(found.format, 'rocksdb');
  assert.match(await asks(page, 'key000000150'), /is in it/);
  await page.close();
});

test('open: the golden lookups, asked for one by one and as a file of lines', async () => {
  const page = await open('#open');
  const rows = golden('lookups/answers.tsv').slice(1);
  for (const name of new Set(rows.map(([file]) => file))) {
    const own = rows.filter(([file, text]) => file === name && text);
    assert.equal((await opens(page, place('lookups', `${name}.umb`))).error, '');
    for (const [, text, key, , , what] of own) {
      const said = await asks(page, text);
      assert.equal(/is in it/.test(said) ? 'yes' : /certainly not/.test(said) ? 'no' : 'none', key, `${name}: ${what}: ${said}`);
    }
    const list = join(home, `${name}.txt`);
    writeFileSync(list, own.map(([, text]) => `${text}\n`).join(''));
    await page.run('document.getElementById("open-matches").textContent = ""');
    await page.choose('open-list', list);
    await page.until('/ lines may be/.test(document.getElementById("open-matches").textContent)');
    await page.run('document.querySelector("#open-matches a").id = "matches"');
    const found = (await downloaded(page, 'matches', `${name}-matches.txt`)).toString();
    assert.equal(found, own.filter(([, , , record]) => record === 'yes').map(([, text]) => `${text}\n`).join(''), name);
  }
  await page.close();
});

test('open: a file that is dropped', async () => {
  const page = await open('#open');
  const bytes = Buffer.from(native.get('ada')).toString('base64');
  await page.run(`(() => {
    const files = new DataTransfer();
    files.items.add(new File([Uint8Array.from(atob('${bytes}'), (c) => c.charCodeAt(0))], 'dropped.umb'));
    for (const name of ['dragenter', 'dragover', 'drop']) {
      document.getElementById('open-drop').dispatchEvent(
        new DragEvent(name, { dataTransfer: files, bubbles: true, cancelable: true }));
    }
  })()`);
  await page.until('document.getElementById("open-name").textContent === "dropped.umb"');
  assert.match(await asks(page, 'ada'), /is in it/);
  await page.close();
});

test('open: a gzipped filter', async () => {
  const page = await open('#open');
  const path = join(home, 'a.bloom.gz');
  writeFileSync(path, execFileSync('gzip', ['-c', place('dcso/a.bloom')]));
  assert.equal((await opens(page, path)).format, 'dcso');
  await page.close();
});

test('open: damaged and hostile files get the library\'s words, and the page works on', async () => {
  const page = await open('#open');
  const path = join(home, 'damaged.umb');
  const bytes = Buffer.from(native.get('blocked_64'));
  bytes[5000] ^= 1;
  writeFileSync(path, bytes);
  const damaged = await opens(page, path);
  if (!noCommand) {
    let said = '';
    try {
      runs('verify', path);
    } catch (error) {
      said = error.stderr + error.stdout;
    }
    const words = damaged.error.replace(/^damaged.umb: /, '').split(/[:(]/)[0].trim();
    assert.ok(words.length > 5 && said.includes(words), `${damaged.error} / ${said}`);
  }
  for (const length of [0, 1, 7, 100, 4096, 5000]) {
    writeFileSync(path, bytes.subarray(0, length));
    assert.ok((await opens(page, path)).error.length > 20);
  }
  for (let seed = 1; seed < 40; seed++) {
    const changed = Buffer.from(native.get('classic_64'));
    changed[(seed * 7919) % 200] ^= 1 << seed % 8;
    writeFileSync(path, changed);
    await opens(page, path, 'native');
  }
  // What the command reads and a browser does not is named.
  writeFileSync(path, Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), bytes]));
  assert.match((await opens(page, path)).error, /zstd/);
  assert.match((await opens(page, place('table/skp_idx_bf_id.cmrk2'))).error, /ClickHouse/);
  truncateSync(path, 4 * 2 ** 30); // a hole, which takes no room on the disk
  assert.match((await opens(page, path)).error, /3 GiB/);
  writeFileSync(path, 'just some text\n');
  const unknown = await opens(page, path);
  assert.match(unknown.error, /recognised/);
  // Who opens something else is not asked which of a dozen formats it is.
  assert.ok(!await page.run('document.getElementById("open-more").open'));
  assert.equal((await opens(page, written('ada'))).error, '');
  assert.match(await asks(page, 'ada'), /is in it/);
  await page.close();
});

test('build: every kind, byte for byte the command\'s', { skip: noCommand }, async () => {
  const list = join(home, 'urls.txt');
  const lines = Array.from({ length: 30000 }, (_, i) => `https://example.com/${i * 31}`);
  lines[5] = '';
  lines[6] = '布隆过滤器\r';
  writeFileSync(list, lines.join('\n')); // no newline at its end
  const theirs = join(home, 'theirs.umb');
  const kindsOfOneList = ['auto', ...kinds.filter((kind) => kind !== 'exact')];
  for (const kind of kindsOfOneList) {
    const page = await open('#build'); // a new page: browsers stop the tenth download of one
    assert.deepEqual(await page.run(`[...document.getElementById('build-kind').options].map((one) => one.value)`), kindsOfOneList);
    for (const [rate, fpr] of [['1%', '0.01'], ['1 in 5,000', '0.0002']]) {
      await page.choose('build-file', list);
      await page.run(`document.getElementById('build-kind').value = '${kind}'`);
      await page.type('build-rate', rate);
      await builds(page);
      const mine = await downloaded(page, 'build-download', 'urls.umb');
      runs('build', '--force', '-q', ...(kind === 'auto' ? [] : ['--kind', kind]), '-p', fpr, '-o', theirs, list);
      assert.ok(mine.equals(readFileSync(theirs)), `${kind} ${rate}`);
      assert.match(await text(page, 'build-command'),
        kind === 'auto' ? /^umbel build -p .* -o urls.umb urls.txt/ : new RegExp(`--kind ${kind} .*-o urls.umb urls.txt`));
    }
    await page.close();
  }
});

test('build: good keys are never found, byte for byte the command\'s', { skip: noCommand }, async () => {
  const [list, good, theirs] = ['bad.txt', 'good.txt', 'safe.umb'].map((name) => join(home, name));
  writeFileSync(list, Array.from({ length: 5000 }, (_, i) => `bad${i}`).join('\n'));
  writeFileSync(good, Array.from({ length: 5000 }, (_, i) => `good${i}\n`).join(''));
  const page = await open('#build');
  await page.choose('build-file', list);
  await page.choose('build-never', good);
  await page.run('document.getElementById(\'build-kind\').value = \'tight\'');
  await page.type('build-rate', '5%');
  await builds(page);
  const mine = await downloaded(page, 'build-download', 'bad.umb');
  runs('build', '--force', '-q', '--kind', 'tight', '-p', '0.05', '--never', good, '-o', theirs, list);
  assert.ok(mine.equals(readFileSync(theirs)));
  assert.match(await text(page, 'build-command'), /-p 0.05 --never good.txt -o bad.umb bad.txt$/);
  assert.match(await text(page, 'build-info'), /exceptions\s*2\d\d/);
  await page.close();
  const other = await open('#open');
  await opens(other, theirs);
  assert.match(await text(other, 'open-info'), /exceptions\s*2\d\d/);
  await other.close();
});

/** A filter with a recipe, in a file. */
function withRecipe(name, text, keys) {
  const filter = Filter.create({ capacity: 100, fpr: 1e-9 });
  filter.addMany(keys);
  filter.recipe = text;
  const path = join(home, name);
  writeFileSync(path, filter.toBytes());
  return path;
}

test('open: what is typed is a key, whatever part of a line the filter holds', async () => {
  const page = await open('#open');
  await opens(page, withRecipe('field.umb', 'field=2 lower', ['ada', 'x y']));
  assert.match(await asks(page, 'Ada'), /"Ada" is in it/);
  assert.match(await asks(page, 'X y'), /is in it/);
  assert.match(await asks(page, 'x ada'), /certainly not/);
  assert.match(await text(page, 'open-info'), /field=2 lower/);
  await opens(page, withRecipe('sha1.umb', 'line sha1', ['5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8']));
  assert.match(await asks(page, 'password'), /is in it/);
  await opens(page, withRecipe('domain.umb', 'domain', ['example.com']));
  assert.match(await asks(page, 'a.b.Example.com.'), /is in it.*parent example\.com/);
  assert.match(await asks(page, 'a b'), /not a domain name/);
  await page.close();
});

test('open: lists under every kind of recipe', async () => {
  const cases = [
    ['csv field=2', ['b, c', 'e'], 'a,"b, c",d\nd,e,f\ng,h,i\n', 'a,"b, c",d\nd,e,f\n', / 2 of 3 |^2 of 3 /],
    ['csv column=name', ['e\nf'], 'id,name\n1,"e\nf"\n2,x\n', 'id,name\n1,"e\nf"\n', /^1 of 2 /],
    ['field=2', ['', 'ada'], 'x ada\ny\n', 'x ada\n', /^1 of 2 .*1 do not have the part/],
    ['json=.a', ['1'], '{"a":1}\nnot json\n{"b":1}\n', '{"a":1}\n', /^1 of 3 .*1 do not have.*1 are not JSON/],
  ];
  const page = await open('#open');
  for (const [recipe, keys, lines, want, said] of cases) {
    await opens(page, withRecipe('list.umb', recipe, keys));
    const list = join(home, 'list.txt');
    writeFileSync(list, lines);
    await page.choose('open-list', list);
    await page.until('/ lines may be/.test(document.getElementById("open-matches").textContent)');
    assert.match(await text(page, 'open-matches'), said, recipe);
    await page.run('document.querySelector("#open-matches a").id = "matches"');
    assert.equal((await downloaded(page, 'matches', 'list-matches.txt')).toString(), want, recipe);
  }
  await page.close();
});

/** Records of the golden table by recipe and header, as far as they can be lines of one file. */
function recipeFiles() {
  const files = new Map();
  const bytes = (value) => Buffer.from(value === 'empty' ? '' : value, 'hex');
  for (const name of ['fields', 'csv', 'json', 'meanings']) {
    for (const [recipe, use, header, record, state, key] of golden(`recipes/${name}.tsv`).slice(1)) {
      const line = bytes(record);
      if (use !== 'record' || (recipe.startsWith('csv') ? state === 'malformed' : line.includes(10))) continue;
      const id = `${recipe}\t${header}`;
      if (!files.has(id)) files.set(id, { recipe, header: header === '-' ? null : bytes(header), rows: [] });
      files.get(id).rows.push({ line, state, key: state === 'key' ? bytes(key) : null });
    }
  }
  return [...files.values()];
}

test('open: the golden table of recipes, as lists', async () => {
  const page = await open('#open');
  const newline = Buffer.from('\n');
  const joined = (lines) => Buffer.concat(lines.flatMap((line) => [line, newline]));
  let records = 0;
  for (const { recipe, header, rows } of recipeFiles()) {
    const keys = rows.filter((row, i) => row.key && i % 2 === 0).map(({ key }) => key);
    const known = new Set(keys.map((key) => key.toString('hex')));
    // A domain is also found by its parents.
    const asked = (key) => (/\bdomain\b/.test(recipe)
      ? key.toString('latin1').split('.').map((_, i, labels) => labels.slice(i).join('.'))
      : [key.toString('latin1')]);
    const hit = (key) => asked(key).some((name) => known.has(Buffer.from(name, 'latin1').toString('hex')));
    const want = rows.filter(({ key }) => key && hit(key)).map(({ line }) => line);
    await opens(page, withRecipe('golden.umb', recipe, keys));
    const list = join(home, 'golden.txt');
    writeFileSync(list, joined([...(header ? [header] : []), ...rows.map(({ line }) => line)]));
    await page.run('document.getElementById("open-matches").textContent = ""');
    await page.choose('open-list', list);
    await page.until('/ lines may be/.test(document.getElementById("open-matches").textContent)');
    assert.match(await text(page, 'open-matches'), new RegExp(`^${want.length} of ${rows.length} `), recipe);
    records += rows.length;
    if (!want.length) continue;
    await page.run('document.querySelector("#open-matches a").id = "matches"');
    const found = await downloaded(page, 'matches', 'golden-matches.txt');
    assert.ok(found.equals(joined([...(header ? [header] : []), ...want])), recipe);
  }
  assert.ok(records > 400);
  await page.close();
});

test('open: a recipe of a later version is shown, and lines are refused by the word', async () => {
  const page = await open('#open');
  const path = join(home, 'later.umb');
  const [, later] = golden('native/recipes.tsv').find(([name]) => name === 'recipe_later');
  writeFileSync(path, hex(later));
  await opens(page, path);
  assert.match(await text(page, 'open-info'), /line fnord=7/);
  assert.match(await asks(page, 'ada'), /fnord=7: not a word that is known here/);
  await page.close();
});

// Each file of the table, as a list to build from and as one to ask for: read, with a warning, or refused by its name.
test('inputs: every file of the golden table, in Build and in Open', { skip: noCommand }, async () => {
  const [head, ...rows] = readFileSync(place('inputs/inputs.tsv'), 'utf8').trim().split('\n').map((line) => line.split('\t'));
  const words = { returns: /(\d+) lines end in a carriage return/, marks: /byte-order mark/, nuls: /NULs/ };
  let build = await open('#build');
  const ask = await open('#open');
  const theirs = join(home, 'input.umb');
  const filter = written('ada');
  assert.equal((await opens(ask, filter)).error, '');
  for (const row of rows) {
    const { file, is, inside, lines, ...unseen } = Object.fromEntries(row.map((value, i) => [head[i], value]));
    const path = place('inputs', `${file}.list`);
    const name = is === 'gzip' ? inside : is;
    await build.choose('build-file', path);
    await build.run(`document.getElementById('build-result').hidden = true;
      document.querySelector('#build-form [type=submit]').click()`);
    await build.until('document.getElementById("build-progress").hidden && ' +
      '(!document.getElementById("build-result").hidden || document.getElementById("build-error").textContent)');
    await ask.run('document.getElementById("open-matches").textContent = ""');
    await ask.choose('open-list', path);
    await ask.until('document.getElementById("open-list-progress").hidden && document.getElementById("open-matches").textContent');
    const [error, found] = [await text(build, 'build-error'), await text(ask, 'open-matches')];
    // Browsers unpack one part of a gzip file and say that there are more.
    if (name !== 'lines' || file === 'members_gz') {
      const want = file === 'members_gz' ? 'several parts' : name;
      assert.ok(error.includes(want) && found.includes(want), `${file}: ${error}; ${found}`);
      continue;
    }
    assert.equal(error, '', file);
    const odd = await text(build, 'build-odd');
    for (const [column, word] of Object.entries(words)) {
      for (const said of [odd, found]) assert.equal(word.test(said), unseen[column] !== '0', `${file}: ${said}`);
    }
    if (unseen.returns !== '0') assert.equal(odd.match(words.returns)[1], unseen.returns);
    assert.match(found, new RegExp(`of ${lines} lines`));
    // The command that the page names makes the same bytes.
    const command = await text(build, 'build-command');
    runs('build', '-qq', '--force', '-p', '0.01', '-o', theirs, path);
    assert.equal(command, `umbel build -p 0.01 -o ${file}.umb ${file}.list`);
    const mine = await downloaded(build, 'build-download', `${file}.umb`);
    assert.ok(mine.equals(readFileSync(theirs)), file);
    await build.close(); // browsers stop the tenth download of one page
    build = await open('#build');
  }
  await build.choose('build-file', place('inputs/crlf_gz.list'));
  await click(build, 'build-crlf');
  await builds(build);
  assert.equal(await text(build, 'build-odd'), '');
  assert.match(await text(build, 'build-command'), / --crlf -p 0.01 /);
  runs('build', '-qq', '--force', '--crlf', '-p', '0.01', '-o', theirs, place('inputs/crlf_gz.list'));
  const mine = await downloaded(build, 'build-download', 'crlf_gz.umb');
  assert.ok(mine.equals(readFileSync(theirs)));
  await build.close();
  await ask.close();
});

test('open: a list is asked for, and the matches are downloaded', { skip: noCommand }, async () => {
  const list = join(home, 'rules.txt');
  const lines = Array.from({ length: 30000 }, (_, i) => `${i},  Key-${i * 31} ,x`);
  writeFileSync(list, lines.join('\n'));
  const asked = join(home, 'asked.txt');
  const others = Array.from({ length: 30000 }, (_, i) => `${i},absent-${i},y`);
  writeFileSync(asked, [...lines.map((line) => line.toUpperCase()), ...others].join('\n'));
  const page = await open('#open');
  const filter = join(home, 'asked.umb');
  for (const rule of [[], ['-t', ',', '-k', '2', '--trim', '--lower']]) {
    runs('build', '--force', '-q', '-p', '0.001', ...rule, '-o', filter, list);
    assert.equal((await opens(page, filter)).error, '');
    await page.choose('open-list', asked);
    await page.until('/ of 60,000 lines/.test(document.getElementById("open-matches").textContent)');
    await page.run('document.querySelector("#open-matches a").id = "matches"');
    const mine = await downloaded(page, 'matches', 'asked-matches.txt');
    assert.ok(mine.toString() === runs('check', filter, asked), `${rule}`);
  }
  await page.close();
});

test('build: a list of 100 MB, with progress, and cancelled', { skip: noCommand }, async () => {
  const list = join(home, 'large.txt');
  const file = openSync(list, 'w');
  for (let from = 0; from < 2e6; from += 1e5) {
    let part = '';
    for (let i = from; i < from + 1e5; i++) part += `https://www.example.com/some/longer/path/${i * 17}\n`;
    writeSync(file, part);
  }
  closeSync(file);
  const page = await open('#build');
  await page.run(`window.seen = [];
    setInterval(() => { const box = document.getElementById('build-progress');
      if (!box.hidden) seen.push(box.querySelector('progress').value); }, 20)`);
  await page.choose('build-file', list);
  await page.run('document.querySelector("#build-form [type=submit]").click()');
  await page.until('seen.some((value) => value > 0 && value < 1)');
  await page.run('document.querySelector("#build-progress button").click()');
  await page.until('document.getElementById("build-error").textContent === "cancelled"');
  assert.ok(await page.run('document.getElementById("build-result").hidden'));
  for (const kind of ['blocked', 'static']) {
    await page.run(`document.getElementById('build-kind').value = '${kind}'`);
    await builds(page);
    const mine = await downloaded(page, 'build-download', 'large.umb');
    const theirs = join(home, 'theirs-large.umb');
    runs('build', '--force', '-q', '--kind', kind, '-p', '0.01', '-o', theirs, list);
    assert.ok(mine.equals(readFileSync(theirs)), kind);
  }
  rmSync(list);
  await page.close();
});

test('keyboard: everything can be reached and used', async () => {
  const page = await open('#plan');
  await planned(page);
  // Wherever the browser begins, twice around the page meets everything.
  const seen = [];
  for (let i = 0; i < 40; i++) {
    await page.key('Tab');
    const now = await page.run(`(() => { const e = document.activeElement;
      return e === document.body ? '' : e.id || e.dataset.view || e.textContent.trim() || e.className; })()`);
    if (now) seen.push(now);
  }
  for (const wanted of ['plan', 'learn', 'open', 'build', 'language', 'plan-keys', 'plan-rate', 'plan-memory',
    '2 billion URLs in 500 MB', 'plan-copy']) {
    assert.ok(seen.includes(wanted), `${wanted} is not among ${seen}`);
  }
  // The second link of the navigation, by keys alone.
  await page.run('document.querySelector("nav a[data-view=learn]").focus()');
  await page.key('Enter');
  await page.until('!document.getElementById("view-learn").hidden');
  await page.run('document.querySelector("input[name=model]").focus()');
  await page.key('ArrowRight');
  await page.until('document.querySelector("input[value=blocked]").checked');
  await page.run('document.getElementById("language").focus()');
  await page.key('Enter');
  await page.until('document.documentElement.lang === "zh"');
  await page.close();
});

const roles = ['button', 'link', 'textbox', 'combobox', 'checkbox', 'radio', 'progressbar', 'meter', 'image', 'img',
  'listbox', 'navigation', 'region', 'table', 'form'];

test('accessibility: roles, names, headings and landmarks, in both languages', async () => {
  for (const language of ['en', 'zh']) {
    for (const part of ['plan', 'learn', 'open', 'build']) {
      const page = await open(`#${part}?lang=${language}`);
      if (part === 'plan') await page.until('document.querySelector("#plan-sentence").textContent');
      if (part === 'open') assert.equal((await opens(page, written('blocked_64'))).error, '');
      const { nodes } = await page.send('Accessibility.getFullAXTree');
      const visible = nodes.filter((node) => !node.ignored);
      const named = (node) => (node.name?.value ?? '').trim();
      for (const node of visible.filter((one) => roles.includes(one.role?.value))) {
        assert.ok(named(node) || ['form', 'region'].includes(node.role.value),
          `${part}: a ${node.role.value} without a name`);
        const said = node.description?.value;
        assert.ok(!said || node.role.value !== 'textbox' || !named(node).includes(said), `${part}: "${said}" is read twice`);
      }
      const count = (role) => visible.filter((node) => node.role?.value === role).length;
      assert.equal(count('main'), 1);
      assert.equal(count('navigation'), 1);
      assert.equal(count('banner'), 1);
      const headings = visible.filter((node) => node.role?.value === 'heading');
      const level = (node) => node.properties.find(({ name }) => name === 'level').value.value;
      assert.equal(headings.filter((node) => level(node) === 1).length, 1);
      assert.equal(await page.run('document.documentElement.lang'), language);
      const current = await page.run('document.querySelector("nav [aria-current=page]").dataset.view');
      assert.equal(current, part);
      assert.ok(await page.run('document.documentElement.scrollWidth <= innerWidth'));
      await page.close();
    }
  }
});

test('phones: nothing is wider than the screen', async () => {
  for (const part of ['plan', 'learn', 'open', 'build']) {
    const page = await open(`#${part}`, { width: 360, height: 700 });
    if (part === 'plan') await planned(page);
    if (part === 'open') assert.equal((await opens(page, written('blocked_64'))).error, '');
    assert.ok(await page.run('document.documentElement.scrollWidth <= 360'), part);
    // A box to tick stands in front of its words, on their line.
    const [box, words] = await page.run(`['#build-crlf', '#build-crlf + span'].map((what) => document.querySelector(what).getBoundingClientRect())
      .map(({ top, bottom, right, height }) => ({ top, bottom, right, height }))`);
    if (part === 'build') assert.ok(box.height < 30 && box.top < words.bottom && box.bottom > words.top && box.right <= 80, JSON.stringify([box, words]));
    await page.close();
  }
});

/** WCAG's contrast of two colours, each [r, g, b] from 0 to 255. */
function contrast(a, b) {
  const luminance = (colour) => colour.map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

/** Every text that can be seen: its colour over what is painted below it, and its size. */
const seenTexts = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (css) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = css; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const over = (top, below) => top.slice(0, 3).map((part, i) => part * top[3] / 255 + below[i] * (1 - top[3] / 255));
  const ground = (node) => { const own = rgba(getComputedStyle(node).backgroundColor); return own[3] === 255 ? own.slice(0, 3) : over(own, node.parentElement ? ground(node.parentElement) : [255, 255, 255]); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node; (node = walker.nextNode()); ) {
    const owner = node.parentElement;
    if (!node.data.trim() || !owner.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || owner.closest('script, style, title, noscript, .skip, thead')) continue;
    const style = getComputedStyle(owner);
    const size = parseFloat(style.fontSize);
    const inSvg = owner instanceof SVGElement;
    const below = owner.classList.contains('cell-count') ? rgba(getComputedStyle(owner.previousSibling).fill).slice(0, 3) : ground(inSvg ? owner.closest('svg') : owner);
    texts.push({ text: node.data.trim().slice(0, 40), colour: over(rgba(inSvg ? style.fill : style.color), below), below,
      large: size >= 24 || (size >= 18.66 && style.fontWeight >= 700) });
  }
  for (const input of document.querySelectorAll('input')) {
    if (!input.placeholder || !input.checkVisibility()) continue;
    texts.push({ text: input.placeholder, colour: rgba(getComputedStyle(input, '::placeholder').color).slice(0, 3), below: ground(input), large: false });
  }
  const shapes = [...document.querySelectorAll('.cell.on, .cell.yes, .cell.no, .curve, .dot, .bound, .swatch.on, .swatch.yes, .swatch.no, .history')]
    .filter((shape) => shape.checkVisibility()).map((shape) => {
      const style = getComputedStyle(shape);
      const paint = shape.classList.contains('swatch') ? style.backgroundColor : style.fill === 'none' ? style.stroke : style.fill;
      return { text: String(shape.getAttribute('class')), colour: rgba(paint).slice(0, 3), below: ground(shape.closest('svg') ?? shape.parentElement) };
    });
  return { texts, shapes };
})()`;

test('contrast: WCAG AA, of every text and every shape that means something, in both themes', async () => {
  for (const dark of [false, true]) {
    for (const part of ['plan', 'learn', 'open', 'build']) {
      const page = await open(`#${part}`, { dark });
      if (part === 'plan') await planned(page);
      if (part === 'learn') {
        await page.type('learn-ask', 'nobody');
        await page.until('document.querySelector(".cell.no")');
        await page.run('new Promise((done) => setTimeout(done, 400))'); // colours change slowly
      }
      if (part === 'open') assert.equal((await opens(page, written('blocked_64'))).error, '');
      const { texts, shapes } = await page.run(seenTexts);
      assert.ok(texts.length > 15, `${part}: ${texts.length}`);
      for (const { text: what, colour, below, large } of texts) {
        const found = contrast(colour, below);
        assert.ok(found >= (large ? 3 : 4.5), `${part}, ${dark ? 'dark' : 'light'}: "${what}" ${found.toFixed(2)}`);
      }
      for (const { text: what, colour, below } of shapes) {
        const found = contrast(colour, below);
        assert.ok(found >= 3, `${part}, ${dark ? 'dark' : 'light'}: ${what} ${found.toFixed(2)}`);
      }
      await page.close();
    }
  }
});

test('plan: the answer comes first, and large; what cannot be read is said', async () => {
  const page = await open('#plan?keys=1+million&rate=1%25');
  await planned(page);
  const figures = () => page.run('[...document.querySelectorAll("#plan-answer > div")].map((one) => one.innerText.replace("\\n", ": "))');
  const { bitsPerKey, hashes, kind } = plan({ capacity: 1e6, fpr: 0.01 });
  const all = await figures();
  assert.equal(all[0], 'Size: 1.26 MiB');
  for (const [name, value] of [['Keys', '1,000,000'], ['Bits per key', bitsPerKey.toFixed(1)], ['Hashes', hashes], ['Kind', kind]]) {
    assert.ok(all.includes(`${name}: ${value}`), `${name} ${value} in ${all}`);
  }
  assert.ok(all.some((one) => /^How often it is wrong: 0\.\d+%|^How often it is wrong: 1%/.test(one)), `${all}`);
  const size = (of) => page.run(`parseFloat(getComputedStyle(document.querySelector('${of}')).fontSize)`);
  assert.ok(await size('#plan-answer .asked dd') >= 2 * await size('#plan-sentence'));
  assert.ok(await page.run('!!(document.getElementById("plan-answer").compareDocumentPosition(document.getElementById("plan-sentence")) & 4)'));
  await page.type('plan-rate', '0,5%');
  await page.until('document.getElementById("plan-sentence").textContent.includes("0,5%")');
  assert.match(await text(page, 'plan-sentence'), /"0,5%" is not a rate/);
  assert.deepEqual(await figures(), []);
  assert.match(await page.run('[...document.querySelectorAll("#plan-chart text")].map((one) => one.textContent).join("|")'), /false-positive rate/);
  await page.close();
});

/** Milliseconds from the load event to the first answer, in a new page; earlier ones do not warm it. */
async function firstAnswer() {
  const page = await browser.page('about:blank');
  await page.send('Page.addScriptToEvaluateOnNewDocument', { source: `
    new MutationObserver((_, watch) => {
      if (!document.querySelector('#plan-answer dd')) return;
      window.answered = performance.now();
      watch.disconnect();
    }).observe(document, { childList: true, subtree: true });` });
  await page.go(`${address}#plan?keys=1+million&rate=1%25`);
  const took = await page.until('window.answered && performance.getEntriesByType("navigation")[0].loadEventEnd && ' +
    '{ms: answered - performance.getEntriesByType("navigation")[0].loadEventEnd}');
  assert.match(await text(page, 'plan-answer'), /MiB/);
  await page.close();
  return took.ms;
}

/** Milliseconds for a fixed piece of arithmetic in the browser: how fast the machine is just now. */
async function pace() {
  const page = await browser.page('about:blank');
  const ms = await page.run(`(() => {
    const start = performance.now();
    for (let i = 0, x = 1; i < 2e7; i++) x = Math.imul(x ^ i, 0x9e3779b1);
    return performance.now() - start;
  })()`);
  await page.close();
  return ms;
}

// Whatever else the machine does makes a load slower and none faster, so one that is fast enough
// proves it; on a machine at half the speed, or shared by two, it may take twice as long.
test('plan: the first answer is there within 100 ms after load', async (t) => {
  const usual = 35, times = [], paces = [];
  const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
  const allowed = () => 100 * Math.max(1, median(paces) / usual);
  do {
    paces.push(await pace());
    times.push(Math.round(await firstAnswer()));
  } while (times.length < 5 || (Math.min(...times) > allowed() && times.length < 40));
  t.diagnostic(`first answer ${times.join(', ')} ms after load; pace ${paces.map(Math.round).join(', ')} ms`);
  assert.ok(Math.min(...times) <= allowed(), `${times}, where ${allowed()} are allowed`);
});

test('explainer: one lookup, step by step', async () => {
  const page = await open('#learn');
  await page.until('document.querySelectorAll(".cell.on").length');
  for (const [word, found] of [['apple', true], ['nobody', false]]) {
    await page.type('learn-ask', word);
    const answered = `document.getElementById("learn-answer").textContent.includes('"${word}"')`;
    await page.until(answered);
    const steps = () => page.run('[...document.querySelectorAll("#learn-steps li")].map((one) => one.textContent)');
    let last = 0;
    for (let i = 0; i < 12; i++) {
      await click(page, 'learn-step');
      await page.until(`document.querySelectorAll("#learn-steps li").length !== ${last}`);
      const list = await steps();
      if (!list.length) break;
      last = list.length;
      if (i === 0) assert.match(list[0], new RegExp([...Buffer.from(word)].map((byte) => byte.toString(16)).join(' ')));
      const lit = await page.run('document.querySelectorAll(".cell.yes, .cell.no").length');
      assert.equal(lit, list.filter((line) => /^Light/.test(line)).length, `${list}`);
      assert.equal(await text(page, 'learn-answer'), '');
      if (list.at(-1).includes('settles') || (found && list.length === 6)) assert.match(list.join('\n'), found ? /on$/ : /off/);
    }
    await page.until(answered);
    assert.match(await text(page, 'learn-answer'), found ? /^Perhaps/ : /^No/);
  }
  await page.close();
});

test('small screens, zoom and print: nothing is cut off', async () => {
  for (const part of ['plan', 'learn', 'open', 'build']) {
    // 320 px is also 1280 px at 400%, and 640 px 1280 px at 200%.
    for (const width of [320, 640]) {
      const page = await open(`#${part}`, { width, height: 700 });
      if (part === 'plan') await planned(page);
      if (part === 'open') assert.equal((await opens(page, written('blocked_64'))).error, '');
      assert.ok(await page.run(`document.documentElement.scrollWidth <= ${width}`), `${part} at ${width}`);
      await page.send('Emulation.setEmulatedMedia', { media: 'print' });
      assert.equal(await page.run('getComputedStyle(document.querySelector("header")).display'), 'none');
      await page.send('Emulation.setEmulatedMedia', { media: '', features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] });
      assert.equal(await page.run('getComputedStyle(document.querySelector(".cell") ?? document.body).transitionDuration'), '0s');
      await page.close();
    }
  }
});

test('open: what cannot be a filter is refused before it is read', async () => {
  const page = await open('#open');
  const zeros = join(home, 'zeros.bin');
  closeSync(openSync(zeros, 'w'));
  truncateSync(zeros, 2 ** 31);
  const from = Date.now();
  assert.match((await opens(page, zeros)).error, /not recognised/);
  assert.ok(Date.now() - from < 5000, `${Date.now() - from} ms for 2 GiB of zeros`);
  await page.close();
});

test('style: no rule gives a variable two values', () => {
  const style = readFileSync(join(root, 'bindings/web/page.css'), 'utf8');
  const rules = style.match(/[^{}]*\{[^{}]*\}/g);
  assert.ok(rules.length > 50);
  for (const rule of rules) {
    const names = [...rule.matchAll(/(--[a-z-]+):/g)].map(([, name]) => name);
    assert.equal(new Set(names).size, names.length, rule);
  }
});

test('texts: every one is there in Chinese, and none for nothing', async () => {
  const code = readFileSync(join(root, 'bindings/web/texts.js'), 'utf8');
  const { chinese } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const page = await open('#plan');
  const wanted = await page.run(`[...document.querySelectorAll('[data-t],[data-t-label]')].map((e) => e.dataset.english)`);
  const sources = ['shell', 'plan', 'learn', 'open', 'make', 'page', 'quantity', 'worker']
    .map((name) => readFileSync(join(root, `bindings/web/${name}.js`), 'utf8')).join('\n');
  const quoted = new Set([...sources.matchAll(/'((?:[^'\\\n]|\\.)*)'/g)].map(([, found]) => found));
  for (const [, found] of sources.matchAll(/\bt\('((?:[^'\\]|\\.)*)'/g)) wanted.push(found);
  const reasons = readFileSync(join(root, 'src/api/api_quantity.c'), 'utf8');
  for (const [, found] of reasons.matchAll(/"(not a \w+|too large)"/g)) wanted.push(found);
  for (const path of readdirSync(join(root, 'src/kind'), { recursive: true }).filter((name) => /\.c$/.test(name))) {
    const code = readFileSync(join(root, 'src/kind', path), 'utf8');
    for (const [, found] of code.matchAll(/\.purpose = "([^"]*)"/g)) wanted.push(found);
  }
  for (const one of wanted) assert.ok(chinese[one], `no Chinese for: ${one}`);
  for (const one of Object.keys(chinese)) {
    assert.ok(wanted.includes(one) || quoted.has(one), `not used: ${one}`);
    const holes = (sentence) => [...sentence.matchAll(/\{\d\}/g)].map(String).sort().join();
    assert.equal(holes(chinese[one]), holes(one), one);
  }
  await page.close();
});

test('no complaint in the console, and no request to anywhere', async () => {
  const page = await open('#plan');
  assert.deepEqual(page.complaints().map(({ params }) => params.entry?.text ?? params.exceptionDetails?.exception?.description ?? params), []);
  for (const url of page.requests()) assert.match(url, /^(file|blob|data|about):/);
  await page.close();
});
