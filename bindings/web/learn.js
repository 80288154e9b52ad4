// SPDX-License-Identifier: MIT
//
// learn.js - a filter small enough to be looked at

import { $, draw, language, make, t } from './shell.js';
import { countText, rateText } from './quantity.js';

const CELL = 20;
const WORDS_SHOWN = 300;
const stories = {
  classic: '256 lights, four per word, anywhere.',
  blocked: 'Two blocks of 256 lights. A word goes to one block and lights one lamp in each of its eight rows: one access to memory.',
  counting: 'As blocked, with a counter from 0 to 15 in place of each light, so that words can be taken out again. Click a word to remove it.',
  leveldb: '256 lights, six per word, all from one 32-bit hash, as the database LevelDB does it.',
};

let library;
let keys = [];
let history = [0];
let model = 'classic';
let from = 0;
let turn = 0;
let cells = [];
let frames = [];
let step = -1; // how much of a lookup is shown: -1 all of it, 0 the word, 1 its hash, then light by light

/** Lights per row, and rows per block; a counting filter has four bits per counter. */
function shape() {
  const blocked = model === 'blocked' || model === 'counting';
  return { columns: blocked ? 32 : 16, rows: blocked ? 8 : 0, unit: model === 'counting' ? 4 : 1 };
}

function lay(bits) {
  const { columns, rows, unit } = shape();
  const lights = bits / unit;
  const svg = $('learn-bits');
  if (cells.length === lights && svg.dataset.model === model) return;
  svg.dataset.model = model;
  svg.replaceChildren($('learn-bits-title'));
  cells = [];
  frames = [];
  const gap = 14;
  const lines = lights / columns;
  const height = lines * CELL + (rows ? (lines / rows - 1) * gap : 0);
  svg.setAttribute('viewBox', `-4 -4 ${columns * CELL + 8} ${height + 8}`);
  for (let i = 0; i < lights; i++) {
    const line = Math.floor(i / columns);
    const x = (i % columns) * CELL;
    const y = line * CELL + (rows ? Math.floor(line / rows) * gap : 0);
    const light = draw('rect', { class: 'cell', x: x + 1.5, y: y + 1.5, width: CELL - 3, height: CELL - 3, rx: 4 });
    svg.append(light);
    let count = null;
    if (unit > 1) {
      count = draw('text', { class: 'cell-count', x: x + CELL / 2, y: y + CELL / 2 + 4 });
      svg.append(count);
    }
    cells.push({ light, count });
  }
  for (let block = 0; rows && block < lines / rows; block++) {
    const frame = draw('rect', { class: 'frame', x: -3, y: block * (rows * CELL + gap) - 3, width: columns * CELL + 6, height: rows * CELL + 6, rx: 7 });
    svg.append(frame);
    frames.push(frame);
  }
}

async function refresh() {
  const mine = ++turn;
  const key = $('learn-ask').value;
  const seen = await library.call('look', { model, keys, key: key || undefined });
  if (mine !== turn) return;
  const { unit, columns, rows } = shape();
  lay(seen.bits);
  const counts = new Array(seen.bits / unit).fill(0);
  for (const own of seen.own) for (const bit of new Set(own)) counts[bit / unit]++;
  const lights = (seen.answer?.probes ?? []).map((bit) => bit / unit);
  const asked = new Set(step < 0 ? lights : lights.slice(0, Math.max(0, step - 1)));
  cells.forEach(({ light, count }, i) => {
    const now = asked.has(i) ? (counts[i] ? 'yes' : 'no') : counts[i] ? 'on' : '';
    light.setAttribute('class', `cell ${now}`);
    if (count) count.textContent = counts[i] ? Math.min(counts[i], 15) : '';
  });
  frames.forEach((frame, block) => {
    const hit = [...asked].some((light) => Math.floor(light / (columns * rows)) === block);
    frame.setAttribute('class', hit ? 'frame hit' : 'frame');
  });
  steps(key, seen.answer, lights, counts);
  answer(key, step < 0 ? seen.answer : undefined, unit);
  figures(seen, counts);
}

