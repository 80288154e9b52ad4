// SPDX-License-Identifier: MIT
//
// shell.js - what all parts of the page use: elements, languages, workers, files

import { chinese } from './texts.js';

export const $ = (id) => document.getElementById(id);

/** An element with attributes and children. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export function draw(name, attributes = {}, text = '') {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

// ---- Languages ----

export const language = { now: 'en', changed: [] };

/** The text in the language of the page, with {0}, {1} ... filled in. */
export function t(text, ...parts) {
  const found = language.now === 'zh' ? chinese[text] ?? text : text;
  return found.replace(/\{(\d)\}/g, (_, i) => parts[i]);
}

export function speak(now) {
  language.now = now;
  document.documentElement.lang = now;
  document.title = t('umbel: Bloom filters');
  for (const element of document.querySelectorAll('[data-t]')) {
    element.dataset.english ??= element.textContent;
    element.textContent = t(element.dataset.english);
  }
  for (const element of document.querySelectorAll('[data-t-label]')) {
    element.dataset.english ??= element.getAttribute('aria-label');
    element.setAttribute('aria-label', t(element.dataset.english));
  }
  $('language').textContent = now === 'zh' ? 'English' : '中文';
  $('language').lang = now === 'zh' ? 'en' : 'zh';
  for (const tell of language.changed) tell();
}

// ---- Workers ----

/** What is embedded in this page as base64. */
function inline(id) {
  return Uint8Array.from(atob($(id).textContent), (char) => char.charCodeAt(0));
}

/** The module's bytes: packed, together with what unpacks them, or in a file of the site. */
let loading;
async function moduleBytes() {
  // It follows this script, so that compressed texts do not take turns with its base64.
  if (document.readyState === 'loading') await new Promise((done) => addEventListener('DOMContentLoaded', done));
  if (!$('wasm')) return { wasm: await (await fetch('umbel.wasm')).arrayBuffer() };
  return { wasm: inline('wasm'), unpacker: inline('unpacker'), size: Number($('wasm').dataset.size) };
}

function workerAddress() {
  const inline = $('worker');
  if (!inline) return 'worker.js';
  return URL.createObjectURL(new Blob([inline.textContent], { type: 'text/javascript' }));
}

/** The library in a separate worker, which starts with the first call. */
export class Library {
  #worker;
  #ready;
  #waiting = new Map();
  #last = 0;

  #start() {
    loading ??= moduleBytes();
    this.#worker = new Worker(workerAddress());
    this.#worker.onmessage = ({ data }) => this.#answer(data);
    return loading.then((module) => this.#worker.postMessage(module));
  }

  #answer({ id, result, error, progress }) {
    const call = this.#waiting.get(id);
    if (progress !== undefined) {
      call.progress?.(progress);
      return;
    }
    this.#waiting.delete(id);
    if (error) call.reject(Object.assign(new Error(error.message), error));
    else call.resolve(result);
  }

  /** A promise of the answer; its `id` cancels the call. */
  call(name, args = {}, progress = undefined) {
    const id = ++this.#last;
    const promise = (this.#ready ??= this.#start()).then(() => new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, progress });
      this.#worker.postMessage({ id, call: name, args });
    }));
    promise.id = id;
    return promise;
  }

  cancel(id) {
    this.#worker.postMessage({ cancel: id });
  }
}

/** Runs a call that reads a file, with its progress bar and its button to cancel. */
export async function withProgress(box, library, name, args) {
  const bar = box.querySelector('progress');
  const button = box.querySelector('button');
  const call = library.call(name, args, (share) => { bar.value = share; });
  bar.value = 0;
  box.hidden = false;
  button.onclick = () => library.cancel(call.id);
  try {
    return await call;
  } finally {
    box.hidden = true;
  }
}

/** What went wrong, for people. */
export function complaint(error) {
  return error.cancelled ? t('cancelled') : error.message;
}

/** What cannot be seen in a list's lines but is part of their keys, in sentences. */
export function oddities({ returns, marks, nuls }) {
  return [
    returns && t('{0} lines end in a carriage return, which is part of their keys.', returns.toLocaleString('en-US')),
    marks && t('A byte-order mark is part of the first key.'),
    nuls && t('The first lines have NULs, which are part of their keys.'),
  ].filter(Boolean).join(' ');
}

// ---- Files ----

/** A place to choose a file or drop it; `use` gets the file, also when the same comes again. */
export function takesFile(drop, input, use) {
  input.addEventListener('change', () => {
    if (input.files[0]) use(input.files[0]);
  });
  input.addEventListener('click', () => { input.value = ''; });
  for (const name of ['dragenter', 'dragover']) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add('over');
    });
  }
  for (const name of ['dragleave', 'drop']) {
    drop.addEventListener(name, () => drop.classList.remove('over'));
  }
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) use(event.dataTransfer.files[0]);
  });
}

/** Makes a link a download of these bytes. */
export function downloads(link, blob, name) {
  if (link.href.startsWith('blob:')) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(blob);
  link.download = name;
}

export function facts(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([name, value]) =>
    [make('dt', {}, t(name)), make('dd', {}, String(value))]));
}
