// SPDX-License-Identifier: MIT
// clickhouse.mjs - umbel and the real ClickHouse (npm chdb): index streams bit for bit, and written
// back so that the server answers from our bits
import fs from 'node:fs';
import { Group, Random, ask, finish, list, result } from './peer.mjs';
import {
    GRANULE, createTable, granulesOf, readVarUInt, replaceStream, rows, run, start, stop, streamOf, sums,
    value,
} from './clickhouse_server.mjs';

// ---- Columns of every type that a bloom_filter index accepts ----
//
// from: a value of the row `number`; stored: the bytes that the server stores for it, in hex.

const number = (x) => `hex(reinterpretAsString(${x}))`;
const text = (x) => `hex(${x})`;
const as = (type) => (x) => number(`${type}(${x})`);
const each = (stored) => (x) => `arrayMap(e -> ${stored('e')}, ${x})`;
const H = 'sipHash64(number, SEED)';
const HUGE = '18446744073709551615';

const plain = [
    { type: 'UInt8', from: `toUInt8(${H})`, stored: number },
    { type: 'UInt16', from: `toUInt16(${H})`, stored: number },
    { type: 'UInt32', from: `toUInt32(${H})`, stored: number },
    { type: 'UInt64', from: H, stored: number },
    { type: 'Int8', from: `toInt8(${H})`, stored: number },
    { type: 'Int16', from: `toInt16(${H})`, stored: number },
    { type: 'Int32', from: `toInt32(${H})`, stored: number },
    { type: 'Int64', from: `toInt64(${H})`, stored: number },
    { type: 'Bool', from: `${H} % 2`, stored: as('toUInt8') },
    { type: "Enum8('a' = -1, 'b' = 2)", from: `['a', 'b'][1 + ${H} % 2]`, stored: as('toInt8') },
    { type: "Enum16('x' = -300, 'y' = 5)", from: `if(${H} % 2, 'x', 'y')`, stored: as('toInt16') },
    { type: 'Date', from: `toDate(${H} % 20000)`, stored: as('toUInt16') },
    { type: 'DateTime', from: `toDateTime(${H} % 2000000000)`, stored: as('toUInt32') },
    {
        type: 'DateTime64(3)',
        from: `fromUnixTimestamp64Milli(toInt64(${H} % 2000000000000))`,
        stored: as('toUnixTimestamp64Milli'),
    },
    { type: 'IPv4', from: `toIPv4(toUInt32(${H}))`, stored: as('toUInt32') },
    {
        type: 'Float32',
        from: `if(number % 20 = 0, -0.0, toFloat32(toInt32(${H}) / 7))`,
        stored: as('toFloat64'),
    },
    { type: 'Float64', from: `if(number % 20 = 1, 0.0, toInt64(${H}) / 7)`, stored: number },
    { type: 'UInt128', from: `toUInt128(${H}) * ${HUGE} + number`, stored: number },
    { type: 'Int128', from: `toInt128(toInt64(${H})) * 4611686018427387904`, stored: number },
    { type: 'UInt256', from: `bitShiftLeft(toUInt256(${H}), number % 190)`, stored: number },
    { type: 'Int256', from: `toInt256(toInt64(${H})) * 4611686018427387904`, stored: number },
    {
        type: 'UUID',
        from: `reinterpret(toUInt128(${H}) * ${HUGE}, 'UUID')`,
        stored: as('reinterpretAsUInt128'),
    },
    { type: 'IPv6', from: `toIPv6(IPv6NumToString(MD5(toString(${H}))))`, stored: text },
    { type: 'String', from: `repeat(toString(${H}), number % 9)`, stored: text },
    {
        type: 'FixedString(7)',
        from: `toFixedString(substring(toString(${H}), 1, number % 8), 7)`,
        stored: text,
    },
];

const wrapped = [
    {
        type: 'Nullable(UInt32)',
        from: `if(number % 3 = 0, NULL, toUInt32(${H}))`,
        stored: as('assumeNotNull'),
    },
    {
        type: 'Nullable(String)',
        from: `if(number % 3 = 0, NULL, toString(${H}))`,
        stored: (x) => text(`assumeNotNull(${x})`),
    },
    { type: 'LowCardinality(String)', from: `toString(${H} % 10)`, stored: text },
    {
        type: 'Array(UInt64)',
        from: `if(number < 64, [], arrayMap(i -> ${H} + i, range(number % 4)))`,
        stored: each(number),
    },
    {
        type: 'Array(Int32)',
        from: `if(number BETWEEN 64 AND 191, [], [toInt32(${H})])`,
        stored: each(number),
    },
    {
        type: 'Array(String)',
        from: `if(number < 64, [], arrayMap(i -> toString(${H} % 50 + i), range(number % 4)))`,
        stored: each(text),
    },
];

