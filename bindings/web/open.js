// SPDX-License-Identifier: MIT
//
// open.js - files with filters in them: what they are, how full, and what they answer

import { $, complaint, downloads, facts, language, make, oddities, t, takesFile, withProgress } from './shell.js';
import { bitsText, countText, rateText, reads, sizeText } from './quantity.js';

let library;
let lists = { formats: [], types: [] };
let file = null;
let shown = null;

function secret() {
  const text = $('open-secret').value.replace(/\s/g, '');
  if (!text) return undefined;
  if (!/^[0-9a-f]{32}$/i.test(text)) throw new Error(t('Secret, as 32 hexadecimal digits'));
  return Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
}

async function number(id, what) {
  const { value, bad } = await reads(library, what, $(id).value);
  if (bad) throw new Error(bad);
  return value;
}

/** What the fields say about the format. */
async function as() {
  const format = $('open-format').value;
  if (format !== 'gocrc32' && format !== 'clickhouse') return { format };
  const given = { format };
  if (format === 'gocrc32') {
    const capacity = await number('open-capacity', 'count');
    const fpr = await number('open-rate', 'rate');
    if (capacity) given.capacity = capacity;
    if (fpr) given.fpr = fpr;
    return given;
  }
  given.hashes = Number($('open-hashes').value) || 0;
  given.seed = Number($('open-seed').value) || 0;
  return given;
}

async function open() {
  const error = $('open-error');
  error.textContent = '';
  $('open-result').hidden = true;
  $('open-matches').replaceChildren();
  $('open-answer').textContent = '';
  shown = null;
  if (!file) {
    error.textContent = t('Choose a file first.');
    return;
  }
  try {
    const result = await withProgress($('open-progress'), library, 'open',
      { file, as: await as(), secret: secret() });
    shown = result;
    show();
  } catch (problem) {
    error.textContent = `${file.name}: ${complaint(problem)}`;
    if (problem.code === 'ESECRET') $('open-more').open = true;
  }
}

function pairs({ info, now }) {
  const list = [['kind', info.kind], ['format', info.format], ['layout', info.layout],
    ['hashes', info.hashes], ['seed', info.seed]];
  if (info.fingerprint !== '0') list.push(['keyed, fingerprint', info.fingerprint.padStart(16, '0')]);
  list.push(['size', sizeText(info.bytes)]);
  if (info.layers > 1) list.push(['layers', info.layers]);
  if (info.keysAdded) list.push(['bits per key', bitsText(info.bits / info.keysAdded)]);
  if (info.text) list.push(['as text', info.text]);
  list.push(['keys added', countText(info.keysAdded)],
    ['keys estimated', Number.isFinite(now.keys) ? countText(now.keys) : t('unknown: every bit is set')],
    ['fill', t('{0}% of the bits', (100 * (info.bits ? now.bitsSet / info.bits : 0)).toFixed(1))],
    ['rate now', rateText(now.rate)]);
  if (info.fpr > 0) list.push(['rate promised', rateText(info.fpr)]);
  if (info.capacity && info.kind === 'window') {
    list.push(['remembers the last', countText(info.capacity)]);
  } else if (info.capacity) {
    list.push(['planned for', countText(info.capacity)],
      ['room for', countText(now.room)]);
    if (now.overfull) list.push(['warning', t(now.beyondPlan ? 'it holds more keys than planned' : 'it exceeds the promised rate')]);
  }
  if (info.exceptions) list.push(['exceptions', countText(info.exceptions)]);
  if (info.outdated) list.push(['exceptions', t('keys were added later: build it again')]);
  list.push(['recipe', info.recipe]);
  for (const [name, value] of Object.entries(info.meta)) list.push([`${t('note')} ${name}`, value]);
  return list;
}

function show() {
  if (!shown) return;
  $('open-result').hidden = false;
  $('open-table').hidden = !shown.table;
  if (shown.table) showTable(shown.table);
  $('open-name').textContent = file.name;
  $('open-type').closest('label').hidden = !!shown.table;
  if (!shown.info) {
    facts($('open-info'), []);
    return;
  }
  facts($('open-info'), pairs(shown));
  picture(shown.fill);
}

function showTable({ system, count, places, faults }) {
  $('open-table-title').textContent = t('Table of {0}: {1} filters', system, countText(count));
  const select = $('open-place');
  const before = select.value;
  select.replaceChildren(...places.map((place) => {
    const where = system === 'parquet' ? t('row group {0}, {1}', place.first, place.column)
      : system === 'rocksdb' ? (place.end === place.first + 1 ? t('partition {0}', place.first) : t('the whole file'))
      : t('blocks {0} to {1}', countText(place.first), countText(place.end));
    const option = make('option', { value: place.i }, place.state === 0 ? where : `${where}: ${t('no filter')}`);
    option.disabled = place.state !== 0;
    return option;
  }));
  select.value = places.some((place) => String(place.i) === before) ? before
    : places.find((place) => place.state === 0)?.i ?? '';
  $('open-faults').replaceChildren(...faults.map((fault) => make('li', { lang: 'en' }, fault)));
}

