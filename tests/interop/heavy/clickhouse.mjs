// SPDX-License-Identifier: MIT
// clickhouse.mjs - umbel and the real ClickHouse (npm chdb): index streams bit for bit, and written
// back, answers from our bits
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Group, Random, ask, finish, list, load, result } from './peer.mjs';
import { readStream, readVarUInt, writeStream } from './clickhouse_part.mjs';

const { Session } = await load('chdb');
const random = new Random();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'umbel-clickhouse-'));
const session = new Session(folder);
const GRANULE = 64;
const SETTINGS = `index_granularity = ${GRANULE}, index_granularity_bytes = 0, min_bytes_for_wide_part = 0`;

const run = (sql) => session.query(sql, 'JSONCompactEachRow');
const rows = (sql) => run(sql).trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
const value = (sql) => rows(sql)[0][0];

function partOf(table) {
    const parts = rows(`SELECT path FROM system.parts WHERE table = '${table}' AND active`);
    if (parts.length !== 1) throw new Error(`${table} has ${parts.length} parts`);
    return parts[0][0];
}

const sums = new Group('checksums of compressed blocks');

function streamOf(table, index) {
    const read = readStream(fs.readFileSync(path.join(partOf(table), `skp_idx_${index}.idx`)));
    for (let i = 0; i < read.blocks; i++) sums.add(read.sumsAgree, `${table}.${index}`);
    return read.stream;
}

// One list of hex texts for each granule of so many rows.  `nothing` stands for each run of
// index_granularity rows that has no value at all: only empty arrays.
function granulesOf(table, expression, perGranule, nothing = []) {
    const all = rows(`SELECT ${expression} FROM ${table} ORDER BY _part_offset`).map((row) => row[0]);
    const granules = [];
    for (let at = 0; at < all.length; at += GRANULE) {
        if (at % perGranule === 0) granules.push([]);
        const values = all.slice(at, at + GRANULE).flat();
        granules.at(-1).push(...(values.length ? values : nothing));
    }
    return granules;
}

// ---- Text with words, letters of every length, stray bytes, nothing at all ----

function randomText() {
    const pieces = ['GET ', '/path/', 'user_', '-', '=', 'Ünï', '中文', '😀', '\t', 'status', 'Z9', '0', ' '];
    const bytes = [];
    for (let n = random.below(12); n > 0; n--) {
        if (random.below(8) === 0) bytes.push(Buffer.from([random.below(256), random.below(256)]));
        else if (random.below(3) === 0) bytes.push(Buffer.from(String(random.below(500))));
        else bytes.push(Buffer.from(random.pick(pieces)));
    }
    return Buffer.concat(bytes).toString('hex').toUpperCase();
}

function tokenIndexes() {
    const indexes = [];
    const seeds = ['0', '1', '12345', '18446744073709551615'];
    for (let i = 0; i < 24; i++) {
        const size = random.pick([1, 7, 64, 100, 256, 1000, 4096]);
        const hashes = 1 + random.below(9);
        const seed = random.below(2) ? random.pick(seeds) : String(random.u64());
        const ngram = i % 2 ? 1 + random.below(6) : 0;
        const [column, expression] = random.pick([
            ['txt', 'hex(txt)'], ['fs', 'hex(fs)'], ['arr', 'arrayMap(x -> hex(x), arr)'],
            ['lc', 'hex(lc)']]);
        const granularity = 1 + random.below(3);
        const type = ngram ? `ngrambf_v1(${ngram}, ${size}, ${hashes}, ${seed})`
            : `tokenbf_v1(${size}, ${hashes}, ${seed})`;
        indexes.push({ name: `i${i}`, column, expression, type, granularity, size, hashes, seed, ngram });
    }
    return indexes;
}