const types = [...plain, ...wrapped].map((column) => ({
    ...column,
    kind: /String/.test(column.type) ? 'strings' : 'numbers',
}));

// ---- Hashes ----

const random = new Random();

function compareHashes() {
    const texts = [];
    for (let length = 0; length < 400; length++) {
        texts.push(Buffer.from(Array.from({ length }, () => random.below(256))).toString('hex'));
    }
    const quoted = texts.map((text) => `'${text}'`);
    const theirs = rows(`SELECT toString(cityHash64(unhex(arrayJoin([${quoted}]))))`);
    const ours = ask(texts.map((text) => `city64 ${text || '-'}`));
    const group = new Group('ClickHouse cityHash64, texts');
    ours.forEach((hash, length) => group.add(hash === theirs[length][0], `length ${length}`));
    group.end();
}

// ---- tokenbf_v1 and ngrambf_v1 ----

// Text with words, letters of every length, stray bytes, or nothing at all, in hex.
function randomText() {
    const pieces = ['GET ', '/path/', 'user_', '-', '=', 'Ünï', '中文', '😀', '\t', 'Z9', '0', ' '];
    const bytes = [];
    for (let n = random.below(12); n > 0; n--) {
        const way = random.below(8);
        if (way === 0) bytes.push(Buffer.from([random.below(256), random.below(256)]));
        else if (way < 4) bytes.push(Buffer.from(String(random.below(500))));
        else bytes.push(Buffer.from(random.pick(pieces)));
    }
    return Buffer.concat(bytes).toString('hex');
}

const texts = [
    { name: 'txt', type: 'String', stored: 'hex(txt)' },
    { name: 'fs', type: 'FixedString(20)', stored: 'hex(fs)' },
    { name: 'arr', type: 'Array(String)', stored: 'arrayMap(x -> hex(x), arr)' },
    { name: 'lc', type: 'LowCardinality(String)', stored: 'hex(lc)' },
];

function randomTokenIndex(i) {
    const size = random.pick([1, 7, 64, 100, 256, 1000, 4096]);
    const hashes = 1 + random.below(9);
    const seed = random.pick(['0', '12345', '18446744073709551615', String(random.u64())]);
    const ngram = i % 2 ? 1 + random.below(6) : 0;
    const column = random.pick(texts);
    const granularity = 1 + random.below(3);
    const type = ngram ? `ngrambf_v1(${ngram}, ${size}, ${hashes}, ${seed})`
        : `tokenbf_v1(${size}, ${hashes}, ${seed})`;
    const clause = `INDEX i${i} ${column.name} TYPE ${type} GRANULARITY ${granularity}`;
    return { name: `i${i}`, column, granularity, size, hashes, seed, ngram, clause };
}

function randomRow(id) {
    const made = () => `unhex('${randomText()}')`;
    const several = Array.from({ length: random.below(4) }, made);
    const empty = id >= GRANULE && id < 2 * GRANULE; // a granule without any token
    return empty ? `(${id}, '', '', [], '')`
        : `(${id}, ${made()}, substring(${made()}, 1, 20), [${several}], ${made()})`;
}

function compareTokens() {
    const indexes = Array.from({ length: 24 }, (_, i) => randomTokenIndex(i));
    createTable('tokens', texts.map((column) => `${column.name} ${column.type}`),
        indexes.map((index) => index.clause));
    run(`INSERT INTO tokens VALUES ${Array.from({ length: 300 }, (_, id) => randomRow(id))}`);
    const words = new Group('ClickHouse tokenbf_v1, granules');
    const windows = new Group('ClickHouse ngrambf_v1, granules');
    for (const index of indexes) {
        const { size, hashes, seed, ngram } = index;
        const stream = streamOf('tokens', index.name);
        const granules = granulesOf('tokens', index.column.stored, GRANULE * index.granularity);
        const group = ngram ? windows : words;
        group.add(stream.length === granules.length * size, `${index.clause}: stream length`);
        const requests = granules.map((granule, g) => {
            const theirs = stream.subarray(g * size, (g + 1) * size).toString('hex');
            return `tokens ${size} ${hashes} ${seed} ${ngram} ${list(granule)} ${theirs}`;
        });
        ask(requests).forEach((said, g) => group.add(!said.startsWith('!'),
            `${index.clause}, granule ${g}: ${said.slice(0, 80)}`));
    }
    words.end();
    windows.end();
}

