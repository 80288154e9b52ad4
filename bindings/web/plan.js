// SPDX-License-Identifier: MIT
//
// plan.js - the planner: three fields, a sentence, curves, the table of kinds

import { $, draw, language, make, t } from './shell.js';
import { because, bitsText, countText, rateText, sizeText } from './quantity.js';

const BITS = [1, 64];
const LOWEST = 1e-8;
const POINTS = 56;
const USUAL_RATE = 0.01;
const box = { left: 78, right: 0, top: 14, bottom: 370 }; // right: as wide as there is room

const fields = [
  { name: 'keys', of: 'capacity', what: 'count', say: countText, help: 'keys, such as 2e9, 10M or 2 billion' },
  { name: 'rate', of: 'fpr', what: 'rate', say: rateText, help: 'a rate, such as 1%, 0.001 or 1 in 10,000' },
  { name: 'memory', of: 'bytes', what: 'size', say: sizeText, help: 'memory, such as 500 MB, 64 MiB or 2G' },
];

let library;
let changed;
let turn = 0;
let drawn; // the chart, for redrawing at another width
let kinds = []; // of filters, in the legend
let reasons = []; // why fields cannot be read
let shown; // what is on the page now, to be shown again in another language

/** What is written in the fields: {keys: '2e9', ...}. */
export function planState() {
  return Object.fromEntries(fields.map(({ name }) => [name, $(`plan-${name}`).value.trim()])
    .filter(([, text]) => text));
}

export function setPlan(state) {
  for (const { name } of fields) $(`plan-${name}`).value = state[name] ?? '';
  return solve();
}

/** Says under each field what is wrong with it. */
function tell(read) {
  reasons = [];
  for (const [i, { name, help }] of fields.entries()) {
    const input = $(`plan-${name}`);
    const hint = $(`plan-${name}-hint`);
    const bad = read[i].bad && because(input.value.trim(), read[i].bad);
    input.setAttribute('aria-invalid', !!bad);
    hint.classList.toggle('bad', !!bad);
    hint.textContent = bad ? `${bad}: ${t(help)}` : '';
    input.placeholder = '';
    if (bad) reasons.push(bad);
  }
}

/** The answer first, all of it in one call; the curves take longer. */
async function solve() {
  const mine = ++turn;
  $('plan-sentence').ariaBusy = true;
  const asked = fields.map(({ name, what, of }) => ({ what, of, text: $(`plan-${name}`).value.trim() }));
  const { read, ...answer } = await library.call('solve', { fields: asked, usual: USUAL_RATE });
  if (mine !== turn) return;
  tell(read);
  if (answer.given) {
    const capacity = answer.given.capacity ?? best(answer.given, answer.plans, false)?.capacity ?? 1e6;
    show({ ...answer, capacity });
    const curves = await library.call('curves', { capacity, from: BITS[0], to: BITS[1], points: POINTS });
    if (mine !== turn) return;
    chart({ ...shown, curves });
  } else {
    show(null);
  }
  $('plan-sentence').ariaBusy = false;
}

function best(given, plans, adding) {
  const better = given.capacity && given.bytes ? (a, b) => a.rate < b.rate
    : given.capacity ? (a, b) => a.bytes < b.bytes : (a, b) => a.capacity > b.capacity;
  let found = null;
  for (const plan of plans.kinds) {
    if (!plan.possible || (adding && plan.builtOnce)) continue;
    if (!found || better(plan, found)) found = plan;
  }
  return found;
}

/** In bytes if two sizes would otherwise look the same. */
function sizeBeside(bytes, other) {
  const text = sizeText(bytes);
  return text === sizeText(other) ? `${countText(bytes)} bytes` : text;
}

