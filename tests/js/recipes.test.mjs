// SPDX-License-Identifier: MIT
//
// recipes.test.mjs - how records become keys: every row of the golden table, and what filters keep

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { built, golden, hex } from './support.mjs';

const { Filter, Recipe, UmbelError } = await import(built);

function bytes(text) {
  return text === 'empty' ? new Uint8Array() : hex(text);
}

for (const name of ['fields', 'csv', 'json', 'meanings', 'hosts']) {
  test(`golden: ${name}`, () => {
    const rows = golden(`recipes/${name}.tsv`).slice(1);
    assert.ok(rows.length > 100);
    for (const [text, use, header, record, state, key] of rows) {
      let recipe = new Recipe(text);
      if (header !== '-') recipe = recipe.bind(bytes(header));
      const [how, lookup] = use.split(' ');
      const found = recipe.apply(bytes(record), how, !!lookup);
      assert.equal(found.state, state, `${text} of ${record}`);
      assert.deepEqual(found.key && Buffer.from(found.key), key === '-' ? null : Buffer.from(bytes(key)),
        `${text} of ${record}`);
      recipe.free();
    }
  });
}

test('a recipe travels with its filter', () => {
  const filter = Filter.create({ capacity: 100, fpr: 0.01 });
  assert.equal(filter.recipe, 'line');
  filter.recipe = 'csv  column="a b" header';
  const again = Filter.fromBytes(filter.toBytes());
  assert.equal(again.recipe, 'csv column="a b"');
  assert.equal(again.info().recipe, 'csv column="a b"');
  assert.deepEqual(again.info().meta, {});
});

test('what is refused names the word and its place', () => {
  assert.throws(() => new Recipe('line fnord'), (error) => error instanceof UmbelError &&
    error.code === 'EVERSION' && /^fnord: .*at byte 5$/.test(error.message));
  assert.throws(() => new Recipe('field=2 lower upper'), /^UmbelError: upper: .*at byte 14$/);
  assert.throws(() => new Recipe('line\0'), TypeError);
  assert.throws(() => new Recipe(7), TypeError);
  assert.throws(() => new Recipe('csv column=x').bind('a,b'), /x: the header has no such column/);
  const filter = Filter.create({ capacity: 10, fpr: 0.01 });
  assert.throws(() => { filter.recipe = 'field=0'; }, /fields are numbers/);
  assert.equal(filter.recipe, 'line');
});

test('a recipe of a later version is kept, and refused', () => {
  const [, later] = golden('native/recipes.tsv').find(([name]) => name === 'recipe_later');
  const filter = Filter.fromBytes(hex(later));
  assert.equal(filter.recipe, 'line fnord=7');
  assert.ok(filter.has('ada'));
  assert.throws(() => new Recipe(filter.recipe), /fnord=7/);
  assert.deepEqual(Buffer.from(filter.toBytes()), Buffer.from(hex(later)));
});

test('domains: a parent is enough', () => {
  const filter = Filter.create({ capacity: 10, fpr: 1e-9 });
  const recipe = new Recipe('domain');
  filter.add(recipe.apply('Example.COM.').key);
  const { key } = recipe.apply('a.b.example.com', 'key');
  assert.equal(Buffer.from(recipe.hit(filter, key)).toString(), 'example.com');
  assert.equal(recipe.hit(filter, recipe.apply('example.org').key), null);
});

test('golden: lookups', () => {
  const filter = Filter.create({ capacity: 100, fpr: 1e-9 });
  const recipe = new Recipe('domain');
  const lines = readFileSync(new URL('../golden/recipes/listed.txt', import.meta.url), 'utf8');
  for (const line of lines.split('\n')) {
    const { state, key } = recipe.apply(line);
    if (state === 'key') filter.add(key);
  }
  const rows = golden('recipes/lookups.tsv').slice(1);
  assert.ok(rows.length > 40);
  for (const [text, key, host, record, what] of rows) {
    const answers = ['key', 'host', 'record'].map((use) => {
      const found = recipe.apply(bytes(text), use, true);
      return found.key && recipe.hit(filter, found.key) ? 'yes' : 'no';
    });
    assert.deepEqual(answers, [key, host, record], what);
  }
});

test('golden: texts through a filter\'s own recipe', () => {
  const rows = golden('lookups/answers.tsv').slice(1);
  assert.ok(rows.length > 50);
  const filters = new Map();
  for (const [name, text, key, record, , what] of rows) {
    if (!filters.has(name)) filters.set(name, Filter.fromBytes(readFileSync(new URL(`../golden/lookups/${name}.umb`, import.meta.url))));
    const filter = filters.get(name);
    assert.equal(filter.hasText(text), key === 'yes', `${name}: ${what}`);
    assert.equal(filter.hasText(Buffer.from(text)), key === 'yes', `${name}: ${what}`);
    const recipe = new Recipe(filter.recipe);
    const found = recipe.apply(text, 'record', true);
    assert.equal(found.key ? recipe.hit(filter, found.key) ? 'yes' : 'no' : 'none', record, `${name}: ${what}`);
    recipe.free();
  }
  for (const [name, filter] of filters) {
    const own = rows.filter(([file]) => file === name);
    const answers = own.map(([, , key]) => Number(key === 'yes'));
    assert.deepEqual([...filter.hasTexts(new Set(own.map(([, text]) => text)))], answers, name);
    const many = Array.from({ length: 5000 }, (_, i) => own[i % own.length][1]);
    assert.deepEqual([...filter.hasTexts(many)], many.map((_, i) => answers[i % answers.length]), name);
  }
});

test('texts follow the recipe, also of filters that are freed', () => {
  for (let i = 0; i < 50; i++) {
    const filter = Filter.create({ capacity: 10, fpr: 1e-9 });
    filter.add('ada');
    assert.equal(filter.hasText('Ada'), false);
    filter.recipe = 'line lower';
    assert.equal(filter.hasText('Ada'), true);
    assert.equal(filter.has('Ada'), false);
    if (i % 2) filter.free();
  }
  const [, later] = golden('native/recipes.tsv').find(([name]) => name === 'recipe_later');
  assert.throws(() => Filter.fromBytes(hex(later)).hasText('a'), /^UmbelError: fnord=7/);
});