function compareTokens() {
    const indexes = tokenIndexes();
    const clauses = indexes.map((i) => `INDEX ${i.name} ${i.column} TYPE ${i.type} GRANULARITY ${i.granularity}`);
    run(`CREATE TABLE tokens (id UInt64, txt String, fs FixedString(20), arr Array(String),
         lc LowCardinality(String), ${clauses.join(', ')}) ENGINE = MergeTree ORDER BY id SETTINGS ${SETTINGS}`);
    const values = [];
    for (let id = 0; id < 300; id++) {
        const texts = Array.from({ length: random.below(4) }, () => `unhex('${randomText()}')`);
        const empty = id >= 64 && id < 128; // a granule without any token
        values.push(empty ? `(${id}, '', '', [], '')`
            : `(${id}, unhex('${randomText()}'), substring(unhex('${randomText()}'), 1, 20), [${texts}], unhex('${randomText()}'))`);
    }
    run(`INSERT INTO tokens VALUES ${values.join(', ')}`);
    const words = new Group('ClickHouse tokenbf_v1, granules');
    const windows = new Group('ClickHouse ngrambf_v1, granules');
    for (const index of indexes) {
        const stream = streamOf('tokens', index.name);
        const granules = granulesOf('tokens', index.expression, GRANULE * index.granularity);
        const group = index.ngram ? windows : words;
        group.add(stream.length === granules.length * index.size, `${index.type}: stream length`);
        const requests = granules.map((texts, g) => {
            const theirs = stream.subarray(g * index.size, (g + 1) * index.size).toString('hex');
            return `tokens ${index.size} ${index.hashes} ${index.seed} ${index.ngram} ${list(texts)} ${theirs}`;
        });
        ask(requests).forEach((said, g) => group.add(!said.startsWith('!'), `${index.type} ${index.column} granule ${g}: ${said.slice(0, 80)}`));
    }
    words.end();
    windows.end();
}

// ---- bloom_filter over every type; `stored` gives the bytes that the server has ----

const number = (x) => `hex(reinterpretAsString(${x}))`;
const H = 'sipHash64(number, seed)';
const types = [
    { type: 'UInt8', from: `toUInt8(${H})`, stored: number },
    { type: 'UInt16', from: `toUInt16(${H})`, stored: number },
    { type: 'UInt32', from: `toUInt32(${H})`, stored: number },
    { type: 'UInt64', from: H, stored: number },
    { type: 'Int8', from: `toInt8(${H})`, stored: number },
    { type: 'Int16', from: `toInt16(${H})`, stored: number },
    { type: 'Int32', from: `toInt32(${H})`, stored: number },
    { type: 'Int64', from: `toInt64(${H})`, stored: number },
    { type: 'Bool', from: `${H} % 2`, stored: (x) => number(`toUInt8(${x})`) },
    { type: "Enum8('a' = -1, 'b' = 2, 'c' = 100)", from: `['a', 'b', 'c'][1 + ${H} % 3]`, stored: (x) => number(`toInt8(${x})`) },
    { type: "Enum16('x' = -300, 'y' = 5)", from: `['x', 'y'][1 + ${H} % 2]`, stored: (x) => number(`toInt16(${x})`) },
    { type: 'Date', from: `toDate(${H} % 20000)`, stored: (x) => number(`toUInt16(${x})`) },
    { type: 'DateTime', from: `toDateTime(${H} % 2000000000)`, stored: (x) => number(`toUInt32(${x})`) },
    { type: 'DateTime64(3)', from: `fromUnixTimestamp64Milli(toInt64(${H} % 2000000000000))`, stored: (x) => number(`toUnixTimestamp64Milli(${x})`) },
    { type: 'IPv4', from: `toIPv4(toUInt32(${H}))`, stored: (x) => number(`toUInt32(${x})`) },
    { type: 'Float32', from: `if(number % 20 = 0, -0.0, toFloat32(toInt32(${H}) / 7))`, stored: (x) => number(`toFloat64(${x})`) },
    { type: 'Float64', from: `if(number % 20 = 1, 0.0, toInt64(${H}) / 7)`, stored: number },
    { type: 'UInt128', from: `toUInt128(${H}) * 18446744073709551615 + number`, stored: number },
    { type: 'Int128', from: `toInt128(toInt64(${H})) * 4611686018427387904 - number`, stored: number },
    { type: 'UInt256', from: `bitShiftLeft(toUInt256(${H}), number % 190)`, stored: number },
    { type: 'Int256', from: `toInt256(toInt64(${H})) * 4611686018427387904 - number`, stored: number },
    { type: 'UUID', from: `reinterpret(toUInt128(${H}) * 18446744073709551615, 'UUID')`, stored: (x) => number(`reinterpretAsUInt128(${x})`) },
    { type: 'IPv6', from: `toIPv6(IPv6NumToString(toFixedString(unhex(hex(MD5(toString(${H})))), 16)))`, stored: (x) => `hex(${x})` },
    { type: 'String', from: `repeat(toString(${H}), number % 9)`, stored: (x) => `hex(${x})` },
    { type: 'FixedString(7)', from: `toFixedString(substring(toString(${H}), 1, number % 8), 7)`, stored: (x) => `hex(${x})` },
];

