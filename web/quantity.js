// SPDX-License-Identifier: MIT
//
// quantity.js - counts, sizes and rates as people write and read them

const NUMBER = '([0-9][0-9.,_ \u00a0]*(?:e[+-]?[0-9]+)?)';

/** The number at the start of a text, with separators of thousands; NaN when there is none. */
function number(text) {
  return Number(text.replace(/[,_ \u00a0]/g, ''));
}

const COUNTS = { '': 1, k: 1e3, thousand: 1e3, m: 1e6, mio: 1e6, million: 1e6, g: 1e9, b: 1e9,
  bn: 1e9, billion: 1e9, t: 1e12, trillion: 1e12, 千: 1e3, 万: 1e4, 百万: 1e6, 千万: 1e7, 亿: 1e8,
  十亿: 1e9, 万亿: 1e12 };

/** Keys: 2e9, 1,000,000, 10M, 2 billion, 20亿; NaN for anything else. */
export function parseCount(text) {
  const match = new RegExp(`^${NUMBER}\\s*(\\S*?)\\s*(?:keys?|urls?|个)?$`, 'i').exec(text.trim());
  const factor = match && COUNTS[match[2].toLowerCase()];
  if (!factor) return NaN;
  const count = Math.round(number(match[1]) * factor);
  return count >= 1 && count < 2 ** 63 ? count : NaN;
}

/** Memory: 500 MB is decimal, 500 MiB and 500M are binary; NaN for anything else. */
export function parseSize(text) {
  const match = new RegExp(`^${NUMBER}\\s*([kmgtp]?)(i?b|bytes?|字节)?$`, 'i').exec(text.trim());
  if (!match) return NaN;
  const power = ' kmgtp'.indexOf((match[2] || ' ').toLowerCase());
  const base = /^b$/i.test(match[3] ?? '') ? 1000 : 1024;
  const size = Math.round(number(match[1]) * base ** power);
  return size >= 1 && size < 2 ** 60 ? size : NaN;
}

/** Rates: 0.01, 1%, 1/1000, 1 in 10,000, 1e-6; NaN for anything else. */
export function parseRate(text) {
  const plain = text.trim();
  const share = new RegExp(`^${NUMBER}\\s*(?:/|in|:)\\s*${NUMBER}\\s*([kmb]?)$`, 'i').exec(plain);
  const simple = new RegExp(`^${NUMBER}\\s*([%‰]?)$`, 'i').exec(plain);
  let rate = NaN;
  if (share) rate = number(share[1]) / (number(share[2]) * COUNTS[share[3].toLowerCase()]);
  else if (simple) rate = number(simple[1]) / (simple[2] === '%' ? 100 : simple[2] ? 1000 : 1);
  return rate > 0 && rate < 1 ? rate : NaN;
}

export function countText(count) {
  return Math.round(count).toLocaleString('en-US');
}

/** As the command writes sizes. */
export function sizeText(bytes) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  if (bytes === 1) return '1 byte';
  let unit = 0;
  while (bytes >= 1024 * 0.9995 && unit + 1 < units.length) {
    bytes /= 1024;
    unit++;
  }
  const whole = unit === 0 || bytes >= 99.95 || bytes === Math.floor(bytes);
  return `${bytes.toFixed(whole ? 0 : bytes >= 9.995 ? 1 : 2)} ${units[unit]}`;
}

/** As the command writes rates: percents, below a thousandth of one "1 in N", and 5.4e-20. */
export function rateText(rate) {
  if (!(rate > 0)) return '0%';
  const percent = Math.min(rate, 1) * 100;
  if (percent >= 0.0009995) {
    const decimals = percent >= 9.995 ? 1 : percent >= 0.9995 ? 2
      : 2 - Math.floor(Math.log10(percent / 0.9995) + 1e-9);
    const text = percent.toFixed(decimals);
    const exact = Math.abs(text / percent - 1) < 1e-9; // 1%, not 1.00%
    return `${exact && text.includes('.') ? text.replace(/\.?0+$/, '') : text}%`;
  }
  if (rate <= 1e-18) return String(+rate.toPrecision(2));
  const step = 10 ** Math.max(0, Math.floor(Math.log10(1 / rate)) - 2);
  return `1 in ${countText(Math.round(1 / rate / step) * step)}`;
}

export function bitsText(bits) {
  return bits.toFixed(bits < 10 ? 2 : 1);
}