/** One lookup as it happens: bytes, hash, light after light, until one is off or all were on. */
function steps(key, found, lights, counts) {
  const list = $('learn-steps');
  list.replaceChildren();
  if (step < 0 || !found) return;
  const bytes = [...new TextEncoder().encode(key)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const says = (...parts) => list.append(make('li', {}, ...parts));
  says(t('The word as bytes: '), make('code', {}, bytes));
  if (step > 0) says(t('Its hash, always the same for the same word: '), make('code', {}, found.hash));
  const { columns } = shape();
  for (const [i, light] of lights.slice(0, Math.max(0, step - 1)).entries()) {
    const where = t('Light {0} (row {1}, column {2}), from the hash: ', light, Math.floor(light / columns) + 1, light % columns + 1);
    says(where, make('strong', { class: counts[light] ? 'is-on' : 'is-off' }, counts[light] ? t('on') : t('off')));
    const left = lights.length - i - 1;
    if (!counts[light] && left) says(t('One light is off: that settles it, the other {0} need not be looked at.', left));
    if (!counts[light]) break;
  }
}

/** The next step; after the last the whole answer. */
async function next() {
  if (!$('learn-ask').value) $('learn-ask').value = keys[0] ?? 'apple';
  const seen = await library.call('look', { model, keys, key: $('learn-ask').value });
  const on = new Set(seen.own.flat());
  const off = seen.answer.probes.findIndex((bit) => !on.has(bit));
  const last = 1 + (off < 0 ? seen.answer.probes.length : off + 1);
  step = step >= last ? -1 : step + 1;
  $('learn-step').textContent = step < 0 ? t('Step by step') : step >= last ? t('The answer') : t('Next step');
  await refresh();
}

function answer(key, found, unit) {
  const line = $('learn-answer');
  line.className = 'answer';
  line.replaceChildren();
  if (!found) return;
  const added = keys.includes(key);
  const [state, word, text] = !found.has
    ? ['no', 'No: ', 'at least one of its lights is off, so "{0}" was certainly never added.']
    : added ? ['maybe', 'Perhaps: ', 'all of its lights are on. "{0}" was indeed added.']
      : ['fooled', 'Fooled: ', 'all of its lights are on, but "{0}" was never added. Other words lit them: a false positive.'];
  line.classList.add(state);
  line.append(make('strong', {}, t(word)), t(text, key), make('br'),
    make('small', { class: 'muted' }, t('Its hash: '), make('code', {}, found.hash),
      t('; its lights: '), found.probes.map((bit) => bit / unit).join(', ')));
}

function figures({ rate }, counts) {
  const on = counts.filter((count) => count > 0).length;
  const share = on / counts.length;
  $('learn-fill').value = share;
  $('learn-fill-text').textContent = `${(100 * share).toFixed(1)}%`;
  $('learn-rate').value = rate;
  $('learn-rate-text').textContent = rateText(rate);
  $('learn-bits-title').textContent = t('{0} of {1} lights are on', on, counts.length);
  history[keys.length] = rate;
  history.length = keys.length + 1;
  const svg = $('learn-history');
  const title = $('learn-history-title');
  title.textContent = t('The rate rose to {0} with {1} words', rateText(rate), keys.length);
  $('learn-history-text').textContent = title.textContent;
  svg.replaceChildren(title);
  const most = Math.max(...history.filter((value) => value !== undefined), 1e-9);
  const points = [];
  history.forEach((value, i) => {
    points.push(`${points.length ? 'L' : 'M'}${(400 * i / Math.max(history.length - 1, 1)).toFixed(1)} ${(86 - 80 * value / most).toFixed(1)}`);
  });
  svg.append(draw('path', { class: 'history', d: points.join('') }));
}

function list() {
  $('learn-keys').replaceChildren(...keys.slice(0, WORDS_SHOWN).map((key) => {
    if (model !== 'counting') return make('li', {}, key);
    const button = make('button', { type: 'button', class: 'chip', 'aria-label': t('Remove {0}', key) }, key);
    button.addEventListener('click', () => {
      keys = keys.filter((other) => other !== key);
      changed();
    });
    return make('li', {}, button);
  }));
}

function changed() {
  step = -1;
  $('learn-step').textContent = t('Step by step');
  list();
  return refresh();
}

function add(words) {
  for (const word of words) if (word && !keys.includes(word)) keys.push(word);
  return changed();
}

async function fool() {
  const { word, tried } = await library.call('mistake', { model, keys, from: from + 100000 });
  if (!word) {
    const line = $('learn-answer');
    line.className = 'answer';
    line.textContent = t('No word fooled it in {0} tries: it is nearly empty. Add some words first.', countText(tried));
    return;
  }
  $('learn-ask').value = word;
  await refresh();
  $('learn-answer').querySelector('small').append(` (${t('after {0} tries', countText(tried))})`);
}

async function more() {
  const words = await library.call('words', { from, count: 10 });
  from += 10;
  for (const word of words) await add([word]);
}

function story() {
  $('learn-model').textContent = t(stories[model]);
}

export function startLearn(planner) {
  library = planner;
  for (const input of document.getElementsByName('model')) {
    input.addEventListener('change', () => {
      model = input.value;
      history = [0];
      story();
      changed();
    });
  }
  $('learn-add').addEventListener('submit', (event) => {
    event.preventDefault();
    add([$('learn-word').value]);
    $('learn-word').value = '';
  });
  $('learn-ask').addEventListener('input', () => {
    step = -1;
    $('learn-step').textContent = t('Step by step');
    refresh();
  });
  $('learn-step').addEventListener('click', next);
  $('learn-mistake').addEventListener('click', fool);
  $('learn-more').addEventListener('click', more);
  $('learn-clear').addEventListener('click', () => {
    keys = [];
    history = [0];
    from = 0;
    $('learn-ask').value = '';
    changed();
  });
  language.changed.push(() => {
    story();
    changed();
  });
  story();
  add(['apple', 'pear', 'plum']);
}