/** The sentences that the command prints: what is, and what else could be. */
function sentence({ given: { capacity, fpr, bytes }, plans, need, hold }) {
  if (!bytes) {
    const bits = -Math.log2(fpr);
    return [[t('{0} keys at a false-positive rate of {1}: no filter of any kind can take less than {2} ({3} bits per key).',
      countText(capacity), rateText(fpr), sizeText(Math.ceil(bits * capacity / 8)), bits.toFixed(2))]];
  }
  if (!capacity) {
    return [[t('{0} at a false-positive rate of {1}: no filter of any kind can hold more than {2} keys.',
      sizeText(bytes), rateText(fpr), countText(Math.floor(8 * bytes / -Math.log2(fpr))))]];
  }
  const bits = 8 * bytes / capacity;
  const first = best({ capacity, bytes }, plans, false);
  const open = best({ capacity, bytes }, plans, true);
  const wanted = fpr ?? USUAL_RATE;
  const said = [
    t('{0} keys in {1} is {2} bits per key.', countText(capacity), sizeText(bytes), bitsText(bits)),
    t('No filter of any kind can have a false-positive rate below {0} there.', rateText(2 ** -bits)),
  ];
  if (first) said.push(t('Of the kinds here, {0} gets {1}.', first.kind, rateText(first.rate)));
  if (open && open !== first) {
    said.push(t('If keys must be added later, {0} gets {1}.', open.kind, rateText(open.rate)));
  }
  if (first && first.rate <= wanted) {
    if (fpr) said.push(t('{0} is possible.', rateText(fpr)));
    return [said];
  }
  said.push(t(2 ** -bits > wanted ? 'No filter of any kind can reach {0} in that space.'
    : 'None of the kinds here reaches {0} in that space.', rateText(wanted)));
  const others = [];
  for (const name of ['tight', 'classic']) {
    const [takes, holds] = [need, hold].map((plans) => plans?.find(({ kind }) => kind === name));
    if (takes?.possible) {
      others.push(t('With {0}, these keys take {1} at {2}.', name, sizeBeside(takes.bytes, bytes), rateText(wanted)));
    }
    if (holds?.possible) {
      others.push(t('With {0}, {1} holds {2} keys at {3}.', name, sizeText(bytes), countText(holds.capacity),
        rateText(wanted)));
    }
  }
  return [said, others];
}

function show(result) {
  shown = result;
  changed();
  lines(result);
  const line = $('plan-sentence');
  const body = $('plan-table').tBodies[0];
  line.classList.toggle('bad', !!result && !result.plans.kinds.some(({ possible }) => possible));
  if (!result) {
    $('plan-answer').replaceChildren();
    line.textContent = reasons.length ? `${reasons.join('. ')}.` : t('Fill in two of the three.');
    line.classList.toggle('bad', reasons.length > 0);
    body.replaceChildren();
    chart(null);
    return;
  }
  const space = language.now === 'zh' ? '' : ' ';
  line.replaceChildren(...sentence(result).map((said, i) =>
    make('span', { class: i ? 'small muted' : '' }, (i ? space : '') + said.join(space))));
  answers(result);
  $('plan-answer').replaceChildren(...figures(result));
  body.replaceChildren(...result.plans.kinds.map((plan) => row(plan, result.plans.chosen)));
  chart(result);
}

/** The filter that would be made, in five figures; what was asked for stands out. */
function figures({ given, plans: { chosen } }) {
  if (!chosen.possible) return [];
  const asked = fields.find(({ of }) => given[of] === undefined)?.of ?? 'fpr';
  return [['capacity', 'Keys', countText(chosen.capacity)], ['bytes', 'Size', sizeText(chosen.bytes)],
    ['fpr', 'How often it is wrong', rateText(chosen.rate)], ['', 'Bits per key', bitsText(chosen.bitsPerKey)],
    ['', 'Hashes', String(chosen.hashes)], ['', 'Kind', chosen.kind]]
    .sort(([a], [b]) => (b === asked) - (a === asked))
    .map(([of, name, text]) => make('div', { class: of === asked ? 'asked' : '' }, make('dt', {}, t(name)), make('dd', {}, text)));
}

/** The lines that make the filter: what was asked for, as keys and either memory or a rate. */
function programs({ given, plans: { chosen } }) {
  const keys = given.capacity ?? chosen.capacity;
  const [letter, field, value] = given.capacity && given.bytes ? ['m', 'bytes', given.bytes] : ['p', 'fpr', given.fpr];
  return [['Command', `umbel build -n ${keys} -${letter} ${value} -o keys.umb keys.txt`],
    ['C', letter === 'p' ? `umbel_filter *seen = umbel_new(${keys}, ${value});`
      : `umbel_create(&(umbel_params){.capacity = ${keys}, .bytes = ${value}}, NULL, &seen, NULL);`],
    ['Python', `seen = umbel.Filter(${keys}, ${field}=${value})`],
    ['Node', `const seen = Filter.create({ capacity: ${keys}, ${field}: ${value} });`]];
}