// Nullable, Array and LowCardinality of some of them.
const wrapped = [
    { type: 'Nullable(UInt32)', from: `if(number % 3 = 0, NULL, toUInt32(${H}))`, stored: (x) => number(`assumeNotNull(${x})`) },
    { type: 'Nullable(String)', from: `if(number % 3 = 0, NULL, toString(${H}))`, stored: (x) => `hex(assumeNotNull(${x}))` },
    { type: 'LowCardinality(String)', from: `toString(${H} % 10)`, stored: (x) => `hex(${x})` },
    { type: 'Array(UInt64)', from: `if(number < 64, [], arrayMap(i -> ${H} + i, range(number % 4)))`, stored: (x) => `arrayMap(e -> ${number('e')}, ${x})` },
    { type: 'Array(Int32)', from: `if(number BETWEEN 64 AND 191, [], [toInt32(${H})])`, stored: (x) => `arrayMap(e -> ${number('e')}, ${x})` },
    { type: 'Array(String)', from: `if(number < 64, [], arrayMap(i -> toString(${H} % 50 + i), range(number % 4)))`, stored: (x) => `arrayMap(e -> hex(e), ${x})` },
];

const isText = (type) => /String/.test(type);

function compareIndexes() {
    const columns = [...types, ...wrapped].map((column, i) => ({
        ...column,
        name: `c${i}`,
        rate: random.pick(['0.025', '0.01', '0.001', '0.1', '0.3', '0.0001', String(1 / (2 + random.below(3000)))]),
        granularity: 1 + random.below(2),
    }));
    const declared = columns.map((c) => `${c.name} ${c.type}`);
    const indexes = columns.map((c) => `INDEX x${c.name} ${c.name} TYPE bloom_filter(${c.rate}) GRANULARITY ${c.granularity}`);
    run(`CREATE TABLE indexed (id UInt64, ${declared}, ${indexes}) ENGINE = MergeTree ORDER BY id SETTINGS ${SETTINGS}, allow_suspicious_indices = 1`);
    // One seed a column, so that equal types differ.
    const selected = columns.map((c, i) => `${c.from.replaceAll('seed', String(i + random.below(1000)))} AS ${c.name}`);
    run(`INSERT INTO indexed SELECT number AS id, ${selected} FROM numbers(300)`);
    for (const column of columns) {
        const group = new Group(`ClickHouse bloom_filter(${Number(column.rate).toPrecision(3)}) over ${column.type}, granules`);
        const stream = streamOf('indexed', `x${column.name}`);
        const granules = granulesOf('indexed', column.stored(column.name), GRANULE * column.granularity, ['*']);
        const kind = isText(column.type) ? 'strings' : 'numbers';
        let at = 0;
        // Where a granule ends is known once ours is made.
        const ours = ask(granules.map((values) => `index ${column.rate} ${kind} 0 ${list(values)}`));
        const again = granules.map((values, g) => {
            const theirs = stream.subarray(at, at + ours[g].length / 2).toString('hex');
            at += ours[g].length / 2;
            return `index ${column.rate} ${kind} 0 ${list(values)} ${theirs || '-'}`;
        });
        ask(again).forEach((said, g) => group.add(!said.startsWith('!'), `granule ${g}: ${said.slice(0, 100)}`));
        group.add(at === stream.length, `the stream has ${stream.length} bytes, ours ${at}`);
        group.end();
    }
}

