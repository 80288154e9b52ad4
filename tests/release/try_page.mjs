// SPDX-License-Identifier: MIT
//
// try_page.mjs PAGE VERSION - the released page starts in a browser and says which version it is

import { Browser } from '../web/browser.mjs';

const [path, version] = process.argv.slice(2);
const browser = await Browser.start();
try {
  const page = await browser.page(`file://${path}`);
  await page.until('document.getElementById("version").textContent');
  const said = await page.run('document.getElementById("version").textContent');
  if (!said.includes(version)) throw new Error(`the page says ${said}`);
  console.log(`in Chromium, the page says ${said}`);
} finally {
  await browser.stop();
}
