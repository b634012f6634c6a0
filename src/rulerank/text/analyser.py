"""Words of a text: Unicode letters and digits, accents folded, stemmed by language.

Nothing is dropped: one-character words and stop words find "It", "X" and "insidious 2". HTML tags are not words. Each
Chinese or Japanese character is a word, because no spaces separate words there. Stop words count in texts and in short
queries; see `matching.asked`.
"""

from __future__ import annotations

import html
import importlib
import itertools
import re
import sys
import threading
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError, MissingExtraError
from rulerank.text.kernels import fill_grams

NO_LETTERS = re.compile(r"[\W_]+")


def letters(texts: Sequence[str | list[str] | None]) -> tuple[Array, Array]:
    """Return the letters and digits of texts as code points, one text after the other, and where each starts.

    >>> codes, starts = letters(["Ab-1", None])
    >>> codes.tolist(), starts.tolist()
    ([97, 98, 49], [0, 3, 3])
    """
    squeezed = [
        "" if text is None else NO_LETTERS.sub("", fold(text if isinstance(text, str) else " ".join(text)))
        for text in texts
    ]
    codes = np.frombuffer("".join(squeezed).encode("utf-32-le"), dtype="<u4").astype(np.uint32)
    return codes, starts_of(squeezed)


def grams(texts: Sequence[str]) -> tuple[Array, Array]:
    """Return the distinct 3-grams of queries, sorted, one query after the other, and where each starts."""
    codes, starts = letters(texts)
    parts = [np.empty(end - begin, dtype=np.int64) for begin, end in itertools.pairwise(starts)]
    for part, begin in zip(parts, starts, strict=False):
        fill_grams(codes, begin, begin + part.size, part)
    return in_a_row([np.unique(part) for part in parts], np.int64)


def in_a_row(parts: Sequence[Sequence[Any] | Array], dtype: Any) -> tuple[Array, Array]:
    """Return all values one after the other, and where each part starts (and ends).

    >>> [one.tolist() for one in in_a_row([[7, 8], [], [9]], np.int32)]
    [[7, 8, 9], [0, 2, 2, 3]]
    """
    return np.fromiter(itertools.chain.from_iterable(parts), dtype=dtype), starts_of(parts)


def starts_of(parts: Sequence[Any]) -> Array:
    """Return where each part starts when they lie in a row, and where the last ends."""
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


UNKNOWN = -2  # a word that no document of the index has
BETWEEN = -1  # between the items of a list
END_OF_DOC, END_OF_ITEM = "\x00", "\x01"  # no text has them: the analyser takes them for spaces


LANGUAGES = {  # of Snowball's stemmers
    "none": None, "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian", "id": "indonesian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip
STOP_WORDS = ("da", "de", "en", "es", "fr", "it", "nl", "no", "pt", "ru", "sv", "tr")  # of which bm25s has lists

TAG = re.compile("</?[a-zA-Z][^<>\x00\x01]*>|<!--[^\x00\x01]*?-->")
ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+"
)  # of Latin, Greek, Cyrillic; Hebrew, Arabic points
IDEOGRAPHS = "\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
ASCII_WORDS = re.compile("[a-z0-9]+|[\x00\x01]")
PLAIN_WORDS = re.compile("[^\\W_]+|[\x00\x01]")


class Words(dict[str, int]):
    """The number of every word as it is written; a word seen first is stemmed and, while it grows, gets a number."""

    def __init__(self, stem: Any, numbers: dict[str, int], *, grows: bool) -> None:
        super().__init__({END_OF_DOC: -4, END_OF_ITEM: BETWEEN})
        self.stem = stem
        self.numbers = numbers
        self.grows = grows

    def __missing__(self, word: str) -> int:
        stem = self.stem(word)
        number = self.numbers.setdefault(stem, len(self.numbers)) if self.grows else self.numbers.get(stem, UNKNOWN)
        self[word] = number  # one that does not grow lives for one call: what a service is asked must not fill memory
        return number


