"""Vectors of a collection: the embedder that computed them, and a cache file.

Vectors have unit length and 16 bits per number, in files and in memory. A document's vector is that of all its searched
fields, brought halfway to its title's: short queries are near to titles, long ones to texts.
"""

from __future__ import annotations

import os
import struct
import warnings
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from rulerank._util.loops import progress
from rulerank.dataset import Array
from rulerank.errors import DataError, EmbeddingError
from rulerank.io.files import write_bytes
from rulerank.text.analyser import Analyser
from rulerank.text.embedding import LSA, Embedder, Lsa, check_embedder, open_embedder
from rulerank.text.fields import Field, as_texts

ENVIRONMENT = "RULERANK_EMBED"  # names where the embedder of an extractor is now
PROBES = ("a red apple on the table", "how do I renew my passport?", "Das Haus am See, 1984")
ALIKE = 0.999  # the least cosine of a probe's two vectors for one embedder


class Meaning:
    """The embedder of a collection; when it is loaded from a file, it is opened and checked at its first use.

    probe: its vectors of PROBES. A different embedder is recognised by different vectors.
    """

    def __init__(self, name: str, version: str, probe: Array, embedder: Embedder | None = None) -> None:
        self.name = name
        self.version = version
        self.probe = probe
        self._embedder = embedder

    @classmethod
    def opened(cls, name: str) -> Self:
        """Return the embedder of a name."""
        embedder = open_embedder(name)
        return cls(name, embedder.version, _rows(embedder, PROBES), embedder)

    @classmethod
    def of_collection(cls, analyser: Analyser, vocabulary: dict[str, int], idf: Array, texts: Sequence[str]) -> Self:
        """Return latent semantic analysis of the texts."""
        embedder = Lsa.fit(analyser, vocabulary, idf, texts)
        return cls(LSA, "", _rows(embedder, PROBES), embedder)

    def to_state(self) -> dict[str, Any]:
        """Return which embedder it is; latent semantic analysis brings all that it needs."""
        state = {"name": self.name, "version": self.version, "probe": self.probe}
        lsa = self._embedder
        return state | ({"kept": lsa.kept, "rows": lsa.rows} if isinstance(lsa, Lsa) else {})

    @classmethod
    def from_state(cls, state: dict[str, Any], analyser: Analyser, vocabulary: dict[str, int], idf: Array) -> Self:
        """Return what `to_state` described."""
        check_embedder(state["name"])
        probe = state["probe"]
        if probe.dtype != np.float16 or probe.shape[:1] != (len(PROBES),):
            raise DataError("its embedder is not described")
        if state["name"] != LSA:
            return cls(state["name"], str(state["version"]), probe)
        kept, rows = state["kept"], state["rows"]
        fits = kept.dtype == np.int64 and kept.ndim == 1 and ((kept >= 0) & (kept < idf.size - 1)).all()
        fits = fits and rows.dtype == np.float32 and rows.shape == (kept.size, probe.shape[1])
        if not fits or not np.isfinite(rows).all():
            raise DataError("the vectors of its words do not fit its words")
        return cls(LSA, "", probe, Lsa(analyser, vocabulary, idf, kept, rows))

    @property
    def size(self) -> int:
        return self.probe.shape[1]

    @property
    def embedder(self) -> Embedder:
        """What makes vectors, opened and checked once."""
        if self._embedder is None:
            name = os.environ.get(ENVIRONMENT) or self.name
            found = open_embedder(name)
            if not alike(_rows(found, PROBES), self.probe):
                raise EmbeddingError(
                    f"{name} ({found.version}) gives other vectors than {self.name} ({self.version}), which the "
                    f"features were made with: start with that one, or make the features again; {ENVIRONMENT} can "
                    "name where it is now"
                )
            self._embedder = found
        return self._embedder

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_embedder": self._embedder if self.name == LSA else None}

    def rows(self, texts: Sequence[str], cache: VectorCache | None = None) -> Array:
        """Return a vector per text, float16 of unit length; zeros for an empty text."""
        distinct = [*dict.fromkeys(text for text in texts if text.strip())]
        if cache is not None:
            found = cache.rows(distinct, self.embedder)
        else:
            parts = [*_in_batches(self.embedder, distinct, self.size)]
            found = np.concatenate(parts) if parts else np.empty((0, self.size), dtype=np.float16)
        place = {text: number for number, text in enumerate(distinct)}
        out = np.zeros((len(texts), self.size), dtype=np.float16)
        filled = [number for number, text in enumerate(texts) if text.strip()]
        out[filled] = found[[place[texts[number]] for number in filled]]
        return out

    def of_documents(
        self, names: Sequence[str], title: str | None, values: Mapping[str, Sequence[Any]], cache: VectorCache | None
    ) -> Array:
        """Return the vectors of documents by the fields of some names; title: the field to bring them halfway to."""
        rows = self.rows(joined_texts(names, values), cache)
        if title is None or [*names] == [title]:
            return rows
        return unit(rows.astype(np.float32) + self.rows(joined_texts([title], values), cache).astype(np.float32))


def embedded_fields(field: str, fields: Sequence[Field]) -> tuple[list[str], str | None]:
    """Return the fields that `meaning(field)` reads, and the title among them where it reads all."""
    searched = [one.name for one in fields if one.searched]
    if field in searched:
        return [field], None
    return searched, next((one.name for one in fields if one.kind == "title"), None)


