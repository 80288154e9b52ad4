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

// sql: of the row number v; stored: the same in JavaScript; most: distinct values it can have.
const columns = [
    { name: 'VARCHAR', sql: "'val' || v", stored: (v) => text(`val${v}`) },
    { name: 'VARCHAR, long', sql: "repeat('ü中', v % 60) || v", stored: (v) => text(`${'ü中'.repeat(v % 60)}${v}`) },
    { name: 'BLOB', sql: "unhex(printf('%08x', v * 40503))", stored: (v) => (v * 40503).toString(16).padStart(8, '0') },
    { name: 'TINYINT', sql: '(v - 50)::TINYINT', stored: (v) => i32(v - 50), most: 100 },
    { name: 'SMALLINT', sql: '(v - 100)::SMALLINT', stored: (v) => i32(v - 100) },
    { name: 'INTEGER', sql: '(v * 7919 - 100000)::INTEGER', stored: (v) => i32(v * 7919 - 100000) },
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
    { name: 'UUID', sql: "printf('00000000-0000-4000-8000-%012x', v)::UUID", stored: (v) => `0000000000004000800${v.toString(16).padStart(13, '0')}` },
];

const file = (name) => path.join(folder, `${name}.parquet`);

// A column in which `n` values occur again and again, else it would not have a dictionary.
async function write(name, sql, n, rate) {
    await connection.run(`COPY (SELECT ${sql} AS c FROM (SELECT i % ${n} AS v FROM range(${n * 20 + 200}) r(i)))
        TO '${file(name)}' (FORMAT parquet, ROW_GROUP_SIZE 10000000, BLOOM_FILTER_FALSE_POSITIVE_RATIO ${rate})`);
    const [[offset, length]] = await rows(`SELECT bloom_filter_offset, bloom_filter_length FROM parquet_metadata('${file(name)}')`);
    return { at: Number(offset), length: Number(length) };
}

const upTo = (n) => Array.from({ length: n }, (_, v) => v);

async function compareColumn(column, number) {
    const group = new Group(`DuckDB ${column.name}, filters`);
    const requests = [];
    for (let i = 0; i < 6; i++) {
        const n = 1 + random.below(Math.min(column.most || 1e9, random.pick([20, 200, 3000])));
        const rate = random.pick(['0.01', '0.001', '0.1', '0.05', String(1 / (2 + random.below(5000)))]);
        const where = await write(`c${number}_${i}`, column.sql, n, rate);
        const theirs = fs.readFileSync(file(`c${number}_${i}`)).subarray(where.at, where.at + where.length);
        const values = [...new Set(upTo(n).map(column.stored))];
        requests.push(`parquet ${values.length} ${rate} ${list(values)} ${theirs.toString('hex') || '-'}`);
    }
    ask(requests).forEach((said, i) => group.add(!said.startsWith('!'), `${requests[i].slice(0, 30)}: ${said.slice(0, 90)}`));
    group.end();
}

// Numbers of values around those where the size doubles.
async function compareSizes() {
    const group = new Group('DuckDB sizes, filters');
    const requests = [];
    for (const rate of [0.01, 0.1]) {
        const perValue = -1 / Math.log1p(-(rate ** (1 / 8)));
        for (let bytes = 32; bytes <= 2048; bytes *= 2) {
            const edge = Math.ceil(bytes / perValue); // the first whose size is that power of two
            for (const n of [edge - 1, edge, edge + 1]) {
                const name = `s${requests.length}`;
                const where = await write(name, 'v::INTEGER', n, rate);
                const theirs = fs.readFileSync(file(name)).subarray(where.at, where.at + where.length);
                requests.push(`parquet ${n} ${rate} ${list(upTo(n).map(i32))} ${theirs.toString('hex')}`);
            }
        }
    }
    ask(requests).forEach((said, i) => group.add(!said.startsWith('!'), `${requests[i].slice(0, 30)}: ${said.slice(0, 90)}`));
    group.end();
}

// DuckDB reads the file again after we put our own bits into it.
async function writeBack() {
    const n = 400;
    const where = await write('written', "'val' || v", n, '0.01');
    const bytesBefore = fs.readFileSync(file('written'));
    const header = 16;
    const size = where.length - header;
    const kept = upTo(n).filter((v) => v % 2 === 0);
    const stored = (v) => text(`val${v}`);
    const [ours] = ask([`parquet-bytes ${size} ${list(kept.map(stored))}`]);
    result(ours.slice(0, 2 * header) === bytesBefore.subarray(where.at, where.at + header).toString('hex'),
        'DuckDB and umbel write the same header');
    const changed = Buffer.from(bytesBefore);
    Buffer.from(ours, 'hex').copy(changed, where.at);
    fs.writeFileSync(file('changed'), changed);

    const probes = upTo(2 * n);
    const [answers] = ask([`contains ${ours} ${list(probes.map(stored))}`]);
    const group = new Group('DuckDB answers from our bits, probes');
    for (const v of probes) {
        const [[, , excludes]] = await rows(`SELECT * FROM parquet_bloom_probe('${file('changed')}', 'c', 'val${v}')`);
        group.add(excludes === (answers[v] === '0'), `val${v}`);
    }
    group.end();
    const count = async (name, v) => Number((await rows(`SELECT count(*) FROM '${file(name)}' WHERE c = 'val${v}'`))[0][0]);
    const gone = upTo(n).find((v) => v % 2 === 1 && answers[v] === '0');
    const [before, after, still] = [await count('written', gone), await count('changed', gone), await count('changed', 2)];
    result(before > 0 && after === 0 && still > 0, `DuckDB skips what our filter excludes: ${before} rows become ${after}`);
}

try {
    console.log(`# DuckDB ${(await rows('SELECT version()'))[0][0]}`);
    for (let i = 0; i < columns.length; i++) await compareColumn(columns[i], i);
    await compareSizes();
    await writeBack();
} catch (error) {
    result(false, 'the driver', [String(error.stack || error)]);
}
fs.rmSync(folder, { recursive: true, force: true });
finish();