function compareTwoColumns() {
    run(`CREATE TABLE pair (id UInt64, a UInt32, b String, INDEX x (a, b) TYPE bloom_filter(0.01) GRANULARITY 1)
         ENGINE = MergeTree ORDER BY id SETTINGS ${SETTINGS}`);
    run(`INSERT INTO pair SELECT number, number % 7, toString(number) FROM numbers(200)`);
    const group = new Group('ClickHouse bloom_filter over two columns, granules');
    const stream = streamOf('pair', 'x');
    const first = granulesOf('pair', number('a'), GRANULE);
    const second = granulesOf('pair', 'hex(b)', GRANULE);
    let at = 0;
    for (let g = 0; g < first.length; g++) {
        const [total, behind] = readVarUInt(stream, at);
        const counts = ask([`rows numbers ${list(first[g])}`, `rows strings ${list(second[g])}`]).map(Number);
        group.add(total === Math.max(...counts), `total_rows ${total}, distinct ${counts}`);
        const [a, b] = ask([`index 0.01 numbers ${total} ${list(first[g])}`, `index 0.01 strings ${total} ${list(second[g])}`]);
        const ours = a + b.slice(2 * (behind - at)); // one head for both
        const theirs = stream.subarray(at, at + ours.length / 2).toString('hex');
        group.add(ours === theirs, `granule ${g} differs`);
        at += ours.length / 2;
    }
    group.add(at === stream.length, 'stream length');
    group.end();
}

// ---- Every rate of the look-up table, literally, its neighbours, and others ----

function compareRates() {
    const table = fs.readFileSync(new URL('../../../src/codec/clickhouse_best.c', import.meta.url), 'utf8');
    const literals = [...table.matchAll(/\[\d+\] = \{([^}]*)\}/g)].flatMap((row) => row[1].split(',').map(Number));
    const millionths = new Set(literals.flatMap((literal) => [literal - 0.5, literal, literal + 0.5]));
    for (let i = 0; i < 40; i++) millionths.add(random.below(1000000));
    const fair = [...millionths].map((m) => m / 1e6).filter((rate) => rate > 0 && rate < 1);
    const group = new Group('ClickHouse sizes of bloom_filter(p), values of p');
    for (let first = 0; first < fair.length; first += 50) {
        const some = fair.slice(first, first + 50);
        const name = `rates${first}`;
        run(`CREATE TABLE ${name} (id UInt64, ${some.map((rate, i) => `INDEX r${i} id TYPE bloom_filter(${rate}) GRANULARITY 1`)})
             ENGINE = MergeTree ORDER BY id SETTINGS ${SETTINGS}`);
        run(`INSERT INTO ${name} SELECT number * 7 FROM numbers(${GRANULE})`);
        const [values] = granulesOf(name, number('id'), GRANULE);
        const said = ask(some.map((rate, i) => `index ${rate} numbers 0 ${list(values)} ${streamOf(name, `r${i}`).toString('hex')}`));
        said.forEach((answer, i) => group.add(!answer.startsWith('!'), `p = ${some[i]}: ${answer.slice(0, 60)}`));
    }
    group.end();
}

function compareHashes() {
    const texts = [];
    for (let length = 0; length < 400; length++) {
        texts.push(Buffer.from(Array.from({ length }, () => random.below(256))).toString('hex'));
    }
    const theirs = rows(`SELECT toString(cityHash64(unhex(arrayJoin([${texts.map((t) => `'${t}'`)}]))))`).map((row) => row[0]);
    const ours = ask(texts.map((text) => `city64 ${text || '-'}`));
    const group = new Group('ClickHouse cityHash64, texts');
    ours.forEach((hash, i) => group.add(hash === theirs[i], `length ${i}`));
    group.end();
}

// ---- Written back: the server answers from our bits ----

