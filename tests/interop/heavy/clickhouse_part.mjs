// SPDX-License-Identifier: MIT
// clickhouse_part.mjs - index files of a MergeTree part: compressed blocks in, plain streams out
import { ask } from './peer.mjs';

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
export function readStream(file) {
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
export function writeStream(stream) {
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
