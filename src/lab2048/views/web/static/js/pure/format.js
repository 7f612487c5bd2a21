// Numbers and times as text; `number`, `percent` and `duration` do the same as those of views/number.py, in English.

import { language, MARKS } from "../language.js";

/** @typedef {number | null | undefined} MaybeNumber shown as "-" if there is none */

/**
 * A count or a score: thousands separated, small ones with three digits.
 * @param {MaybeNumber} value
 */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return separate(roundEven(value));
  return significant(value, 3);
}

/**
 * A number for a narrow place: 182.4k, 1.2M.
 * @param {MaybeNumber} value
 */
export function short(value) {
  return value === null || value === undefined ? "-" : shorten(value, 1);
}

/**
 * @param {number} value
 * @param {number} decimals of thousands and millions
 */
function shorten(value, decimals) {
  const size = Math.abs(value);
  if (size >= 999_950_000) return fixed(value / 1e9, decimals) + "G";
  if (size >= 999_950) return fixed(value / 1e6, decimals) + "M";
  if (size >= 9_999.5) return fixed(value / 1e3, decimals) + "k";
  return number(size >= 100 ? Math.round(value) : value);
}

/**
 * A rate, with two digits of the rarer side: 99.96%, 0.12%.
 * @param {MaybeNumber} rate
 */
export function percent(rate) {
  if (rate === null || rate === undefined) return "-";
  const rare = Math.min(rate, 1 - rate);
  const decimals = rare >= 0.1 || rare <= 0 ? 0 : 1 - Math.floor(Math.log10(100 * rare));
  return fixed(100 * rate, Math.min(decimals, 6)) + "%";
}

const MOST_DIGITS = 15; // after the point; a table has no more
const NOISE = 5e-7; // tables keep seven digits: what differs by less is the same

/**
 * Probabilities in percent, with enough digits to tell different ones apart: 99.99990% and 99.99900%.
 *
 * `misses` are the probabilities of the opposite, which still have digits where a probability rounds to 1.
 * @param {number[]} values
 * @param {MaybeNumber[]} [misses]
 */
export function chances(values, misses = []) {
  const miss = values.map((value, i) => misses[i] ?? 1 - value);
  const rare = values.map((value, i) => Math.min(value, miss[i])).filter((each) => each > 0 && each < 0.1);
  const [high, low] = [miss.filter((_, i) => values[i] > 0.5), values.filter((value) => value <= 0.5)];
  const between = high.length && low.length ? 1 - Math.max(...high) - Math.max(...low) : 0;
  const differences = [leastDifference(high), leastDifference(low), between].filter((each) => each > 0);
  const decimals = Math.max(
    0,
    ...rare.map((each) => 1 - digitsOf(100 * each)),
    ...differences.map((each) => -digitsOf(100 * each)),
  );
  return values.map((value, i) => percentOf(value, miss[i], Math.min(MOST_DIGITS, decimals)));
}

/**
 * Scores, with enough digits to tell different ones apart.
 * @param {number[]} values
 */
export function scores(values) {
  const texts = values.map(number);
  const least = leastDifference(values);
  const isPlain = texts.every((text, i) => texts.every((other, j) => other !== text || values[i] === values[j]));
  if (isPlain || !least) return texts;
  const decimals = Math.min(9, Math.max(1, -digitsOf(least)));
  return values.map((value) => {
    const [whole, rest] = Math.abs(value).toFixed(decimals).split(".");
    return `${value < 0 ? "-" : ""}${separate(Number(whole))}${MARKS.decimal}${rest}`;
  });
}

/**
 * Scores for narrow places, with up to four decimals to tell different ones apart: 2.4064M and 2.4052M; in full where that
 * is no longer.
 * @param {number[]} values
 */
export function shorts(values) {
  const n = new Set(values).size;
  const full = scores(values);
  if (values.every((value) => Math.abs(value) < 9_999.5)) return full;
  const tried = [1, 2, 3, 4].map((decimals) => values.map((value) => shorten(value, decimals)));
  const found = tried.find((texts) => new Set(texts).size === n) ?? tried[3];
  return widest(full) <= widest(found) ? full : found;
}

/** @param {string[]} texts */
function widest(texts) {
  return Math.max(0, ...texts.map((text) => text.length));
}

