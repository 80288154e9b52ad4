// SPDX-License-Identifier: MIT
//
// unlzma.js - calls unlzma.c

/** The bytes that were packed, `size` of them; `unpacker` is unlzma.c as a module. */
export function unpack(unpacker, packed, size) {
  const { memory, unpack, __heap_base } = new WebAssembly.Instance(new WebAssembly.Module(unpacker)).exports;
  const from = __heap_base.value;
  const to = from + packed.length;
  memory.grow(Math.ceil((to + size) / 65536));
  new Uint8Array(memory.buffer).set(packed, from);
  unpack(from, to);
  return new Uint8Array(memory.buffer, to, size);
}