def joined_texts(names: Sequence[str], values: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return one text per document.

    >>> joined_texts(["title", "tags"], {"title": ["Dune", None], "tags": [["desert", "worm"], ["sea"]]})
    ['Dune. desert, worm', 'sea']
    """
    columns = [[", ".join(one) if isinstance(one, list) else one for one in as_texts(values[name])] for name in names]
    return [". ".join(text for text in row if text) for row in zip(*columns, strict=True)]


def read_vectors(path: str | PathLike[str], n_rows: int) -> Any:
    """Return the vectors that a .npy file beside a file of documents or queries holds, one row for each of them."""
    file = Path(path)
    beside = file.with_name(file.name.removesuffix(".gz")).with_suffix(".npy")
    try:
        found = np.load(beside, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the vectors of {file}: {beside}: {error}") from None
    if found.ndim != 2 or len(found) != n_rows or found.dtype.kind != "f" or not np.isfinite(found).all():
        what = f"{' x '.join(map(str, found.shape))} values of {found.dtype}"
        raise DataError(f"{beside}: expected {n_rows} rows of finite numbers, one per line of {file}: got {what}")
    return np.asarray(found, dtype=np.float32)


def unit(rows: Array) -> Array:
    """Return rows of unit length as float16; zeros stay zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return (rows / np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float16)


def alike(rows: Array, others: Array) -> bool:
    """Tell whether vectors of the same texts are of the same embedder."""
    if rows.shape != others.shape:
        return False
    a, b = rows.astype(np.float64), others.astype(np.float64)
    return bool(((a * b).sum(axis=1) >= ALIKE * np.maximum(a.any(axis=1), b.any(axis=1))).all())


def _rows(embedder: Embedder, texts: Sequence[str]) -> Array:
    rows = np.asarray(embedder(texts), dtype=np.float32)
    if not np.isfinite(rows).all():
        raise EmbeddingError(f"the embedder gives numbers that are not finite, such as for {texts[0]!r:.60}")
    return unit(rows)


def _in_batches(embedder: Embedder, texts: Sequence[str], size: int) -> Iterator[Array]:
    with progress(len(texts), "embedding") as bar:
        for first in range(0, len(texts), embedder.batch):
            rows = _rows(embedder, texts[first : first + embedder.batch])
            if rows.shape[1] != size:
                raise EmbeddingError(f"the embedder returned vectors of length {rows.shape[1]} after length {size}")
            yield rows
            bar.advance(len(rows))


class VectorCache:
    """A file of vectors by the digests of their texts. It only grows, so an interrupted run continues where it stopped.

    It begins with 16 bytes (RRVECTOR, numbers per vector) and the vectors of PROBES. A file that another embedder made
    is begun anew.
    """

    HEADER = struct.Struct("<8sII")
    MAGIC = b"RRVECTOR"

    def __init__(self, path: str | PathLike[str], probe: Array) -> None:
        self.path = Path(path)
        size = probe.shape[1]
        self.dtype = np.dtype([("digest", "V16"), ("vector", "<f2", (size,))])
        if not self._is_of(probe):
            write_bytes(self.path, self.HEADER.pack(self.MAGIC, size, 0) + self._packed(PROBES, probe))
        n_bytes = self.path.stat().st_size - self.HEADER.size
        os.truncate(self.path, self.HEADER.size + n_bytes // self.dtype.itemsize * self.dtype.itemsize)
        self._places = {one: place for place, one in enumerate(self._records()["digest"].tolist())}

    def _is_of(self, probe: Array) -> bool:
        if not self.path.exists() or not self.path.stat().st_size:
            return False
        with self.path.open("rb") as file:
            magic, size, _ = self.HEADER.unpack(file.read(self.HEADER.size).ljust(self.HEADER.size))
        if magic != self.MAGIC:
            raise DataError(f"{self.path} exists and has no vectors: remove it, or name another file")
        whole = self.path.stat().st_size >= self.HEADER.size + len(PROBES) * self.dtype.itemsize
        if size == probe.shape[1] and whole and alike(self._records()["vector"][: len(PROBES)], probe):
            return True
        warnings.warn(f"{self.path}: its vectors are from a different embedder; computing all again", stacklevel=5)
        return False

    def rows(self, texts: Sequence[str], embedder: Embedder) -> Array:
        """Return the vectors of texts; those that the file lacks are made and written, batch by batch."""
        digests = [_digest(text) for text in texts]
        new = {one: text for one, text in zip(digests, texts, strict=True) if one not in self._places}
        missing, written = [*new.values()], 0
        with self.path.open("ab") as file:
            for rows in _in_batches(embedder, missing, self.dtype["vector"].shape[0]):
                file.write(self._packed(missing[written : written + len(rows)], rows))
                file.flush()
                written += len(rows)
        for one in new:
            self._places[one] = len(self._places)
        return np.asarray(self._records()["vector"][[self._places[one] for one in digests]])

    def _records(self) -> Array:
        n_records = (self.path.stat().st_size - self.HEADER.size) // self.dtype.itemsize
        return np.memmap(self.path, self.dtype, "r", self.HEADER.size, (n_records,))

    def _packed(self, texts: Sequence[str], rows: Array) -> bytes:
        records = np.empty(len(rows), dtype=self.dtype)
        records["digest"] = np.array([_digest(text) for text in texts], dtype="V16")
        records["vector"] = rows
        return records.tobytes()


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
