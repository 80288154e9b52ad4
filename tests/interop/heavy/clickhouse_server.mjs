// SPDX-License-Identifier: MIT
// clickhouse_server.mjs - our own ClickHouse in a fresh folder, and the files of its tables
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Group, load } from './peer.mjs';
import { readStream, writeStream } from './clickhouse_part.mjs';

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
