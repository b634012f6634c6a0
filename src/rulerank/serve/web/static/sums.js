// Rounded numbers, and contributions that sum to their rounded total.

// A number in units of its last printed digit. Halves are rounded to even, as in Python, unlike toFixed.
export function units(number, digits) {
  const size = Math.abs(number);
  if (size >= 1e21) return number * 10 ** digits; // toFixed has no decimals here
  const [whole, decimals] = size.toFixed(100).split(".");
  const below = Number(whole + decimals.slice(0, digits));
  const rest = decimals.slice(digits);
  const half = "5".padEnd(rest.length, "0");
  const up = rest > half || (rest === half && below % 2 === 1);
  return Math.sign(number) * (below + Number(up));
}

// Rounded contributions that sum to the total (in units); a last digit may be off by one for that.
export function summed(parts, total, digits) {
  const unit = 10 ** digits;
  const shown = parts.map((part) => units(part, digits));
  const off = total - shown.reduce((sum, part) => sum + part, 0);
  const way = Math.sign(off);
  const nearest = [...parts.keys()].sort((a, b) => way * (shown[a] - parts[a] * unit - shown[b] + parts[b] * unit));
  for (const place of nearest.slice(0, Math.abs(off))) shown[place] += way;
  return shown.map((part) => `${part < 0 ? "−" : "+"}${(Math.abs(part) / unit).toFixed(digits)}`);
}