// ---- bloom_filter ----

function compareColumn(column) {
    const shown = Number(column.rate).toPrecision(3);
    const group = new Group(`ClickHouse bloom_filter(${shown}) over ${column.type}, granules`);
    const stream = streamOf('indexed', `x${column.name}`);
    const perGranule = GRANULE * column.granularity;
    const granules = granulesOf('indexed', column.stored(column.name), perGranule, ['*']);
    const requests = granules.map(
        (values) => `index ${column.rate} ${column.kind} 0 ${list(values)}`);
    // Where a granule ends is known once ours is built.
    let at = 0;
    const withTheirs = ask(requests).map((ours, g) => {
        const theirs = stream.subarray(at, at + ours.length / 2).toString('hex');
        at += ours.length / 2;
        return `${requests[g]} ${theirs || '-'}`;
    });
    ask(withTheirs).forEach((said, g) => group.add(!said.startsWith('!'),
        `granule ${g}: ${said.slice(0, 100)}`));
    group.add(at === stream.length, `the stream has ${stream.length} bytes, ours ${at}`);
    group.end();
}

function compareIndexes() {
    const common = ['0.025', '0.01', '0.001', '0.1', '0.3', '0.0001'];
    const columns = types.map((column, i) => ({
        ...column,
        name: `c${i}`,
        rate: random.pick([...common, String(1 / (2 + random.below(3000)))]),
        granularity: 1 + random.below(2),
    }));
    createTable('indexed', columns.map(({ name, type }) => `${name} ${type}`),
        columns.map(({ name, rate, granularity }) => `INDEX x${name} ${name}
            TYPE bloom_filter(${rate}) GRANULARITY ${granularity}`));
    // One seed per column, so that equal types differ.
    const selected = columns.map(({ from }) => from.replaceAll('SEED', String(random.below(1e6))));
    run(`INSERT INTO indexed SELECT number, ${selected} FROM numbers(300)`);
    columns.forEach(compareColumn);
}

function compareTwoColumns() {
    createTable('pair', ['a UInt32', 'b String'],
        ['INDEX x (a, b) TYPE bloom_filter(0.01) GRANULARITY 1']);
    run('INSERT INTO pair SELECT number, number % 7, toString(number) FROM numbers(200)');
    const group = new Group('ClickHouse bloom_filter over two columns, granules');
    const stream = streamOf('pair', 'x');
    const first = granulesOf('pair', number('a'));
    const second = granulesOf('pair', 'hex(b)');
    let at = 0;
    for (let g = 0; g < first.length; g++) {
        const [total, behind] = readVarUInt(stream, at);
        const counts = ask([`rows numbers ${list(first[g])}`, `rows strings ${list(second[g])}`]);
        group.add(total === Math.max(...counts.map(Number)), `total_rows ${total}, not ${counts}`);
        const [a, b] = ask([
            `index 0.01 numbers ${total} ${list(first[g])}`,
            `index 0.01 strings ${total} ${list(second[g])}`]);
        const ours = a + b.slice(2 * (behind - at)); // one head for both
        const theirs = stream.subarray(at, at + ours.length / 2).toString('hex');
        group.add(ours === theirs, `granule ${g} differs`);
        at += ours.length / 2;
    }
    group.add(at === stream.length, 'stream length');
    group.end();
}

// Every rate of the lookup table, literally and half a millionth to either side, and others.
function someRates() {
    const source = new URL('../../../src/format/clickhouse/clickhouse_index.c', import.meta.url);
    const millionths = new Set();
    for (const [, row] of fs.readFileSync(source, 'utf8').matchAll(/\[\d+\] = \{([^}]*)\}/g)) {
        for (const rate of row.split(',').map(Number)) {
            millionths.add(rate - 0.5).add(rate).add(rate + 0.5);
        }
    }
    if (millionths.size < 300) throw new Error('the lookup table is no longer where it was');
    for (let i = 0; i < 40; i++) millionths.add(random.below(1000000));
    return [...millionths].map((rate) => rate / 1e6).filter((rate) => rate > 0 && rate < 1);
}

