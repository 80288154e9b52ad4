// SPDX-License-Identifier: MIT
// duckdb.mjs - umbel and the real DuckDB: its Parquet filters bit for bit, and answers from ours
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Group, Random, ask, finish, list, load, result } from './peer.mjs';

const { DuckDBInstance } = await load('@duckdb/node-api');
const random = new Random();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'umbel-duckdb-'));
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();

// What Parquet stores for a value, in hex.
const bytes = (size, write) => {
    const buffer = Buffer.alloc(size);
    write(buffer);
    return buffer.toString('hex');
};
const i32 = (x) => bytes(4, (b) => b.writeInt32LE(x | 0));
const i64 = (x) => bytes(8, (b) => b.writeBigInt64LE(BigInt(x)));
const f32 = (x) => bytes(4, (b) => b.writeFloatLE(x));
const f64 = (x) => bytes(8, (b) => b.writeDoubleLE(x));
const text = (x) => Buffer.from(x).toString('hex');
const digits = (x, n) => x.toString(16).padStart(n, '0');

// sql: of a number v; stored: the same in JavaScript; most: how many distinct values it can have.
const columns = [
    { name: 'VARCHAR', sql: "'val' || v", stored: (v) => text(`val${v}`) },
    {
        name: 'VARCHAR, long',
        sql: "repeat('ü中', v % 60) || v",
        stored: (v) => text(`${'ü中'.repeat(v % 60)}${v}`),
    },
    {
        name: 'BLOB',
        sql: "unhex(printf('%08x', v * 40503))",
        stored: (v) => digits(v * 40503, 8),
    },
    { name: 'TINYINT', sql: '(v - 50)::TINYINT', stored: (v) => i32(v - 50), most: 100 },
    { name: 'SMALLINT', sql: '(v - 100)::SMALLINT', stored: (v) => i32(v - 100) },
    { name: 'INTEGER', sql: '(v * 7919 - 9999)::INTEGER', stored: (v) => i32(v * 7919 - 9999) },
    { name: 'BIGINT', sql: '(v * 1000000007 - 5)::BIGINT', stored: (v) => i64(v * 1000000007 - 5) },
    { name: 'UTINYINT', sql: 'v::UTINYINT', stored: (v) => i32(v), most: 200 },
    { name: 'USMALLINT', sql: '(v + 60000)::USMALLINT', stored: (v) => i32(v + 60000) },
    { name: 'UINTEGER', sql: '(v + 4294960000)::UINTEGER', stored: (v) => i32(v + 4294960000) },
    { name: 'FLOAT', sql: '(v / 4)::FLOAT', stored: (v) => f32(v / 4) },
    { name: 'DOUBLE', sql: '(v / 7)::DOUBLE', stored: (v) => f64(v / 7) },
    { name: 'DATE', sql: "DATE '1970-01-01' + v::INTEGER", stored: (v) => i32(v) },
    { name: 'TIMESTAMP', sql: 'make_timestamp(v * 1000003)', stored: (v) => i64(v * 1000003) },
    { name: 'DECIMAL(9,2)', sql: '(v / 4)::DECIMAL(9,2)', stored: (v) => i32(v * 25) },
    { name: 'DECIMAL(18,2)', sql: '(v / 4)::DECIMAL(18,2)', stored: (v) => i64(v * 25) },
    {
        name: 'UUID',
        sql: "printf('00000000-0000-4000-8000-%012x', v)::UUID",
        stored: (v) => `00000000000040008000${digits(v, 12)}`,
    },
];

const upTo = (n) => Array.from({ length: n }, (_, v) => v);
const file = (name) => path.join(folder, `${name}.parquet`);

// Writes a column in which n values occur repeatedly, because it would otherwise have no dictionary
// and no filter; returns where the filter is.
async function write(name, sql, n, rate) {
    const values = `SELECT i % ${n} AS v FROM range(${n * 20 + 200}) r(i)`;
    await connection.run(`COPY (SELECT ${sql} AS c FROM (${values})) TO '${file(name)}'
        (FORMAT parquet, ROW_GROUP_SIZE 10000000, BLOOM_FILTER_FALSE_POSITIVE_RATIO ${rate})`);
    const [[offset, length]] = await rows(`SELECT bloom_filter_offset, bloom_filter_length
        FROM parquet_metadata('${file(name)}')`);
    return { at: Number(offset), length: Number(length) };
}

