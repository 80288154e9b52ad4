// SPDX-License-Identifier: MIT
//
// make.js - filters from text files

import { $, complaint, downloads, facts, language, make, oddities, t, takesFile, withProgress } from './shell.js';
import { bitsText, countText, keysText, rateText, reads, sizeText } from './quantity.js';

let library;
let file = null;
let shown = null;
let purposes = new Map(); // of kinds

async function field(id, what, help) {
  const { value, bad } = await reads(library, what, $(id).value);
  $(id).setAttribute('aria-invalid', !!bad);
  $(`${id}-hint`).textContent = bad ? `${bad}: ${t(help)}` : '';
  $(`${id}-hint`).classList.toggle('bad', !!bad);
  return bad ? NaN : value;
}

async function build(event) {
  event.preventDefault();
  const error = $('build-error');
  error.textContent = '';
  const fpr = await field('build-rate', 'rate', 'a rate, such as 1%, 0.001 or 1 in 10,000');
  const capacity = await field('build-keys', 'count', 'keys, such as 2e9, 10M or 2 billion');
  if (Number.isNaN(fpr) || Number.isNaN(capacity)) return;
  if (!file) {
    error.textContent = t('Choose a file first.');
    return;
  }
  const kind = $('build-kind').value;
  const never = $('build-never').files[0];
  const crlf = $('build-crlf').checked;
  $('build-result').hidden = true;
  try {
    const result = await withProgress($('build-progress'), library, 'build',
      { file, never, kind, fpr: fpr ?? 0.01, capacity, crlf });
    shown = { ...result, kind, crlf, never: never?.name, name: file.name.replace(/\.[^.]*$/, '') + '.umb', from: file.name,
      fpr: fpr ?? 0.01, capacity };
    downloads($('build-download'), result.blob, shown.name);
    show();
  } catch (problem) {
    error.textContent = complaint(problem);
  }
}

/** As a shell reads it. */
function quoted(name) {
  return /^[\w.@%+=:,-]+$/.test(name) ? name : `'${name.replaceAll('\'', '\'\\\'\'')}'`;
}

function show() {
  if (!shown) return;
  const { info, now, lines } = shown;
  $('build-result').hidden = false;
  facts($('build-info'), [['lines', countText(lines)], ['kind', info.kind],
    ['Keys', keysText(now)], ['size', sizeText(info.bytes)],
    ['bits per key', info.keysAdded ? bitsText(info.bits / info.keysAdded) : '0'],
    ['rate now', rateText(now.rate)], ['rate promised', rateText(info.fpr)],
    ...(shown.never ? [['exceptions', countText(info.exceptions)]] : [])]);
  $('build-download').textContent = t('Download {0}', shown.name);
  const kind = shown.kind === 'auto' ? '' : ` --kind ${shown.kind}`;
  $('build-odd').textContent = oddities(shown);
  const crlf = shown.crlf ? ' --crlf' : '';
  const keys = shown.capacity ? ` -n ${shown.capacity}` : '';
  const never = shown.never ? ` --never ${quoted(shown.never)}` : '';
  $('build-command').textContent =
    `umbel build${kind}${crlf}${keys} -p ${shown.fpr}${never} -o ${quoted(shown.name)} ${quoted(shown.from)}`;
}

function purpose() {
  $('build-keys').placeholder = t('as many as there are lines');
  $('build-purpose').textContent = t(purposes.get($('build-kind').value) ?? 'blocked or line, or classic where that is at least a quarter smaller: what the command makes');
}

export function startBuild(files, known) {
  library = files;
  known.then(({ about }) => {
    purposes = new Map(about.map((one) => [one.kind, one.purpose]));
    const made = about.filter(({ kind }) => kind !== 'exact'); // of which one list is not enough
    $('build-kind').append(...made.map(({ kind }) => make('option', { value: kind }, kind)));
  });
  $('build-kind').replaceChildren(make('option', { value: 'auto' }, 'auto'));
  $('build-kind').addEventListener('change', purpose);
  $('build-form').addEventListener('submit', build);
  takesFile($('build-drop'), $('build-file'), (given) => {
    file = given;
    $('build-drop').querySelector('.drop-text').replaceChildren(
      make('strong', {}, given.name), ` (${sizeText(given.size)})`);
  });
  language.changed.push(() => {
    purpose();
    show();
  });
  purpose();
}
