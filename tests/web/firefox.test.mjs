// SPDX-License-Identifier: MIT
//
// firefox.test.mjs - the page in the other engine, over Firefox's own remote protocol (Marionette);
// PICTURES=FOLDER keeps what it looks like

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../js/support.mjs';

const program = process.env.FIREFOX ?? 'firefox-esr';
const address = `file://${join(root, 'build/web/umbel.html')}`;

function missing() {
  try {
    execFileSync(program, ['--version'], { stdio: 'pipe' });
    return false;
  } catch {
    return `${program} is not installed (scripts/setup web)`;
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Marionette: "length:[0, id, command, parameters]", answered by "length:[1, id, error, result]". */
class Firefox {
  static async start(dark) {
    const home = mkdtempSync(join(tmpdir(), 'umbel-firefox-'));
    const port = await freePort();
    writeFileSync(join(home, 'user.js'), `user_pref("marionette.port", ${port});
user_pref("layout.css.prefers-color-scheme.content-override", ${dark ? 0 : 1});\n`);
    const child = spawn(program, ['--headless', '--marionette', '--no-remote', '--profile', home], { stdio: 'ignore' });
    const made = new Firefox(child, home);
    for (let i = 0; i < 600 && !made.socket; i++) {
      await new Promise((done) => setTimeout(done, 100));
      await made.connect(port).catch(() => {});
    }
    await made.send('WebDriver:NewSession', {});
    return made;
  }

  constructor(child, home) {
    Object.assign(this, { child, home, socket: null, text: Buffer.alloc(0), waiting: new Map(), id: 0 });
  }

  connect(port) {
    return new Promise((done, fail) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', fail);
      socket.once('connect', () => {
        this.socket = socket;
        done();
      });
      socket.on('data', (more) => this.take(more));
    });
  }

  take(more) {
    this.text = Buffer.concat([this.text, more]);
    for (let colon; (colon = this.text.indexOf(':')) > 0; ) {
      const length = Number(this.text.subarray(0, colon));
      if (this.text.length < colon + 1 + length) return;
      const message = JSON.parse(this.text.subarray(colon + 1, colon + 1 + length));
      this.text = this.text.subarray(colon + 1 + length);
      if (!Array.isArray(message)) continue; // its greeting
      const [, id, error, result] = message;
      const { done, fail } = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) fail(new Error(`${error.error}: ${error.message}`));
      else done(result);
    }
  }

  send(command, parameters) {
    const id = ++this.id;
    const text = JSON.stringify([0, id, command, parameters]);
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  async run(expression) {
    const { value } = await this.send('WebDriver:ExecuteScript', { script: `return ${expression}`, args: [] });
    return value;
  }

  async until(expression) {
    for (let i = 0; i < 1200; i++) {
      const value = await this.run(expression);
      if (value) return value;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`never: ${expression}`);
  }

  async picture(name) {
    if (!process.env.PICTURES) return;
    const { value } = await this.send('WebDriver:TakeScreenshot', { full: true });
    writeFileSync(join(process.env.PICTURES, `firefox-${name}.png`), Buffer.from(value, 'base64'));
  }

  async stop() {
    await this.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
    this.socket.destroy();
    this.child.kill();
    await new Promise((done) => setTimeout(done, 300));
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

for (const dark of [false, true]) {
  test(`Firefox, ${dark ? 'dark' : 'light'}: plans, one lookup step by step, narrow screens`, { skip: missing() }, async () => {
    const firefox = await Firefox.start(dark);
    const look = dark ? 'dark' : 'light';
    try {
      await firefox.send('WebDriver:SetWindowRect', { width: 1280, height: 1000 });
      await firefox.send('WebDriver:Navigate', { url: `${address}#plan?keys=1+million&rate=1%25` });
      await firefox.until('document.querySelectorAll("#plan-chart .curve").length === document.querySelectorAll("#plan-table tbody tr").length && document.querySelector(".curve")');
      assert.match(await firefox.run('document.querySelector("#plan-answer .asked").textContent'), /^Size1\.26 MiB$/);
      assert.equal(await firefox.run('matchMedia("(prefers-color-scheme: dark)").matches'), dark);
      await firefox.picture(`plan-${look}`);
      await firefox.run('void (location.hash = "#learn")');
      await firefox.until('document.querySelectorAll(".cell.on").length');
      await firefox.run('void (document.getElementById("learn-ask").value = "apple")');
      for (let step = 1; step <= 4; step++) {
        await firefox.run('void document.getElementById("learn-step").click()');
        await firefox.until(`document.querySelectorAll("#learn-steps li").length === ${step}`);
      }
      assert.equal(await firefox.run('document.querySelectorAll(".cell.yes").length'), 2);
      await firefox.picture(`learn-${look}`);
      await firefox.send('WebDriver:SetWindowRect', { width: 500, height: 900 });
      for (const part of ['plan', 'learn', 'open', 'build']) {
        await firefox.run(`void (location.hash = "#${part}")`);
        await firefox.until(`!document.getElementById("view-${part}").hidden`);
        assert.ok(await firefox.run('document.documentElement.scrollWidth <= innerWidth'), part);
      }
      await firefox.picture(`narrow-${look}`);
    } finally {
      await firefox.stop();
    }
  });
}
