/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers as the program does (report/number.c): three digits, half to even. */
'use strict';

const baseUnits = {elements: '', macs: 'MACs', flops: '', bytes: 'B', ps: 's', flops_per_s: 'FLOPS', bytes_per_s: 'B/s'};
const decimalPrefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const secondPrefixes = ['p', 'n', 'u', 'm', '', 'k', 'M'];

/* An integer above 2^53: calculations use it as a double, its text has all digits. */
class BigNumber {
  constructor(digits) { this.digits = digits; }
  valueOf() { return Number(this.digits); }
  toString() { return this.digits; }
}

function isKnown(value) { return value !== null && value !== undefined; }

/* Returns n / unit to the nearest integer, half to even. `more`: n was rounded down, so a half is rounded up. */
function divideRounded(n, unit, more) {
  const whole = n / unit;
  const twice = 2n * (n % unit);
  if (twice === unit && !more) return whole + whole % 2n;
  return twice >= unit ? whole + 1n : whole;
}

/* Returns value / divisor as "1.23", "12.3" or "123"; null if rounding gives 1000 and there is a larger prefix. */
function threeDigits(value, divisor, isLast) {
  const n = value * 1000n / divisor;
  const more = value * 1000n % divisor > 0n;
  const hundredths = divideRounded(n, 10n, more);
  const tenths = divideRounded(n, 100n, more);
  const whole = divideRounded(n, 1000n, more);
  if (whole >= 1000n && !isLast) return null;
  if (hundredths < 1000n) return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`;
  return tenths < 1000n ? `${tenths / 10n}.${tenths % 10n}` : String(whole);
}

/* Returns "131 GMACs" for 130853896192; a fraction is rounded to an integer first. */
function short(value, unit) {
  if (!isKnown(value)) return '?';
  if (value < 0) return '-' + short(value instanceof BigNumber ? new BigNumber(value.digits.slice(1)) : -value, unit);
  const prefixes = unit === 'ps' ? secondPrefixes : decimalPrefixes;
  const n = value instanceof BigNumber ? BigInt(value.digits) : BigInt(Math.round(value));
  if (n === 0n && unit === 'ps') return '0 s';
  let divisor = 1n;
  let power = 0;
  while (n / divisor >= 1000n && power + 1 < prefixes.length) {
    divisor *= 1000n;
    power++;
  }
  let text = power === 0 ? String(n) : threeDigits(n, divisor, power + 1 === prefixes.length);
  if (text === null) {
    text = '1.00';
    power++;
  }
  return `${text} ${prefixes[power]}${baseUnits[unit] || ''}`.trim();
}

/* Returns "130,853,896,192 MACs": every digit of the JSON. */
function exact(value, unit) {
  if (!isKnown(value)) return 'unknown';
  const digits = String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return `${digits} ${{ps: 'ps', elements: 'elements', flops: 'FLOPs'}[unit] || baseUnits[unit] || ''}`.trim();
}

/* Returns "+13.6 MB" or "-5". */
function signed(value, unit) {
  return (value > 0 ? '+' : '') + short(value, unit);
}

/* Returns "35.81%", for times "36%"; a share that is not zero is never "0.00%". */
function percent(part, whole, unit) {
  if (!isKnown(part) || !isKnown(whole)) return '?';
  const share = whole > 0 ? part / whole : 0;
  if (unit === 'ps') return roughly(share);
  return share > 0 && share < 0.00005 ? '<0.01%' : `${(100 * share).toFixed(2)}%`;
}

/* Returns "36%"; a share other than 0 and 1 is "<1%" or ">99%" instead of "0%" or "100%". */
function roughly(share) {
  if (share > 0 && share < 0.01) return '<1%';
  return share < 1 && share > 0.995 ? '>99%' : `${Math.round(100 * share)}%`;
}

/* Capitalizes a leading "the", but no names. */
function sentence(text) {
  return text.startsWith('the ') ? `T${text.slice(1)}` : text;
}

function plural(n, noun) {
  return `${exact(n)} ${noun}${n === 1 ? '' : 's'}`;
}

/* Returns "32x64x56x56" with multiplication signs; "?" for unknown dims. */
function shapeText(shape) {
  if (!isKnown(shape)) return '?';
  return shape.length === 0 ? 'scalar' : shape.map(dim => isKnown(dim) ? dim : '?').join('\u00d7');
}

/* Returns text shortened in the middle to n characters; most of them are from the end, where paths differ. */
function fit(text, n) {
  if (text.length <= n) return text;
  const tail = Math.floor(2 * (n - 1) / 3);
  return n < 6 ? '' : `${text.slice(0, n - 1 - tail)}\u2026${text.slice(text.length - tail)}`;
}
