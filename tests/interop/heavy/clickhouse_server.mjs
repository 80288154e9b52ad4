// SPDX-License-Identifier: MIT
// clickhouse_server.mjs - our own ClickHouse in a fresh folder, and the files of its tables: index
// files of a MergeTree part are compressed blocks, read and written here as plain streams
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Group, ask, load } from './peer.mjs';

const { Session } = await load('chdb');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'umbel-clickhouse-'));
const session = new Session(folder);

export const GRANULE = 64; // rows
const settings = `index_granularity = ${GRANULE}, index_granularity_bytes = 0,
    min_bytes_for_wide_part = 0`;

export const run = (sql) => session.query(sql, 'JSONCompactEachRow');
export const rows = (sql) => run(sql).trim().split('\n').filter(Boolean)
    .map((line) => JSON.parse(line));
export const value = (sql) => rows(sql)[0][0];

export function start() {
    run('CREATE DATABASE umbel ENGINE = Atomic');
    run('USE umbel');
    return value('SELECT version()');
}

export function stop() {
    session.cleanup();
    fs.rmSync(folder, { recursive: true, force: true });
}

// columns and indexes as in CREATE TABLE, sorted by id.
export function createTable(name, columns, indexes) {
    run(`CREATE TABLE ${name} (id UInt64, ${[...columns, ...indexes].join(', ')})
         ENGINE = MergeTree ORDER BY id SETTINGS ${settings}`);
}

export function partOf(table) {
    const parts = rows(`SELECT path FROM system.parts WHERE table = '${table}' AND active`);
    if (parts.length !== 1) throw new Error(`${table} has ${parts.length} parts`);
    return parts[0][0].replace(/\/$/, '');
}

export const sums = new Group('ClickHouse checksums, compressed blocks');

// The stream of an index: all its granules, one after the other.
export function streamOf(table, index) {
    const read = readStream(fs.readFileSync(path.join(partOf(table), `skp_idx_${index}.idx`)));
    for (let i = 0; i < read.blocks; i++) sums.add(read.sumsAgree, `${table}.${index}`);
    return read.stream;
}

// Replaces the stream of an index with this one.
export function replaceStream(table, index, stream) {
    const home = path.dirname(partOf(table));
    const part = path.basename(partOf(table));
    const detached = path.join(home, 'detached', part);
    run(`ALTER TABLE ${table} DETACH PART '${part}'`);
    fs.writeFileSync(path.join(detached, `skp_idx_${index}.idx`), writeStream(stream));
    fs.rmSync(path.join(detached, 'checksums.txt')); // regenerated
    run(`ALTER TABLE ${table} ATTACH PART '${part}'`);
}

// One list of hex texts for each granule of perGranule rows.  `nothing` stands for each run of
// index_granularity rows that has no value at all: only empty arrays.
export function granulesOf(table, expression, perGranule = GRANULE, nothing = []) {
    const all = rows(`SELECT ${expression} FROM ${table} ORDER BY _part_offset`)
        .map((row) => row[0]);
    const granules = [];
    for (let at = 0; at < all.length; at += GRANULE) {
        if (at % perGranule === 0) granules.push([]);
        const values = all.slice(at, at + GRANULE).flat();
        granules.at(-1).push(...(values.length ? values : nothing));
    }
    return granules;
}

// ---- Index files ----

const LZ4 = 0x82;
const NONE = 0x02;
const HEADER = 9; // method, compressed size including this header, size
const CHECKSUM = 16;

function unlz4(input, size) {
    const out = Buffer.alloc(size);
    let at = 0;
    let to = 0;
    const longer = (length) => {
        if (length < 15) return length;
        let byte;
        do {
            byte = input[at++];
            length += byte;
        } while (byte === 255);
        return length;
    };
    while (at < input.length) {
        const token = input[at++];
        const literals = longer(token >> 4);
        input.copy(out, to, at, at + literals);
        at += literals;
        to += literals;
        if (at >= input.length) break;
        const offset = input.readUInt16LE(at);
        at += 2;
        const end = to + longer(token & 15) + 4;
        for (; to < end; to++) out[to] = out[to - offset];
    }
    if (to !== size) throw new Error('LZ4: another size than promised');
    return out;
}

// The stream inside an .idx file; every block's checksum is compared with umbel's CityHash128.
function readStream(file) {
    const pieces = [];
    const sums = [];
    const bodies = [];
    for (let at = 0; at < file.length;) {
        const packed = file.readUInt32LE(at + CHECKSUM + 1);
        const size = file.readUInt32LE(at + CHECKSUM + 5);
        const body = file.subarray(at + CHECKSUM, at + CHECKSUM + packed);
        const method = body[0];
        const data = body.subarray(HEADER);
        if (method === LZ4) pieces.push(unlz4(data, size));
        else if (method === NONE) pieces.push(data);
        else throw new Error(`blocks of method ${method} are not read here`);
        sums.push(file.subarray(at, at + CHECKSUM).toString('hex'));
        bodies.push(`city128 ${body.toString('hex')}`);
        at += CHECKSUM + packed;
    }
    const sumsAgree = ask(bodies).every((sum, i) => sum === sums[i]);
    return { stream: Buffer.concat(pieces), blocks: sums.length, sumsAgree };
}

// The same stream as one uncompressed block.
function writeStream(stream) {
    const body = Buffer.alloc(HEADER + stream.length);
    body[0] = NONE;
    body.writeUInt32LE(body.length, 1);
    body.writeUInt32LE(stream.length, 5);
    stream.copy(body, HEADER);
    const [sum] = ask([`city128 ${body.toString('hex')}`]);
    return Buffer.concat([Buffer.from(sum, 'hex'), body]);
}

// LEB128 at `at`: its value and the offset after it.
export function readVarUInt(stream, at) {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
        const byte = stream[at++];
        value += (byte & 127) * scale;
        if (byte < 128) return [value, at];
    }
}
