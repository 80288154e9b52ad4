// SPDX-License-Identifier: MIT
// ask_node.mjs FILE - the npm package as a program of the kit; UMBEL_JS is its folder.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { Filter } = await import(pathToFileURL(`${process.env.UMBEL_JS}/node.mjs`));

let filter;
try {
  filter = Filter.fromBytes(readFileSync(process.argv[2]));
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const answers = readFileSync(0, 'latin1').split('\n').slice(0, -1)
  .map((line) => (filter.hasText(Buffer.from(line, 'hex')) ? 'yes\n' : 'no\n'));
process.stdout.write(answers.join(''));
