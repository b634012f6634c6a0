// Marks the query's words in a text, ignoring accents, case and plurals. Creates text nodes only.

const STOP = new Set("a an and at by for from in is it of on or the to with".split(" "));
const segmenter = typeof Intl !== "undefined" && Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;

// The pieces of a text, in order and complete: [piece, whether it is a word].
function* pieces(text) {
  if (segmenter) {
    for (const { segment, isWordLike } of segmenter.segment(text)) yield [segment, Boolean(isWordLike)];
    return;
  }
  for (const piece of text.split(/([\p{L}\p{N}\p{M}]+)/u)) if (piece) yield [piece, /^[\p{L}\p{N}]/u.test(piece)];
}

const fold = (word) => word.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase().replaceAll("ß", "ss").replace(/['’]s$/, "");

// Stems English plurals, except short words.
function stem(word) {
  if (word.length < 4 || !word.endsWith("s")) return word;
  if (/[^ae]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(ss|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /(us|ss|is)$/.test(word) ? word : word.slice(0, -1);
}

const key = (word) => stem(fold(word));

// The words of a query without stop words, unless there are no others.
export function wordsOf(query) {
  const words = [...pieces(query ?? "")].filter(([, isWord]) => isWord).map(([piece]) => key(piece));
  const informative = words.filter((word) => !STOP.has(word));
  return new Set(informative.length ? informative : words);
}

// The text as strings and <mark> elements.
export function highlighted(text, words) {
  const parts = [];
  for (const [piece, isWord] of pieces(text ?? "")) {
    if (isWord && words.has(key(piece))) {
      const mark = document.createElement("mark");
      mark.textContent = piece;
      parts.push(mark);
    } else if (typeof parts.at(-1) === "string") parts.push(parts.pop() + piece);
    else parts.push(piece);
  }
  return parts;
}
