// SPDX-License-Identifier: MIT
// tables_duckdb.mjs - umbel table on Parquet files that DuckDB writes on the spot: where the
// filters are, and what they answer for values, compared with DuckDB
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Group, Random, finish, load, table } from './peer.mjs';

const { DuckDBInstance } = await load('@duckdb/node-api');
const random = new Random();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'umbel-tables-'));
const file = path.join(folder, 't.parquet');
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();

// sql: of a number v; both are queried for the text that DuckDB prints.
const columns = [
    { name: 's', type: 'VARCHAR', sql: "'val' || v" },
    { name: 'i', type: 'INTEGER', sql: '(v * 7 - 99)::INTEGER' },
    { name: 'b', type: 'BIGINT', sql: '(v * 1000000007)::BIGINT' },
    { name: 'u', type: 'UINTEGER', sql: '(v + 4294960000)::UINTEGER' },
    { name: 'd', type: 'DOUBLE', sql: '(v / 8)::DOUBLE' },
    { name: 'day', type: 'DATE', sql: "DATE '1960-01-01' + (v * 30)::INTEGER" },
    { name: 'at', type: 'TIMESTAMP', sql: 'make_timestamp(v * 1000003)' },
    // DuckDB 1.5 writes filters for these two, but its probe hashes decimals differently from its
    // writer and never excludes UUIDs: the actual location of the values decides.
    { name: 'm', type: 'DECIMAL(9,2)', sql: '(v / 4)::DECIMAL(9,2)', unprobed: true },
    { name: 'g', type: 'UUID', sql: "printf('00000000-0000-4000-8000-%012x', v)::UUID",
        unprobed: true },
    { name: 'yes', type: 'BOOLEAN', sql: 'v % 2 = 0' }, // never has a filter
];

// Row groups hold different values: v depends on the row's thousands.
const GROUPS = Math.ceil(20000 / 4096);
const groupsWith = (v) => (v < 60 * GROUPS ? [Math.floor(v / 60)] : []);

async function write() {
    const selected = columns.map(({ name, sql }) => `${sql} AS "${name}"`);
    await connection.run(`COPY (SELECT ${selected} FROM
        (SELECT (i % 60) + 60 * (i // 4096) AS v FROM range(20000) r(i)))
        TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 4096)`);
}

async function comparePlaces() {
    const group = new Group('umbel table and parquet_metadata, column chunks');
    const ours = table(file);
    const theirs = await rows(`SELECT row_group_id, path_in_schema, bloom_filter_offset,
        bloom_filter_length FROM parquet_metadata('${file}') ORDER BY row_group_id, column_id`);
    group.add(ours.faults.length === 0, JSON.stringify(ours.faults));
    group.add(ours.places.length === theirs.length, `${ours.places.length} places`);
    theirs.forEach(([number, name, offset, length], i) => {
        const place = ours.places[i];
        const same = place.first === Number(number) && place.column === name
            && (offset === null ? place.state === 'none'
                : place.offset === Number(offset) && place.bytes === Number(length));
        group.add(same, `${name} in row group ${number}: ${JSON.stringify(place)}`);
    });
    group.end();
}

// No row group with the value is excluded, and few others are selected.
async function compareTruth(column) {
    const group = new Group(`umbel table --check and the rows, ${column.type} values`);
    let named = 0;
    for (let v = 0; v < 400; v += 9) {
        const [[text]] = await rows(`SELECT (${column.sql})::VARCHAR FROM (SELECT ${v}::BIGINT AS v)`);
        const ours = table(file, '--column', column.name, '--check', text).may_hold
            .map((at) => Math.floor(at / columns.length));
        const wanted = groupsWith(v);
        named += ours.length - wanted.length;
        group.add(wanted.every((number) => ours.includes(number)), `${text}: ${ours}`);
    }
    group.add(named < 25, `${named} false positives`);
    group.end();
}

async function compareAnswers(column) {
    const group = new Group(`umbel table --check and parquet_bloom_probe, ${column.type} values`);
    for (let i = 0; i < 25; i++) {
        const v = random.below(600);
        const [[text]] = await rows(`SELECT (${column.sql})::VARCHAR FROM (SELECT ${v}::BIGINT AS v)`);
        const probed = await rows(`SELECT row_group_id, bloom_filter_excludes FROM
            parquet_bloom_probe('${file}', '${column.name}', '${text}'::${column.type})`);
        const theirs = probed.filter((row) => !row[1]).map((row) => Number(row[0]));
        const said = table(file, '--column', column.name, '--check', text);
        const ours = said.may_hold.map((at) => Math.floor(at / columns.length));
        const same = ours.sort().join() === theirs.sort().join();
        group.add(same && said.may_contain === theirs.length > 0
            && said.status === (theirs.length > 0 ? 0 : 1), `${text}: ${ours}, not ${theirs}`);
    }
    group.end();
}

await write();
await comparePlaces();
for (const column of columns.slice(0, -1)) {
    await (column.unprobed ? compareTruth : compareAnswers)(column);
}
fs.rmSync(folder, { recursive: true, force: true });
finish();
