// Numbers as the service prints them, and parts that add up to their printed total.

// A number as it is printed, in units of its last digit. An exact half goes to the even digit, as in Python: toFixed
// alone would take the larger. With 100 decimals it is exact where a half is possible.
export function units(number, digits) {
  const size = Math.abs(number);
  if (size >= 1e21) return number * 10 ** digits; // toFixed writes no decimals of such
  const [whole, decimals] = size.toFixed(100).split(".");
  const below = Number(whole + decimals.slice(0, digits));
  const rest = decimals.slice(digits);
  const half = "5".padEnd(rest.length, "0");
  const up = rest > half || (rest === half && below % 2 === 1);
  return Math.sign(number) * (below + Number(up));
}

// Parts as they are printed: they add up to the total, which is in units; for that, a last digit may be one more or less.
export function summed(parts, total, digits) {
  const unit = 10 ** digits;
  const shown = parts.map((part) => units(part, digits));
  const off = total - shown.reduce((sum, part) => sum + part, 0);
  const way = Math.sign(off);
  const nearest = [...parts.keys()].sort((a, b) => way * (shown[a] - parts[a] * unit - shown[b] + parts[b] * unit));
  for (const place of nearest.slice(0, Math.abs(off))) shown[place] += way;
  return shown.map((part) => `${part < 0 ? "−" : "+"}${(Math.abs(part) / unit).toFixed(digits)}`);
}
