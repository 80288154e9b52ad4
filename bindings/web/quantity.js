// SPDX-License-Identifier: MIT
//
// quantity.js - counts, sizes and rates: the library reads them, in its worker; here they are shown

import { t } from './shell.js';

/** Why a field cannot be read. */
export function because(text, reason) {
  return t('"{0}" is {1}', text, t(reason));
}

/** What a field says: {} if nothing, {value}, or {bad: the reason}. */
export async function reads(library, what, given) {
  const text = given.trim();
  if (!text) return {};
  const { value, bad } = await library.call('parse', { what, text });
  return bad ? { bad: because(text, bad) } : { value };
}

export function countText(count) {
  return Math.round(count).toLocaleString('en-US');
}

/** As the command writes keys: an estimate has the digits that its error leaves. */
export function keysText({ keys, keysError }) {
  if (!(keysError >= 0.5)) return countText(keys);
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(keysError)));
  return t('about {0}', countText(Math.round(keys / unit) * unit));
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
