// SPDX-License-Identifier: MIT
// clickhouse_write.mjs - indexes that umbel wrote, and whether the server uses them
import { ask, list, result } from './peer.mjs';
import { readVarUInt } from './clickhouse_part.mjs';
import {
    GRANULE, createTable, granulesOf, replaceStream, run, value,
} from './clickhouse_server.mjs';
import { number } from './clickhouse_types.mjs';

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

export function writeAll() {
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
