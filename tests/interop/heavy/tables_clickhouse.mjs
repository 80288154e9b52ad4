// SPDX-License-Identifier: MIT
// tables_clickhouse.mjs - umbel table on parts that ClickHouse writes on the spot: how many
// granules each selects for a value
import { Group, Random, finish, table } from './peer.mjs';
import { partOf, rows, run, start, stop } from './clickhouse_server.mjs';

const random = new Random();
const ROWS = 6000;

// where: the condition whose granules the index answers for.
const indexes = [
    { name: 'tk', column: 'txt', definition: 'tokenbf_v1(512, 3, 0)', value: (v) => `word${v}`,
        where: (x) => `hasToken(txt, '${x}')` },
    { name: 'ng', column: 'txt', definition: 'ngrambf_v1(4, 1024, 2, 12345)',
        value: (v) => `word${v}`, where: (x) => `txt LIKE '%${x}%'` },
    { name: 'bs', column: 's', definition: 'bloom_filter(0.01)', type: 'String',
        value: (v) => `key-${v}`, where: (x) => `s = '${x}'` },
    { name: 'bi', column: 'i', definition: 'bloom_filter', type: 'Int32', value: (v) => `${v - 999}`,
        where: (x) => `i = ${x}` },
    { name: 'bd', column: 'day', definition: 'bloom_filter(0.001)', type: 'Date',
        value: (v) => new Date(v * 86400000).toISOString().slice(0, 10),
        where: (x) => `day = '${x}'` },
    { name: 'bt', column: 'at', definition: 'bloom_filter(0.1)', type: 'DateTime',
        value: (v) => new Date(v * 61000).toISOString().slice(0, 19).replace('T', ' '),
        where: (x) => `at = toDateTime('${x}', 'UTC')` },
];

function create(name, settings) {
    const clauses = indexes.map(({ name: index, column, definition }) =>
        `INDEX ${index} ${column} TYPE ${definition} GRANULARITY 1`);
    run(`CREATE TABLE ${name} (id UInt64, txt String, s String, i Int32, day Date,
         at DateTime('UTC'), ${clauses}) ENGINE = MergeTree ORDER BY id
         SETTINGS index_granularity = 64, index_granularity_bytes = 0, ${settings}`);
    run(`INSERT INTO ${name} SELECT number, 'the word' || toString(intHash32(number) % 9000) || '.',
         'key-' || toString(number * 3 % 10007), number * 7 % 5003 - 999, toDate(number % 3001),
         toDateTime(number * 61 % 500009, 'UTC') FROM numbers(${ROWS})`);
}

// Granules that the index selects, as reported by ClickHouse itself.
function theirs(name, index, condition) {
    const explained = run(`EXPLAIN json = 1, indexes = 1 SELECT count() FROM ${name}
        WHERE ${condition} SETTINGS use_skip_indexes_on_data_read = 0,
        use_query_condition_cache = 0, ignore_data_skipping_indices =
        '${indexes.filter((other) => other.name !== index).map((other) => other.name)}'`);
    const found = [...JSON.stringify(explained).matchAll(/\\+"Selected Granules\\+": (\d+)/g)];
    if (found.length === 0) throw new Error(`no granules in ${explained}`);
    return Number(found.at(-1)[1]);
}

function compare(name) {
    const part = partOf(name);
    for (const index of indexes) {
        const group = new Group(`umbel table on ${name}, ${index.definition} over ${index.column}`);
        const options = ['--index', `${index.name} ${index.definition}`];
        if (index.type) options.push('--type', index.type);
        const whole = table(part, ...options);
        group.add(whole.faults.length === 0, JSON.stringify(whole.faults));
        group.add(whole.places.length === Math.ceil(ROWS / 64), `${whole.places.length} granules`);
        for (let n = 0; n < 20; n++) {
            const value = index.value(random.below(12000));
            const ours = table(part, ...options, '--check', value);
            const left = theirs(name, index.name, index.where(value));
            group.add(ours.may_hold.length === left, `${value}: ${ours.may_hold.length}, not ${left}`);
        }
        group.end();
    }
}

try {
    console.log(`# ClickHouse ${start()}`);
    create('wide', 'min_bytes_for_wide_part = 0');
    create('compact', 'min_bytes_for_wide_part = 1000000000');
    create('plain', 'min_bytes_for_wide_part = 0, compress_marks = 0');
    ['wide', 'compact', 'plain'].forEach(compare);
} finally {
    stop();
}
finish();