function compareRates() {
    const rates = someRates();
    const group = new Group('ClickHouse sizes of bloom_filter(p), values of p');
    for (let first = 0; first < rates.length; first += 50) {
        const some = rates.slice(first, first + 50);
        const table = `rates${first}`;
        createTable(table, [], some.map((rate, i) => `INDEX r${i} id
            TYPE bloom_filter(${rate}) GRANULARITY 1`));
        run(`INSERT INTO ${table} SELECT number * 7 FROM numbers(${GRANULE})`);
        const [values] = granulesOf(table, number('id'));
        const said = ask(some.map((rate, i) => {
            const theirs = streamOf(table, `r${i}`).toString('hex');
            return `index ${rate} numbers 0 ${list(values)} ${theirs}`;
        }));
        said.forEach((answer, i) => group.add(!answer.startsWith('!'),
            `p = ${some[i]}: ${answer.slice(0, 60)}`));
    }
    group.end();
}

// ---- Indexes that umbel wrote, and whether the server uses them ----

const found = (table, where) => Number(value(
    `SELECT count() FROM ${table} WHERE ${where} SETTINGS use_query_condition_cache = 0`));

const replaced = (table, requests) => {
    const filters = ask(requests);
    replaceStream(table, 'x', Buffer.from(filters.join(''), 'hex'));
    return filters;
};

// what: name, column and index of the table; values, and how the server stores them; a condition
// and whether a stored value meets it; request: to umbel, for these values, in the size of another
// granule if one is given.
function writeBack(what) {
    const table = `written_${what.name}`;
    createTable(table, [`v ${what.column}`], [`INDEX x v TYPE ${what.index} GRANULARITY 1`]);
    run(`INSERT INTO ${table} SELECT number, ${what.values} FROM numbers(${4 * GRANULE})`);
    const granules = granulesOf(table, what.stored);
    const before = found(table, what.where);
    const filters = replaced(table, granules.map((values) => what.request(values)));
    const same = found(table, what.where);
    result(before > 0 && same === before,
        `ClickHouse finds all ${before} rows through our ${what.name} index`);

    // Our filter of the second granule without the value: its rows must no longer be found.
    const kept = granules[1].filter((stored) => !what.meets(stored));
    replaced(table, granules.map((values, g) => what.request(g === 1 ? kept : values, filters[g])));
    const after = found(table, what.where);
    const skipped = granules[1].length - kept.length;
    result(skipped > 0 && after === before - skipped,
        `ClickHouse skips what our ${what.name} filter excludes: ${before} rows become ${after}`);
}

const lines = {
    column: 'String',
    values: "concat('line ', toString(number), if(number % 16 = 3, ' needle', ' hay'))",
    stored: 'hex(v)',
    meets: (hex) => Buffer.from(hex, 'hex').toString().includes('needle'),
};

function writeAll() {
    writeBack({
        ...lines,
        name: 'tokenbf_v1',
        index: 'tokenbf_v1(2048, 4, 99)',
        where: "hasToken(v, 'needle')",
        request: (texts) => `tokens 2048 4 99 0 ${list(texts)}`,
    });
    writeBack({
        ...lines,
        name: 'ngrambf_v1',
        index: 'ngrambf_v1(4, 2048, 4, 7)',
        where: "v LIKE '%needle%'",
        request: (texts) => `tokens 2048 4 7 4 ${list(texts)}`,
    });
    // A granule keeps its number of rows: the marks say where the next one begins.
    const rowsOf = (granule) => (granule ? readVarUInt(Buffer.from(granule, 'hex'), 0)[0] : 0);
    writeBack({
        name: 'bloom_filter',
        column: 'UInt64',
        index: 'bloom_filter(0.001)',
        values: 'number * 3 % 300',
        stored: number('v'),
        where: 'v = 225',
        meets: (hex) => hex === 'E1',
        request: (numbers, granule) => `index 0.001 numbers ${rowsOf(granule)} ${list(numbers)}`,
    });
}

try {
    console.log(`# ClickHouse ${start()}`);
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
stop();
finish();
