// SPDX-License-Identifier: MIT
//
// init.d.ts - types of umbel/init

/** The bytes of umbel.wasm, or the WebAssembly.Module made of them. */
export type Source = ArrayBuffer | Uint8Array | object;

/** The package, over a module of your own. */
export function initSync(source: Source): typeof import('./index.js');

/** Likewise, without blocking; also from a URL or a Response. */
export function init(source: Source | string | Promise<Source | string>): Promise<typeof import('./index.js')>;