function lines(result) {
  const possible = !!result?.plans.chosen.possible;
  $('plan-take').hidden = !possible;
  $('plan-lines').replaceChildren(...(possible ? programs(result) : []).flatMap(([name, text]) => {
    const button = make('button', { type: 'button', class: 'quiet', 'aria-label': t('Copy: {0}', t(name)) }, t('Copy'));
    button.addEventListener('click', () => copy(text, t('select it'), button));
    return [make('dt', {}, t(name)), make('dd', {}, make('code', {}, text), button)];
  }));
}

/** Into the clipboard; where that is not allowed, says what to do instead. */
async function copy(text, otherwise, place) {
  try {
    await navigator.clipboard.writeText(text);
    place.textContent = t('copied');
  } catch {
    place.textContent = otherwise;
  }
}

/** The answer as the placeholder of the field that was left empty. */
function answers({ given, plans: { chosen } }) {
  for (const { name, of, say } of fields) {
    const input = $(`plan-${name}`);
    const hint = $(`plan-${name}-hint`);
    if (given[of] === undefined && chosen.possible) {
      const value = of === 'fpr' ? chosen.rate : chosen[of];
      input.placeholder = say(value);
      hint.textContent = chosen.kind;
    } else if (given[of] !== undefined) {
      hint.textContent = say(given[of]);
    }
  }
}

function row(plan, chosen) {
  const head = make('th', { scope: 'row', role: 'rowheader', class: `k${plan.colour}` }, make('i'));
  head.append(make('span', { class: 'name' }, plan.kind));
  const own = chosen.possible && chosen.kind === plan.kind;
  if (own) head.append(make('span', { class: 'tag' }, t('the default choice')));
  if (!plan.possible) {
    const why = make('td', { colspan: '6', class: 'why', role: 'cell' }, t('impossible: {0}', plan.why));
    return make('tr', { role: 'row' }, head, why);
  }
  const cells = [['Keys', countText(plan.capacity)], ['Memory', sizeText(plan.bytes)],
    ['Bits per key', bitsText(plan.bitsPerKey)], ['Hashes', plan.hashes], ['Rate', rateText(plan.rate)]]
    .map(([name, text]) => make('td', { class: 'n', role: 'cell', 'data-label': t(name) }, String(text)));
  return make('tr', { role: 'row', class: own ? 'best' : '' }, head, ...cells,
    make('td', { class: 'can', role: 'cell' }, t(plan.purpose)));
}

// ---- Chart ----

const x = (bits) => box.left + (box.right - box.left) * Math.log2(bits / BITS[0]) / Math.log2(BITS[1] / BITS[0]);
const y = (rate) => box.top + (box.bottom - box.top) * Math.log10(rate) / Math.log10(LOWEST);

function axes(svg) {
  for (let power = 0; power >= -8; power--) {
    const at = y(10 ** power);
    svg.append(draw('line', { class: 'grid', x1: box.left, x2: box.right, y1: at, y2: at }));
    if (power % 2 === 0) {
      svg.append(draw('text', { x: box.left - 8, y: at + 5, 'text-anchor': 'end' },
        power >= -4 ? rateText(10 ** power) : `10⁻${'⁰¹²³⁴⁵⁶⁷⁸'[-power]}`));
    }
  }
  for (let bits = BITS[0]; bits <= BITS[1]; bits *= 2) {
    const at = x(bits);
    svg.append(draw('line', { class: 'grid', x1: at, x2: at, y1: box.top, y2: box.bottom }));
    svg.append(draw('text', { x: at, y: box.bottom + 20, 'text-anchor': 'middle' }, String(bits)));
  }
  svg.append(draw('text', { x: (box.left + box.right) / 2, y: box.bottom + 44, 'text-anchor': 'middle' },
    t('bits per key')));
  const middle = (box.top + box.bottom) / 2;
  svg.append(draw('text', { x: 14, y: middle, 'text-anchor': 'middle', transform: `rotate(-90 14 ${middle})` },
    t('false-positive rate')));
}

