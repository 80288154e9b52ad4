// SPDX-License-Identifier: MIT
// ask_node.mjs FILE - the npm package as a program of the kit; UMBEL_JS is its folder.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { Filter, Recipe } = await import(pathToFileURL(`${process.env.UMBEL_JS}/node.mjs`));

let filter;
try {
  filter = Filter.fromBytes(readFileSync(process.argv[2]));
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const recipe = new Recipe(filter.recipe);
const answers = readFileSync(0, 'latin1').split('\n').slice(0, -1).map((line) => {
  const { state, key } = recipe.apply(Buffer.from(line, 'hex'), 'key', true);
  return state === 'key' && recipe.hit(filter, key) !== null ? 'yes\n' : 'no\n';
});
process.stdout.write(answers.join(''));
