// SPDX-License-Identifier: MIT
// peer.mjs - what the drivers share: requests to umbel_peer, results in TAP, random numbers
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const umbel = process.env.UMBEL || 'build/umbel';
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const program = process.env.UMBEL_PEER || path.join(root, 'build/tests/interop/umbel_peer');

// The other system, from build/interop.  Without it: a visible skip, and a failure where CI=true.
export async function load(name) {
    const where = process.env.UMBEL_INTEROP || path.join(root, 'build/interop');
    try {
        const entry = createRequire(path.join(where, 'package.json')).resolve(name);
        return await import(entry);
    } catch (error) {
        const reason = String(error.message).split('\n')[0].replaceAll(root, '.');
        const ci = process.env.CI === 'true';
        console.log(`${ci ? 'not ok' : 'ok'} 1 - ${name}${ci ? '' : ' # SKIP'} ${reason}`);
        process.exit(ci ? 1 : 77);
    }
}

// One answer for each request.
export function ask(requests) {
    if (requests.length === 0) return [];
    const done = spawnSync(program, { input: requests.join('\n') + '\n', maxBuffer: 1 << 30 });
    if (done.status !== 0) throw new Error(`umbel_peer: ${done.error || done.stderr}`);
    const answers = done.stdout.toString().split('\n').slice(0, -1);
    if (answers.length !== requests.length) throw new Error('umbel_peer: answers are missing');
    return answers;
}

export const list = (hexes) => (hexes.length ? hexes.map((hex) => `${hex},`).join('') : '-');

let number = 0;
let failed = 0;

export function result(ok, name, notes = []) {
    number++;
    if (!ok) failed++;
    console.log(`${ok ? 'ok' : 'not ok'} ${number} - ${name}`);
    for (const note of notes.slice(0, 5)) console.log(`#   ${note.replaceAll('\n', '\n#   ')}`);
}

// A group of comparisons as one result.
export class Group {
    constructor(name) {
        this.name = name;
        this.count = 0;
        this.wrong = [];
    }

    add(ok, note) {
        this.count++;
        if (!ok) this.wrong.push(note);
    }

    end() {
        const ok = this.wrong.length === 0 && this.count > 0;
        result(ok, `${this.name}: ${this.count} compared`, this.wrong);
    }
}

export function finish() {
    console.log(`1..${number}`);
    process.exitCode = failed ? 1 : 0;
}

// splitmix64: different numbers each time, the same for a given seed.
export class Random {
    constructor() {
        const text = process.env.UMBEL_SEED || String(Date.now());
        this.state = BigInt(text);
        console.log(`# seed ${text}`);
    }

    u64() {
        const mask = (1n << 64n) - 1n;
        this.state = (this.state + 0x9e3779b97f4a7c15n) & mask;
        let z = this.state;
        z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
        z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
        return z ^ (z >> 31n);
    }

    below(limit) {
        return Number(this.u64() % BigInt(limit));
    }

    pick(array) {
        return array[this.below(array.length)];
    }
}

// umbel table on a file, as JSON.
export function table(file, ...options) {
    const done = spawnSync(umbel, ['table', '--json', file, ...options], { maxBuffer: 1 << 28 });
    if (done.status !== 0 && done.status !== 1) {
        throw new Error(`umbel table ${file} ${options.join(' ')}: ${done.stderr}`);
    }
    return { ...JSON.parse(done.stdout), status: done.status };
}