// Puts this stream in place of an index of the table's only part.
function replaceStream(table, index, stream) {
    const part = path.basename(partOf(table).replace(/\/$/, ''));
    const home = path.dirname(partOf(table).replace(/\/$/, ''));
    run(`ALTER TABLE ${table} DETACH PART '${part}'`);
    const detached = path.join(home, 'detached', part);
    fs.writeFileSync(path.join(detached, `skp_idx_${index}.idx`), writeStream(stream));
    fs.rmSync(path.join(detached, 'checksums.txt'));
    run(`ALTER TABLE ${table} ATTACH PART '${part}'`);
}

const found = (table, where) => Number(value(`SELECT count() FROM ${table} WHERE ${where} SETTINGS use_query_condition_cache = 0`));

function writeBack(name, column, type, query, requestOf) {
    const table = `written_${name}`;
    run(`CREATE TABLE ${table} (id UInt64, ${column}, INDEX x v TYPE ${type} GRANULARITY 1) ENGINE = MergeTree ORDER BY id SETTINGS ${SETTINGS}`);
    run(`INSERT INTO ${table} SELECT number, ${query.values} FROM numbers(${4 * GRANULE})`);
    const granules = granulesOf(table, query.stored, GRANULE);
    const before = found(table, query.where);
    const filters = ask(granules.map((values) => requestOf(values)));
    replaceStream(table, 'x', Buffer.from(filters.join(''), 'hex'));
    const same = found(table, query.where);
    result(before > 0 && same === before, `ClickHouse finds all ${before} rows through our ${name} index`);
    // Our filter of a granule without the value: its rows must not be found any more.
    const lacking = granules.map((values, g) => (g === 1 ? values.filter((v) => !query.holds(v)) : values));
    const sized = lacking.map((values, g) => requestOf(values, g === 1 ? filters[g] : null));
    replaceStream(table, 'x', Buffer.from(ask(sized).join(''), 'hex'));
    const after = found(table, query.where);
    const skipped = granules[1].filter((v) => query.holds(v)).length;
    result(skipped > 0 && after === before - skipped,
        `ClickHouse skips the granule that our ${name} filter excludes: ${before} rows become ${after}`);
}

function writeAll() {
    const holds = (text) => (hex) => Buffer.from(hex, 'hex').toString().includes(text);
    const values = `concat('line ', toString(number), if(number % 16 = 3, ' needle', ' hay'))`;
    writeBack('tokenbf_v1', 'v String', 'tokenbf_v1(2048, 4, 99)',
        { values, stored: 'hex(v)', where: "hasToken(v, 'needle')", holds: holds('needle') },
        (texts) => `tokens 2048 4 99 0 ${list(texts)}`);
    writeBack('ngrambf_v1', 'v String', 'ngrambf_v1(4, 2048, 4, 7)',
        { values, stored: 'hex(v)', where: "v LIKE '%needle%'", holds: holds('needle') },
        (texts) => `tokens 2048 4 7 4 ${list(texts)}`);
    // A granule keeps its number of rows, else the offsets of the marks would be wrong.
    const rowsOf = (granule) => (granule ? readVarUInt(Buffer.from(granule, 'hex'), 0)[0] : 0);
    writeBack('bloom_filter', 'v UInt64', 'bloom_filter(0.001)',
        { values: 'number * 3 % 300', stored: number('v'), where: 'v = 225', holds: (hex) => hex === 'E1' },
        (numbers, granule) => `index 0.001 numbers ${rowsOf(granule)} ${list(numbers)}`);
}

try {
    console.log(`# ClickHouse ${value('SELECT version()')}`);
    run('CREATE DATABASE umbel ENGINE = Atomic');
    run('USE umbel');
    compareHashes();
    compareTokens();
    compareIndexes();
    compareTwoColumns();
    compareRates();
    writeAll();
    sums.end();
} catch (error) {
    result(false, 'the driver', [String(error.stack || error)]);
}
session.cleanup();
fs.rmSync(folder, { recursive: true, force: true });
finish();