/**
 * The position of the first digit: 0 for 3.7, -2 for 0.01, also if rounding made it a little less.
 * @param {number} value
 */
function digitsOf(value) {
  return Math.floor(Math.log10(value) + 1e-9);
}

/**
 * The least difference between two numbers that are not the same; 0 if all are the same.
 * @param {number[]} values
 */
function leastDifference(values) {
  let least = Infinity;
  const sorted = [...values].sort((a, b) => a - b);
  for (let i = 1; i < sorted.length; i += 1) {
    const difference = sorted[i] - sorted[i - 1];
    if (difference > NOISE * Math.max(Math.abs(sorted[i]), Math.abs(sorted[i - 1]))) least = Math.min(least, difference);
  }
  return least === Infinity ? 0 : least;
}

/**
 * A probability in percent; one above 1/2 is computed from `miss`, because numbers near 1 have lost digits.
 * @param {number} value
 * @param {number} miss
 * @param {number} decimals
 */
function percentOf(value, miss, decimals) {
  if (value <= 0.5) return fixed(100 * value, decimals) + "%";
  const whole = 100n * 10n ** BigInt(decimals);
  const digits = (100 * miss).toFixed(decimals).replace(".", "");
  const text = String(whole - BigInt(digits)).padStart(decimals + 1, "0");
  return (decimals ? `${text.slice(0, -decimals)}${MARKS.decimal}${text.slice(-decimals)}` : text) + "%";
}

/**
 * A time in the unit that fits: 6.1 µs, 1.5 s.
 * @param {MaybeNumber} seconds
 */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  if (seconds >= 1000) return `${number(seconds)} s`;
  for (const [unit, scale] of Object.entries({ s: 1, ms: 1e-3, µs: 1e-6 })) {
    if (seconds >= scale) return `${significant(seconds / scale, 3)} ${unit}`;
  }
  return `${Math.round(seconds * 1e9)} ns`;
}

/**
 * A long time: 2 min 5 s, 3 h 20 min.
 * @param {MaybeNumber} seconds
 */
export function clock(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/**
 * A size of files or memory: 1.5 MB.
 * @param {MaybeNumber} size
 */
export function bytes(size) {
  if (size === null || size === undefined) return "-";
  for (const [unit, scale] of Object.entries({ TB: 1e12, GB: 1e9, MB: 1e6, kB: 1e3 })) {
    if (size >= scale) return `${significant(size / scale, 3)} ${unit}`;
  }
  return `${size} bytes`;
}

/**
 * A date and time in the time zone of the browser.
 * @param {string} text ISO 8601
 */
export function date(text) {
  const when = new Date(text);
  if (Number.isNaN(when.getTime())) return text;
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ${two(when.getHours())}:${two(when.getMinutes())}`;
}

/**
 * A day in words, as the browser writes it: "18 November 2026".
 * @param {string} text ISO 8601
 */
export function day(text) {
  const locale = navigator.languages.find((name) => name.startsWith(language)) ?? language;
  return new Date(text).toLocaleDateString(locale, { dateStyle: "long", timeZone: "UTC" });
}

/**
 * A number with this many decimals.
 * @param {number} value
 * @param {number} decimals
 */
function fixed(value, decimals) {
  return local(value.toFixed(decimals));
}

/**
 * A number with the decimal mark of the language.
 * @param {string} text
 */
function local(text) {
  return text.replace(".", MARKS.decimal);
}

/**
 * The same as Python's format ".3g".
 * @param {number} value
 * @param {number} digits
 */
function significant(value, digits) {
  if (value === 0) return "0";
  const text = value.toPrecision(digits);
  const [mantissa, exponent] = Number(text).toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= digits) {
    const sign = power < 0 ? "-" : "+";
    return `${local(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return local(String(Number(text)));
}

/**
 * Round halves to even, as Python does.
 * @param {number} value
 */
function roundEven(value) {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** @param {number} whole */
function separate(whole) {
  const digits = Math.abs(whole) < 1e21 ? BigInt(Math.abs(whole)).toString() : String(Math.abs(whole));
  return (whole < 0 ? "-" : "") + digits.replace(/\B(?=(\d{3})+$)/g, MARKS.group);
}
