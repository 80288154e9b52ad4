// SPDX-License-Identifier: MIT
// clickhouse_types.mjs - columns of every type that a bloom_filter index accepts
//
// from: a value of the row `number`; stored: the bytes that the server stores for it, in hex.

export const number = (x) => `hex(reinterpretAsString(${x}))`;
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

export const types = [...plain, ...wrapped].map((column) => ({
    ...column,
    kind: /String/.test(column.type) ? 'strings' : 'numbers',
}));
