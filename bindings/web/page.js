// SPDX-License-Identifier: MIT
//
// page.js - which part of the page is shown, what the address says, and the two workers

import { $, language, Library, speak } from './shell.js';
import { nameKinds, planState, setPlan, startPlan } from './plan.js';
import { startLearn } from './learn.js';
import { startOpen } from './open.js';
import { startBuild } from './make.js';

const views = ['plan', 'learn', 'open', 'build'];
let view = '';
let written = ''; // by this page, so that it is not read again

/** #plan?keys=2e9&memory=500+MB&lang=zh */
function address() {
  const query = new URLSearchParams(view === 'plan' ? planState() : {});
  if (language.now !== 'en') query.set('lang', language.now);
  const text = query.toString();
  return `#${view}${text ? `?${text}` : ''}`;
}

function write() {
  written = address();
  if (location.hash !== written) history.replaceState(null, '', written);
}

function show(name, focus) {
  if (name === view) return;
  view = name;
  for (const other of views) {
    $(`view-${other}`).hidden = other !== name;
    const link = document.querySelector(`nav a[data-view=${other}]`);
    if (other === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.querySelector('nav [aria-current]').scrollIntoView({ inline: 'center', block: 'nearest' });
  if (focus) {
    window.scrollTo(0, 0);
    $('main').focus({ preventScroll: true });
  }
}

/** The part, the plan and the language that the address names. */
function read(first) {
  if (!first && location.hash === written) return;
  const [name, query] = location.hash.slice(1).split('?');
  if (name === 'main') {
    history.replaceState(null, '', address());
    $('main').focus();
    return;
  }
  const state = Object.fromEntries(new URLSearchParams(query));
  const wanted = state.lang ?? (first && navigator.language.startsWith('zh') ? 'zh' : language.now);
  show(views.includes(name) ? name : 'plan', !first);
  if (first || wanted !== language.now) speak(wanted === 'zh' ? 'zh' : 'en');
  const given = ['keys', 'rate', 'memory'].some((field) => state[field]);
  if (view === 'plan' && (given || !Object.keys(planState()).length)) {
    setPlan(given ? state : { keys: '1 million', rate: '1%' });
  }
  write();
}

const planner = new Library();
const files = new Library();
startPlan(planner, () => { if (view === 'plan') write(); });
read(true); // the library is first asked for the plan
const lists = planner.call('lists');
lists.then(nameKinds);
startLearn(planner);
startOpen(files, lists);
startBuild(files, lists);
planner.call('version').then((version) => { $('version').textContent = `umbel ${version}`; });
$('language').addEventListener('click', () => {
  speak(language.now === 'zh' ? 'en' : 'zh');
  write();
});
window.addEventListener('hashchange', () => read(false));
// A file dropped outside its target must not replace the page.
for (const name of ['dragover', 'drop']) {
  window.addEventListener(name, (event) => event.preventDefault());
}