let files = 0;

// DuckDB's filter of n values against ours.
async function compareFilter(group, column, n, rate) {
    const name = `f${files++}`;
    const where = await write(name, column.sql, n, rate);
    const theirs = fs.readFileSync(file(name)).subarray(where.at, where.at + where.length);
    const values = [...new Set(upTo(n).map(column.stored))];
    const [said] = ask([
        `parquet ${values.length} ${rate} ${list(values)} ${theirs.toString('hex') || '-'}`]);
    group.add(!said.startsWith('!'), `${n} values at ${rate}: ${said.slice(0, 90)}`);
    fs.rmSync(file(name));
}

async function compareColumn(column) {
    const group = new Group(`DuckDB ${column.name}, filters`);
    for (let i = 0; i < 6; i++) {
        const most = Math.min(column.most || Infinity, random.pick([20, 200, 3000]));
        const rates = ['0.01', '0.001', '0.1', '0.05', String(1 / (2 + random.below(5000)))];
        await compareFilter(group, column, 1 + random.below(most), random.pick(rates));
    }
    group.end();
}

// Numbers of values around those where the size doubles.
async function compareSizes() {
    const group = new Group('DuckDB sizes, filters');
    const column = { sql: 'v::INTEGER', stored: i32 };
    for (const rate of [0.01, 0.1]) {
        const perValue = -1 / Math.log1p(-(rate ** (1 / 8)));
        for (let size = 32; size <= 2048; size *= 2) {
            const edge = Math.ceil(size / perValue); // the first whose size is that power of two
            for (const n of [edge - 1, edge, edge + 1]) await compareFilter(group, column, n, rate);
        }
    }
    group.end();
}

// DuckDB reads a file after we put our own bits into it.
async function writeBack() {
    const n = 400;
    const header = 16;
    const where = await write('written', "'val' || v", n, '0.01');
    const written = fs.readFileSync(file('written'));
    const stored = (v) => text(`val${v}`);
    const kept = upTo(n).filter((v) => v % 2 === 0);
    const [ours] = ask([`parquet-bytes ${where.length - header} ${list(kept.map(stored))}`]);
    const theirHeader = written.subarray(where.at, where.at + header).toString('hex');
    result(ours.startsWith(theirHeader), 'DuckDB and umbel write the same header');
    Buffer.from(ours, 'hex').copy(written, where.at);
    fs.writeFileSync(file('changed'), written);

    const probes = upTo(2 * n);
    const [answers] = ask([`contains ${ours} ${list(probes.map(stored))}`]);
    const group = new Group('DuckDB answers from our bits, probes');
    for (const v of probes) {
        const [[, , excludes]] = await rows(
            `SELECT * FROM parquet_bloom_probe('${file('changed')}', 'c', 'val${v}')`);
        group.add(excludes === (answers[v] === '0'), `val${v}`);
    }
    group.end();

    const count = async (name, v) => Number(
        (await rows(`SELECT count(*) FROM '${file(name)}' WHERE c = 'val${v}'`))[0][0]);
    const gone = upTo(n).find((v) => v % 2 === 1 && answers[v] === '0');
    const before = await count('written', gone);
    const after = await count('changed', gone);
    result(before > 0 && after === 0 && await count('changed', 2) > 0,
        `DuckDB skips what our filter excludes: ${before} rows become ${after}`);
}

try {
    console.log(`# DuckDB ${(await rows('SELECT version()'))[0][0]}`);
    for (const column of columns) await compareColumn(column);
    await compareSizes();
    await writeBack();
} catch (error) {
    result(false, 'the driver', [String(error.stack || error)]);
}
fs.rmSync(folder, { recursive: true, force: true });
finish();