function path(points) {
  return points.map(([bits, rate], i) => `${i ? 'L' : 'M'}${x(bits).toFixed(1)} ${y(rate).toFixed(1)}`).join('');
}

function boundOf(svg) {
  const points = [];
  for (let i = 0; i <= 60; i++) {
    const bits = BITS[0] * (BITS[1] / BITS[0]) ** (i / 60);
    points.push([bits, 2 ** -bits]);
  }
  const line = path(points);
  const clip = 'url(#plan-clip)';
  svg.append(draw('path', { class: 'below', 'clip-path': clip, d: `${line}L${box.left} ${y(2 ** -BITS[1])}Z` }));
  svg.append(draw('path', { class: 'bound', 'clip-path': clip, d: line }));
}

/** What lies below the picture is cut off. */
function clipping(svg) {
  const clip = draw('clipPath', { id: 'plan-clip' });
  clip.append(draw('rect', { x: box.left, y: box.top - 3, width: box.right - box.left, height: box.bottom - box.top + 3 }));
  svg.append(clip);
}

function chart(result) {
  drawn = result;
  const svg = $('plan-chart');
  const title = $('plan-chart-title');
  const width = Math.max(300, svg.parentElement.clientWidth - 40);
  svg.setAttribute('viewBox', `0 0 ${width} 425`);
  box.right = width - 14;
  svg.replaceChildren(title);
  clipping(svg);
  boundOf(svg);
  axes(svg);
  title.textContent = t('Rate over bits per key for {0} keys, one curve per kind; the figures are in the table below.',
    countText(result?.capacity ?? 1e6));
  if (!result) return;
  for (const { kind, colour, curve } of result.curves ?? []) {
    svg.append(draw('path', { class: `curve k${colour}`, 'data-kind': kind, 'clip-path': 'url(#plan-clip)', d: path(curve) }));
  }
  const { capacity, fpr, bytes } = result.given;
  const across = { class: 'guide', x1: box.left, x2: box.right, y1: y(fpr), y2: y(fpr) };
  if (fpr >= LOWEST) svg.append(draw('line', across));
  const share = capacity && bytes ? 8 * bytes / capacity : 0;
  const down = { class: 'guide', x1: x(share), x2: x(share), y1: box.top, y2: box.bottom };
  if (share >= BITS[0] && share <= BITS[1]) svg.append(draw('line', down));
  for (const plan of result.plans.kinds) {
    const bits = plan.bitsPerKey;
    if (!plan.possible || bits < BITS[0] || bits > BITS[1] || plan.rate < LOWEST) continue;
    const dot = draw('circle', { class: `dot k${plan.colour}`, cx: x(bits), cy: y(plan.rate), r: 6 });
    dot.append(draw('title', {}, `${plan.kind}: ${bitsText(bits)}, ${rateText(plan.rate)}`));
    svg.append(dot);
  }
}

/** What the curves are, once the library has said which kinds there are. */
export function nameKinds({ about }) {
  kinds = about;
  legend();
}

function legend() {
  $('plan-legend').replaceChildren(
    ...kinds.map(({ kind, colour }) => make('li', {}, make('i', { class: `key-line k${colour}` }), kind)),
    make('li', {}, make('i', { class: 'key-line dashed' }), t('bound: nothing can be below')));
}

export function startPlan(planner, moved) {
  library = planner;
  changed = moved;
  $('plan-form').addEventListener('input', solve);
  $('plan-form').addEventListener('submit', (event) => event.preventDefault());
  for (const button of document.querySelectorAll('#plan-form .chip')) {
    button.addEventListener('click', () => setPlan(button.dataset));
  }
  new ResizeObserver(() => chart(drawn)).observe($('plan-chart').parentElement);
  $('plan-copy').addEventListener('click', () =>
    copy(location.href, t('the address is in the address bar'), $('plan-copied')));
  language.changed.push(() => {
    legend();
    solve();
  });
  legend();
}
