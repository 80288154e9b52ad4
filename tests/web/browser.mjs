// SPDX-License-Identifier: MIT
//
// browser.mjs - a real Chromium, headless, by its DevTools protocol: a WebSocket and JSON, no more

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** As much of RFC 6455 as a client needs that talks to one server on this machine. */
class Socket {
  #socket;
  #waiting = Buffer.alloc(0);
  #parts = [];

  static open(address) {
    const key = randomBytes(16).toString('base64');
    return new Promise((resolve, reject) => {
      const asked = request(address.replace('ws:', 'http:'), { headers: { Connection: 'Upgrade',
        Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': key } });
      asked.on('upgrade', (response, socket, head) => {
        const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
        if (response.headers['sec-websocket-accept'] !== proof.digest('base64')) {
          reject(new Error('no WebSocket'));
        }
        resolve(new Socket(socket, head));
      });
      asked.on('error', reject);
      asked.end();
    });
  }

  constructor(socket, head) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('error', () => {});
    if (head.length) this.#read(head);
  }

  #read(bytes) {
    this.#waiting = Buffer.concat([this.#waiting, bytes]);
    for (;;) {
      const from = this.#waiting;
      if (from.length < 2) return;
      let length = from[1] & 127;
      let at = 2;
      if (length === 126) {
        if (from.length < 4) return;
        length = from.readUInt16BE(2);
        at = 4;
      } else if (length === 127) {
        if (from.length < 10) return;
        length = Number(from.readBigUInt64BE(2));
        at = 10;
      }
      if (from.length < at + length) return;
      this.#waiting = from.subarray(at + length);
      if ((from[0] & 15) > 2) continue; // close, ping, pong
      this.#parts.push(from.subarray(at, at + length));
      if (from[0] & 128) {
        const text = Buffer.concat(this.#parts).toString();
        this.#parts = [];
        this.onmessage(text);
      }
    }
  }

  send(text) {
    const body = Buffer.from(text);
    const mask = randomBytes(4);
    const head = body.length < 126 ? Buffer.from([0x81, 0x80 | body.length])
      : body.length < 65536 ? Buffer.from([0x81, 0xfe, body.length >> 8, body.length & 255])
        : Buffer.concat([Buffer.from([0x81, 0xff]), Buffer.alloc(8)]);
    if (body.length >= 65536) head.writeBigUInt64BE(BigInt(body.length), 2);
    for (let i = 0; i < body.length; i++) body[i] ^= mask[i & 3];
    this.#socket.write(Buffer.concat([head, mask, body]));
  }

  close() {
    this.#socket.destroy();
  }
}

const START_SECONDS = 60; // on a busy machine
const ANSWER_SECONDS = 300;
const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export class Browser {
  #waiting = new Map();
  #last = 0;
  events = []; // of all pages, in order

  static async start() {
    const program = process.env.CHROMIUM ?? programs.find(existsSync);
    if (!program) throw new Error('no Chromium (scripts/setup web)');
    const browser = new Browser();
    browser.home = mkdtempSync(join(tmpdir(), 'umbel-browser-'));
    browser.process = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu',
      '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--disable-dev-shm-usage', '--hide-scrollbars', '--lang=en-US',
      '--remote-debugging-port=0', `--user-data-dir=${browser.home}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'] });
    const address = await new Promise((resolve, reject) => {
      let said = '';
      setTimeout(() => reject(new Error(`Chromium does not start: ${said}`)), 1000 * START_SECONDS).unref();
      browser.process.stderr.on('data', (text) => {
        said += text;
        const found = /DevTools listening on (ws:\S+)/.exec(said);
        if (found) resolve(found[1]);
      });
      browser.process.on('exit', () => {
        const ended = new Error(`Chromium ended: ${said}`);
        reject(ended);
        for (const waiting of browser.#waiting.values()) waiting.reject(ended);
        browser.#waiting.clear();
      });
    });
    browser.socket = await Socket.open(address);
    browser.socket.onmessage = (text) => browser.#read(JSON.parse(text));
    return browser;
  }

  #read(message) {
    if (message.id === undefined) {
      this.events.push(message);
      return;
    }
    if (!this.#waiting.has(message.id)) return;
    const { resolve, reject } = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`no answer to ${method} in ${ANSWER_SECONDS} s`));
      }, 1000 * ANSWER_SECONDS);
      const settle = (done) => (value) => {
        clearTimeout(late);
        done(value);
      };
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
      this.socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  /** A new page; what it logs and requests is recorded. */
  async page(address, { width = 1280, height = 900, dark = false, language = 'en-US' } = {}) {
    const { browserContextId } = await this.send('Target.createBrowserContext');
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, targetId, sessionId, browserContextId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'DOM', 'Accessibility']) {
      await page.send(`${domain}.enable`);
    }
    await page.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
    await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
    await page.send('Emulation.setLocaleOverride', { locale: language });
    await page.go(address);
    return page;
  }

  async stop() {
    const gone = new Promise((resolve) => {
      if (this.process.exitCode !== null || this.process.signalCode !== null) resolve();
      this.process.on('exit', resolve);
    });
    await Promise.race([this.send('Browser.close').catch(() => {}), gone]);
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 5000))]);
    this.process.kill('SIGKILL');
    this.socket.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Page {
  constructor(browser, target, session, context) {
    Object.assign(this, { browser, target, session, context });
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  async go(address) {
    await this.send('Page.navigate', { url: address });
    await this.until('document.readyState === "complete"');
  }

  /** The value of an expression in the page, promises awaited. */
  async run(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true, userGesture: true });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Waits until an expression is true, and gives its value. */
  async until(expression, seconds = 120) {
    const end = Date.now() + 1000 * seconds;
    for (;;) {
      let value;
      try {
        value = await this.run(expression);
      } catch (error) {
        if (!/context|navigat/i.test(error.message)) throw error;
      }
      if (value) return value;
      if (Date.now() > end) throw new Error(`never came true: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Types into a field as a person does: it is emptied first. */
  async type(id, text) {
    await this.run(`(() => { const e = document.getElementById('${id}'); e.focus(); e.select?.(); })()`);
    await this.key('Backspace');
    await this.send('Input.insertText', { text });
  }

  async key(key, modifiers = 0) {
    const codes = { Tab: 9, Enter: 13, Backspace: 8, ' ': 32, ArrowRight: 39, ArrowDown: 40 };
    const text = key === 'Enter' ? '\r' : key === ' ' ? ' ' : undefined;
    const event = { key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: codes[key], modifiers };
    await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', text, ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  /** Gives a file to an input, as a person chooses one. */
  async choose(id, path) {
    await this.run(`document.getElementById('${id}').value = ''`);
    const { root } = await this.send('DOM.getDocument');
    const { nodeId } = await this.send('DOM.querySelector', { nodeId: root.nodeId, selector: `#${id}` });
    await this.send('DOM.setFileInputFiles', { nodeId, files: [path] });
  }

  /** Where downloads go, under names of the browser's own. */
  async downloadsTo(path) {
    await this.browser.send('Browser.setDownloadBehavior',
      { behavior: 'allowAndName', downloadPath: path, browserContextId: this.context, eventsEnabled: true });
  }

  async picture() {
    const { cssContentSize } = await this.send('Page.getLayoutMetrics');
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true,
      clip: { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1 } });
    return Buffer.from(data, 'base64');
  }

  /** What went wrong in the console, and every request that is not for the page's own parts. */
  complaints() {
    return this.browser.events.filter(({ method, params }) =>
      method === 'Runtime.exceptionThrown' ||
      (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type)) ||
      (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level)));
  }

  requests() {
    return this.browser.events.filter(({ method }) => method === 'Network.requestWillBeSent')
      .map(({ params }) => params.request.url);
  }

  close() {
    return this.browser.send('Target.closeTarget', { targetId: this.target });
  }
}