class Analyser:
    """Turns texts into numbers of words.

    >>> analyser = Analyser("en")
    >>> analyser.words("<b>Amélie</b> &amp; the 2 Movies")
    ['ameli', 'the', '2', 'movi']
    """

    def __init__(self, language: str = "en") -> None:
        self.language = check_language(language)
        self._own = threading.local()
        self.stop_words: frozenset[str] = frozenset()
        if language in STOP_WORDS:
            name = "EN_PLUS" if language == "en" else str(LANGUAGES[language]).upper()
            listed = getattr(required("bm25s.stopwords", "bm25s", "text"), f"STOPWORDS_{name}")
            self.stop_words = frozenset(stem for word in listed for stem in self.words(word))

    @property
    def stem(self) -> Any:
        """What stems a word: a stemmer of each thread's own, because it keeps words in a buffer and a cache."""
        found = getattr(self._own, "stem", None)
        if found is None:
            name = LANGUAGES[self.language]
            found = str if name is None else required("Stemmer", "PyStemmer", "text").Stemmer(name).stemWord
            self._own.stem = found
        return found

    def __getstate__(self) -> tuple[str, frozenset[str]]:
        return self.language, self.stop_words

    def __setstate__(self, state: tuple[str, frozenset[str]]) -> None:
        self.language, self.stop_words = state
        self._own = threading.local()

    def words(self, text: str) -> list[str]:
        """Return the stemmed words of a text."""
        stem = self.stem
        return [stem(word) for word in _split(_marked(text))]

    def numbers(self, texts: Sequence[str | list[str] | None], words: Words) -> tuple[Array, Array]:
        """Return the words of all texts as numbers, one after the other, and where each text starts (and ends).

        Between the items of a list stands -1.
        """
        parts, starts = [], [np.zeros(1, dtype=np.int64)]
        n_before = 0
        for first in range(0, len(texts), 1000):  # a batch of texts is split at once
            chunk = texts[first : first + 1000]
            tokens = _split("".join([_marked(text) + END_OF_DOC for text in chunk]))
            numbers = np.fromiter(map(words.__getitem__, tokens), dtype=np.int32, count=len(tokens))
            ends = np.flatnonzero(numbers == -4)
            parts.append(numbers[numbers != -4])
            starts.append(n_before + ends - np.arange(len(chunk)))
            n_before += len(numbers) - len(chunk)
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32), np.concatenate(starts)


def fold(text: str) -> str:
    """Return the text in lower case without accents.

    >>> fold("Amélie ßTRASSE Ｘ")
    'amelie sstrasse x'
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))).casefold()


def check_language(language: object) -> str:
    """Return a language, or say which there are."""
    if not isinstance(language, str) or language not in LANGUAGES:
        raise DataError(f"unknown language {language!r}; choose from {', '.join(LANGUAGES)}")
    return language


def _marked(text: str | list[str] | None) -> str:
    items = [] if text is None else text if isinstance(text, list) else [text]
    return END_OF_ITEM.join(item.replace(END_OF_DOC, " ").replace(END_OF_ITEM, " ") for item in items)


def _split(text: str) -> list[str]:
    if "<" in text:
        text = TAG.sub(" ", text)
    if "&" in text:
        parts = re.split("([\x00\x01])", text)
        text = "".join([part if part in (END_OF_DOC, END_OF_ITEM) else html.unescape(part) for part in parts])
    text = fold(text)
    if text.isascii():
        return ASCII_WORDS.findall(text)
    special, words = _words()
    return (words if special.search(text) else PLAIN_WORDS).findall(text)


@cache
def _words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Characters that need care, and words of any script.

    Python's letters leave out the marks that Indian vowels are written with, and take a Chinese sentence for one word.
    """
    codes = [code for code in range(0x300, 0xFFFF) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    marks = "".join(re.escape(chr(code)) for code in codes)
    letter = f"(?![{IDEOGRAPHS}])[^\\W_]"
    word = f"{letter}(?:{letter}|[{marks}])*"
    return re.compile(f"[{IDEOGRAPHS}{marks}]"), re.compile(f"[\x00\x01]|[{IDEOGRAPHS}]|{word}")


def required(module: str, package: str, extra: str = "") -> Any:
    """Import a module, or name the extra (else the package) that has it."""
    try:
        return sys.modules.get(module) or importlib.import_module(module)
    except ImportError:
        if extra:
            raise MissingExtraError(extra, package) from None
        raise DataError(f"{package} is not installed; install it with: pip install {package}") from None