/** One square for each part of the filter, darker where more bits are set; the fullest is darkest. */
function picture({ shares, unit }) {
  const canvas = $('open-fill');
  const columns = Math.min(64, Math.ceil(Math.sqrt(4 * shares.length)), shares.length);
  const rows = Math.ceil(shares.length / columns);
  const cell = Math.max(10, Math.floor(480 / columns));
  const height = Math.min(cell, 40);
  canvas.width = columns * cell;
  canvas.height = rows * height;
  const style = getComputedStyle(document.documentElement);
  const paint = canvas.getContext('2d');
  paint.fillStyle = style.getPropertyValue('--off');
  paint.fillRect(0, 0, canvas.width, canvas.height);
  paint.fillStyle = style.getPropertyValue('--accent');
  const most = Math.max(...shares) || 1;
  shares.forEach((share, i) => {
    paint.globalAlpha = share / most;
    paint.fillRect((i % columns) * cell, Math.floor(i / columns) * height, cell - 1, height - 1);
  });
  paint.globalAlpha = 1;
  const percent = (share) => `${(100 * share).toFixed(1)}%`;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const text = t(unit === 32 || unit === 64
    ? 'Each square is one block of {4} bits: {0} blocks, from {1} to {2} of the bits set, {3} on average.'
    : 'Each square is a part of the filter: {0} parts, from {1} to {2} of the bits set, {3} on average.',
  shares.length, percent(Math.min(...shares)), percent(Math.max(...shares)), percent(mean), 8 * unit);
  $('open-fill-text').textContent = text;
  canvas.setAttribute('aria-label', text);
}

async function ask(event) {
  event.preventDefault();
  const line = $('open-answer');
  const text = $('open-key').value;
  line.className = 'answer';
  try {
    const { has, parent, count, probes, kind } = await library.call('ask', { text, type: $('open-type').value });
    line.classList.add(has ? 'maybe' : 'no');
    line.replaceChildren(make('strong', {}, has
      ? t('"{0}" is in it, or a false positive (rate {1}).', text, rateText(shown.now.rate))
      : t('"{0}" is certainly not in it.', text)));
    if (parent) line.append(t(' What was found is its parent {0}.', parent));
    if (has && kind === 'counting') line.append(t(' It was added at most {0} times.', count));
    if (probes.length) {
      line.append(make('br'), make('small', { class: 'muted' },
        t(' Bits: {0}', probes.slice(0, 32).map(countText).join(' · ')), probes.length > 32 ? ' …' : ''));
    }
  } catch (error) {
    line.replaceChildren(complaint(error));
  }
}

async function askList(list) {
  const line = $('open-matches');
  line.replaceChildren();
  try {
    const { lines, missing, malformed, expects, hits, blob, ...odd } = await withProgress($('open-list-progress'), library, 'askList',
      { file: list, type: $('open-type').value });
    const link = make('a', { class: 'button' }, t('Download the matches'));
    downloads(link, blob, list.name.replace(/(\.[^.]*)?$/, '-matches$1'));
    line.append(t('{0} of {1} lines may be in the filter.', countText(hits), countText(lines)), ' ');
    if (missing) line.append(t('{0} do not have the part that is the key.', countText(missing)), ' ');
    if (malformed) line.append(t('{0} are not {1}.', countText(malformed), expects), ' ');
    line.append(oddities(odd), ' ');
    if (hits) line.append(link);
  } catch (error) {
    line.textContent = complaint(error);
  }
}

function choices() {
  const before = $('open-format').value;
  $('open-format').replaceChildren(make('option', { value: 'any' }, t('recognise it')),
    ...lists.formats.map((name) => make('option', { value: name }, name)));
  $('open-format').value = before || 'any';
  const type = $('open-type').value;
  $('open-type').replaceChildren(...lists.types.map((name) => make('option', { value: name }, name)));
  $('open-type').value = type || 'string';
}

export function startOpen(files, known) {
  library = files;
  choices();
  known.then((all) => {
    lists = all;
    choices();
  });
  takesFile($('open-drop'), $('open-file'), (given) => {
    file = given;
    open();
  });
  $('open-again').addEventListener('click', open);
  $('open-ask').addEventListener('submit', ask);
  takesFile($('open-list-drop'), $('open-list'), askList);
  $('open-place').addEventListener('change', async () => {
    try {
      shown = { ...shown, ...await library.call('choose', { place: Number($('open-place').value) }) };
      $('open-error').textContent = '';
      show();
    } catch (error) {
      $('open-error').textContent = complaint(error);
    }
  });
  language.changed.push(() => {
    choices();
    show();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
}
