// SPDX-License-Identifier: MIT
//
// unpack.js - LZMA, a seventh smaller than what browsers unpack by themselves
//
// A raw stream as web/build makes it: 3 bits of the byte before are a literal's context,
// positions are none (lc=3, lp=0, pb=0), and an end marker says where it ends.

const CONTEXT_BITS = 3;
const ENDED = 2 ** 32 - 1; // as a distance

// Where each table of probabilities starts.
const MATCH = 0;
const REPEAT = MATCH + 12;
const REPEAT_0 = REPEAT + 12;
const REPEAT_1 = REPEAT_0 + 12;
const REPEAT_2 = REPEAT_1 + 12;
const LONG_0 = REPEAT_2 + 12;
const SLOT = LONG_0 + 12;
const MIDDLE = SLOT + 4 * 64;
const ALIGN = MIDDLE + 128;
const LENGTH = ALIGN + 16;
const REPEAT_LENGTH = LENGTH + 2 + 8 + 8 + 256;
const LITERAL = REPEAT_LENGTH + 2 + 8 + 8 + 256;

/** Bits out of the bytes, by a range coder whose probabilities learn. */
class Bits {
  #bytes;
  #at = 5; // after a zero and the first four bytes of the code
  #range = Uint32Array.of(2 ** 32 - 1); // arrays, so that they are never anything but 32 bits
  #code;
  #chances = new Uint16Array(LITERAL + (0x300 << CONTEXT_BITS)).fill(1024); // of 2048, for a zero

  constructor(bytes) {
    this.#bytes = bytes;
    this.#code = Uint32Array.of(new DataView(bytes.buffer, bytes.byteOffset).getUint32(1));
  }

  /** Keeps the range large enough to be divided. */
  #refill() {
    if (this.#range[0] >= 2 ** 24) return;
    this.#range[0] <<= 8;
    this.#code[0] = (this.#code[0] << 8) | this.#bytes[this.#at++];
  }

  one(at) {
    const chance = this.#chances[at];
    const bound = Math.imul(this.#range[0] >>> 11, chance) >>> 0;
    const bit = this.#code[0] < bound ? 0 : 1;
    if (bit) {
      this.#range[0] -= bound;
      this.#code[0] -= bound;
      this.#chances[at] -= chance >> 5;
    } else {
      this.#range[0] = bound;
      this.#chances[at] += (2048 - chance) >> 5;
    }
    this.#refill();
    return bit;
  }

  /** The upper bits first, each in the context of those before it. */
  tree(at, count) {
    let node = 1;
    for (let i = 0; i < count; i++) node = 2 * node + this.one(at + node);
    return node - (1 << count);
  }

  /** The lower bits first. */
  reversed(at, count) {
    let node = 1;
    let value = 0;
    for (let i = 0; i < count; i++) {
      const bit = this.one(at + node);
      node = 2 * node + bit;
      value += bit << i;
    }
    return value;
  }

  /** Bits that are as likely 0 as 1. */
  plain(count) {
    let value = 0;
    for (let i = 0; i < count; i++) {
      this.#range[0] >>>= 1;
      const bit = this.#code[0] < this.#range[0] ? 0 : 1;
      if (bit) this.#code[0] -= this.#range[0];
      value = 2 * value + bit;
      this.#refill();
    }
    return value;
  }

  length(at) {
    if (!this.one(at)) return 2 + this.tree(at + 1, 3);
    if (!this.one(at + 9)) return 10 + this.tree(at + 10, 3);
    return 18 + this.tree(at + 18, 8);
  }

  distance(length) {
    const slot = this.tree(SLOT + 64 * Math.min(length - 2, 3), 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const start = (2 + (slot & 1)) * 2 ** count;
    if (slot < 14) return start + this.reversed(MIDDLE + start - slot, count);
    return start + 16 * this.plain(count - 4) + this.reversed(ALIGN, 4);
  }

  /** `was` is the byte at the latest distance if this one follows a copy (so it differs), else -1. */
  literal(before, was) {
    const at = LITERAL + 0x300 * (before >> (8 - CONTEXT_BITS));
    let node = 1;
    while (node < 256 && was >= 0) {
      was <<= 1;
      const guess = (was >> 8) & 1;
      const bit = this.one(at + 256 * (1 + guess) + node);
      node = 2 * node + bit;
      if (bit !== guess) was = -1;
    }
    while (node < 256) node = 2 * node + this.one(at + node);
    return node - 256;
  }
}

/** The distance of a copy from further back than the latest; it becomes the latest. */
function older(bits, state, latest) {
  const which = !bits.one(REPEAT_1 + state) ? 1 : !bits.one(REPEAT_2 + state) ? 2 : 3;
  latest.unshift(...latest.splice(which, 1));
}

/** The bytes that were packed, `size` of them. */
export function unpack(packed, size) {
  const bits = new Bits(packed);
  const out = new Uint8Array(size);
  const latest = [0, 0, 0, 0]; // distances, less one
  let state = 0; // what came last; below 7: a literal
  for (let at = 0; ; ) {
    let length = 1;
    const calm = state < 7;
    if (!bits.one(MATCH + state)) {
      out[at] = bits.literal(at ? out[at - 1] : 0, calm ? -1 : out[at - latest[0] - 1]);
      at++;
      state = state < 4 ? 0 : state - (state < 10 ? 3 : 6);
      continue;
    }
    if (!bits.one(REPEAT + state)) {
      length = bits.length(LENGTH);
      latest.pop();
      latest.unshift(bits.distance(length));
      if (latest[0] === ENDED) return out;
      state = calm ? 7 : 10;
    } else if (bits.one(REPEAT_0 + state)) {
      older(bits, state, latest);
      length = bits.length(REPEAT_LENGTH);
      state = calm ? 8 : 11;
    } else if (bits.one(LONG_0 + state)) {
      length = bits.length(REPEAT_LENGTH);
      state = calm ? 8 : 11;
    } else {
      state = calm ? 9 : 11;
    }
    for (const end = at + length; at < end; at++) out[at] = out[at - latest[0] - 1];
  }
}
