// Numbers and times as people read them; `number`, `percent` and `duration` are those of views/number.py.

/** A count or a score: thousands separated, small ones with three digits. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return separate(roundEven(value));
  return significant(value, 3);
}

/** A number for a narrow place: 182.4k, 1.2M. */
export function short(value) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value);
  if (size >= 999_950_000) return (value / 1e9).toFixed(1) + "G";
  if (size >= 999_950) return (value / 1e6).toFixed(1) + "M";
  if (size >= 9_999.5) return (value / 1e3).toFixed(1) + "k";
  return number(size >= 100 ? Math.round(value) : value);
}

/** A rate with two digits of what is rare, be it the success or the failure. */
export function percent(rate) {
  if (rate === null || rate === undefined) return "-";
  const rare = Math.min(rate, 1 - rate);
  const decimals = rare >= 0.1 || rare <= 0 ? 0 : 1 - Math.floor(Math.log10(100 * rare));
  return (100 * rate).toFixed(Math.min(decimals, 6)) + "%";
}

/** A time in the unit that fits. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  for (const [unit, scale] of [
    ["s", 1],
    ["ms", 1e-3],
    ["µs", 1e-6],
  ]) {
    if (seconds >= scale) return `${significant(seconds / scale, 3)} ${unit}`;
  }
  return `${Math.round(seconds * 1e9)} ns`;
}

/** A long time as a clock says it: 2 min 5 s, 3 h 20 min. */
export function clock(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** A size of files or memory. */
export function bytes(count) {
  if (count === null || count === undefined) return "-";
  for (const [unit, scale] of [
    ["TB", 1e12],
    ["GB", 1e9],
    ["MB", 1e6],
    ["kB", 1e3],
  ]) {
    if (count >= scale) return `${significant(count / scale, 3)} ${unit}`;
  }
  return `${count} bytes`;
}

/** A day and a time, short, in the reader's own zone. */
export function date(text) {
  const when = new Date(text);
  if (Number.isNaN(when.getTime())) return String(text ?? "-");
  const two = (n) => String(n).padStart(2, "0");
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ${two(when.getHours())}:${two(when.getMinutes())}`;
}

/** Python's .3g: so many digits that count, no zeros after them. */
function significant(value, digits) {
  if (value === 0) return "0";
  const text = value.toPrecision(digits);
  const [mantissa, exponent] = Number(text).toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= digits) {
    const sign = power < 0 ? "-" : "+";
    return `${mantissa}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return String(Number(text));
}

/** Python rounds halves to the even neighbour. */
function roundEven(value) {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

function separate(whole) {
  const digits = Math.abs(whole) < 1e21 ? BigInt(Math.abs(whole)).toString() : String(Math.abs(whole));
  return (whole < 0 ? "-" : "") + digits.replace(/\B(?=(\d{3})+$)/g, ",");
}
