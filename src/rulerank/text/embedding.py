"""Embedders: from texts to vectors whose cosine measures semantic similarity. One small class per kind.

    static[:FOLDER]             means of token vectors: files of wordllama (by default the package's) or of model2vec
    lsa                         latent semantic analysis of the collection itself: nothing to install or to download
    onnx:FOLDER                 a transformer in ONNX form, run by onnxruntime
    sentence-transformers:NAME  a model, or its folder, of that library
    http://HOST/v1/embeddings#MODEL    a server with the interface of OpenAI; its key in RULERANK_EMBED_KEY

`open_embedder` opens one by its name. Nothing is downloaded here; sentence-transformers may do so for a NAME.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from functools import partial
from http.client import HTTPException
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.parse import urldefrag, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np

from rulerank._util.loops import compiled, one_blas_thread
from rulerank.dataset import Array
from rulerank.errors import DataError, EmbeddingError, MissingExtraError
from rulerank.text.analyser import Analyser, Words, in_a_row, required

KEY = "RULERANK_EMBED_KEY"  # the environment variable of a server's key; no file and no message has it
STATIC, LSA, ONNX, SENTENCES = "static", "lsa", "onnx", "sentence-transformers"
FORMS = f"{STATIC}, {STATIC}:FOLDER, {LSA}, {ONNX}:FOLDER, {SENTENCES}:NAME or http://HOST/v1/embeddings#MODEL"
LONGEST = 512  # tokens that a transformer reads where its folder does not say


class Embedder(Protocol):
    """Texts in, vectors out; `batch` texts at a time are given to it."""

    version: str
    batch: int

    def __call__(self, texts: Sequence[str]) -> Array:
        """Return one vector per text; zeros for a text without known words."""


def check_embedder(name: Any) -> None:
    """Raise an error unless this is the name of an embedder; it is not opened."""
    kind, _, rest = str(name).partition(":")
    known = kind in (STATIC, LSA) if not rest else kind in (STATIC, ONNX, SENTENCES, "http", "https")
    if not isinstance(name, str) or not known:
        raise DataError(f"embed must be {FORMS}: got {name!r:.80}")
    address = urlsplit(name)
    if kind in ("http", "https") and (address.username or re.search(r"key|token", address.query, re.I)):
        raise DataError(f"embed: the address is kept in files, so it must hold no key: set {KEY} instead")


def open_embedder(name: str) -> Embedder:
    """Return an embedder by its name; `lsa` is made by `Lsa.fit` instead."""
    check_embedder(name)
    kind, _, rest = name.partition(":")
    if kind == STATIC:
        return Static(Path(rest) if rest else None)
    if kind == ONNX:
        return Onnx(Path(rest))
    return Sentences(rest) if kind == SENTENCES else Server(name)


class Static:
    """The mean of a text's token vectors."""

    batch = 256

    def __init__(self, folder: Path | None = None) -> None:
        tokenizers = required("tokenizers", "tokenizers", "semantic")
        safetensors = required("safetensors.numpy", "safetensors", "semantic")
        if folder is None:
            found = find_spec("wordllama")  # its files are read; its code, which would download others, is not
            if found is None or not found.submodule_search_locations:
                raise MissingExtraError("semantic", "wordllama")
            folder = Path(found.submodule_search_locations[0])
            self.version = f"wordllama {version('wordllama')}"
        else:
            self.version = folder.name
        weights = _one_file(folder, "*.safetensors")
        self.tokenizer = tokenizers.Tokenizer.from_file(str(_one_file(folder, "tokenizer.json", "*_tokenizer*.json")))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        tensors = safetensors.load_file(weights)
        rows = next((tensors[name] for name in ("embeddings", "embedding.weight") if name in tensors), None)
        if rows is None or rows.ndim != 2:
            raise DataError(f"{weights}: expected token vectors of wordllama or model2vec, got {', '.join(tensors)}")
        rows = rows.astype(np.float32)
        if "mapping" in tensors:
            rows = rows[tensors["mapping"]]
        if "weights" in tensors:
            rows = rows * tensors["weights"].astype(np.float32)[:, None]
        self.rows = np.ascontiguousarray(rows)
        unknown = json.loads(self.tokenizer.to_str())["model"].get("unk_token")
        self.unknown = -1 if unknown is None else self.tokenizer.token_to_id(unknown)

    def __call__(self, texts: Sequence[str]) -> Array:
        split = partial(self.tokenizer.encode_batch_fast, add_special_tokens=False)
        ids = [one.ids for first in range(0, len(texts), 64) for one in split(list(texts[first : first + 64]))]
        out = np.zeros((len(texts), self.rows.shape[1]), dtype=np.float32)
        mean_rows(self.rows, *in_a_row(ids, np.int64), self.unknown, out)
        return out


@compiled
def mean_rows(rows: Array, tokens: Array, ends: Array, unknown: int, out: Array) -> None:
    """Sum the vectors of each text's known tokens: the mean but for its length, which does not matter."""
    for text in range(out.shape[0]):
        for i in range(ends[text], ends[text + 1]):
            token = tokens[i]
            if token != unknown and token < rows.shape[0]:
                for column in range(rows.shape[1]):
                    out[text, column] += rows[token, column]


class Lsa:
    """Latent semantic analysis: the strongest directions of the collection's tf-idf matrix."""

    batch = 1024
    version = ""
    SIZE = 128
    MOST_WORDS = 50_000

    def __init__(self, analyser: Analyser, vocabulary: dict[str, int], idf: Array, kept: Array, rows: Array) -> None:
        self.analyser = analyser
        self.vocabulary = vocabulary
        self.idf = idf
        self.kept = kept  # int64: the words that count
        self.rows = rows  # float32: the vector of each of them
        self._places = np.full(idf.size, -1, dtype=np.int64)  # the last, for words that nobody knows, stays -1
        self._places[kept] = np.arange(kept.size)

    @classmethod
    def fit(cls, analyser: Analyser, vocabulary: dict[str, int], idf: Array, texts: Sequence[str]) -> Lsa:
        """Fit the directions; words of a single document, and the rarest beyond MOST_WORDS, are left out."""
        from sklearn.decomposition import TruncatedSVD

        once = np.log(1.0 + (len(texts) - 0.5) / 1.5)
        often = np.flatnonzero(idf[:-1] < once * (1 - 1e-9))
        kept = np.sort(often[np.argsort(idf[often], kind="stable")[: cls.MOST_WORDS]])
        size = min(cls.SIZE, kept.size - 1, len(texts) - 1)
        if size < 2:
            raise DataError("embed: lsa needs documents that share words: too few do; take another embedder")
        made = cls(analyser, vocabulary, idf, kept, np.empty((kept.size, 0), dtype=np.float32))
        with one_blas_thread():  # sums must not change with the number of threads
            found = TruncatedSVD(size, random_state=0).fit(made.tf_idf(texts))
        made.rows = np.ascontiguousarray(found.components_.T, dtype=np.float32)
        return made

    def tf_idf(self, texts: Sequence[str]) -> Any:
        """Return a sparse row of unit length per text."""
        from scipy.sparse import csr_array
        from sklearn.preprocessing import normalize

        words = Words(self.analyser.stem, self.vocabulary, grows=False)
        numbers, ends = self.analyser.numbers(texts, words)
        places = self._places[np.where(numbers < 0, -1, numbers)]
        rows = np.repeat(np.arange(len(texts)), np.diff(ends))[places >= 0]
        counts = csr_array((np.ones(rows.size), (rows, places[places >= 0])), shape=(len(texts), self.kept.size))
        counts.sum_duplicates()
        counts.data = (1.0 + np.log(counts.data)) * self.idf[self.kept][counts.indices]
        return normalize(counts)

    def __call__(self, texts: Sequence[str]) -> Array:
        return np.asarray(self.tf_idf(texts) @ self.rows.astype(np.float64), dtype=np.float32)


class Onnx:
    """A transformer: its sentence embedding, else the first token's or the mean vector, as its folder says."""

    batch = 256
    STEP = 16  # texts at once

    def __init__(self, folder: Path) -> None:
        tokenizers = required("tokenizers", "tokenizers", "semantic")
        runtime = required("onnxruntime", "onnxruntime")
        model = next((path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()), None)
        if model is None:
            raise DataError(f"embed: there is no model.onnx in {folder}")
        self.version = folder.name
        self.tokenizer = tokenizers.Tokenizer.from_file(str(_one_file(folder, "tokenizer.json")))
        self.tokenizer.enable_truncation(_setting(folder / "sentence_bert_config.json", "max_seq_length", LONGEST))
        self.tokenizer.enable_padding()
        self.first = _setting(folder / "1_Pooling" / "config.json", "pooling_mode_cls_token", False)
        self.session = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        self.inputs = [one.name for one in self.session.get_inputs()]
        self.outputs = [one.name for one in self.session.get_outputs()]

    def __call__(self, texts: Sequence[str]) -> Array:
        order = np.argsort([len(text) for text in texts], kind="stable")  # of like length together: less padding
        parts = [self._pooled([texts[i] for i in order[k : k + self.STEP]]) for k in range(0, len(texts), self.STEP)]
        return np.concatenate(parts)[np.argsort(order)]

    def _pooled(self, texts: list[str]) -> Array:
        encoded = self.tokenizer.encode_batch(texts)
        masks = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        given = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": masks,
            "token_type_ids": np.zeros_like(masks),
        }
        asked = "sentence_embedding" if "sentence_embedding" in self.outputs else self.outputs[0]
        (vectors,) = self.session.run([asked], {name: given[name] for name in self.inputs})
        if vectors.ndim == 2:
            return vectors.astype(np.float32)
        return vectors[:, 0] if self.first else (vectors * masks[:, :, None]).sum(axis=1, dtype=np.float32)


class Sentences:
    """A model of the library sentence-transformers."""

    batch = 256

    def __init__(self, name: str) -> None:
        library = required("sentence_transformers", SENTENCES)
        self.model = library.SentenceTransformer(name)
        self.version = f"{SENTENCES} {library.__version__}"

    def __call__(self, texts: Sequence[str]) -> Array:
        return np.asarray(self.model.encode(list(texts), show_progress_bar=False), dtype=np.float32)


class NoRedirect(HTTPRedirectHandler):
    """Follow no redirect: it would carry the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Server:
    """A server with the interface of OpenAI, which Ollama, vLLM and TEI have too.

    Answers 429, 500, 502, 503 and 504, broken connections and half answers are tried again, after the seconds that the
    server asks for or else ever longer ones.
    """

    batch = 64
    TIMEOUT = 30.0  # seconds that an answer may take
    PAUSES = (0.5, 1.0, 2.0, 4.0)  # seconds before each further try
    LONGEST_PAUSE = 30.0
    AGAIN = (429, 500, 502, 503, 504)
    MOST_BYTES = 256 * 1024**2

    def __init__(self, address: str) -> None:
        self.address, self.model = urldefrag(address)
        self.version = self.model
        self._opener = build_opener(NoRedirect)

    def __call__(self, texts: Sequence[str]) -> Array:
        asked = {"input": list(texts), "encoding_format": "float"} | ({"model": self.model} if self.model else {})
        answer = self._answer(json.dumps(asked).encode())
        try:
            rows = [one["embedding"] for one in sorted(answer["data"], key=lambda one: one["index"])]
            vectors = np.array(rows, dtype=np.float32)
        except (ValueError, TypeError, LookupError):
            raise self._error("expected a list of embeddings, got ", json.dumps(answer)) from None
        if vectors.shape[:1] != (len(texts),) or vectors.ndim != 2:
            raise self._error(f"expected {len(texts)} embeddings of one size, got {len(vectors)}")
        return vectors

    def _answer(self, body: bytes) -> Any:
        """Return what the server answers, asked until it does."""
        headers = {"Content-Type": "application/json"}
        if os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {os.environ[KEY]}"
        for pause in (*self.PAUSES, 0.0):
            try:
                with self._opener.open(Request(self.address, body, headers), timeout=self.TIMEOUT) as answer:
                    content = answer.read(self.MOST_BYTES)
                return json.loads(content)  # an incomplete answer is not JSON
            except HTTPError as error:
                problem = self._error(f"HTTP {error.code} {error.reason}, ", error.read(2000).decode(errors="replace"))
                if error.code not in self.AGAIN:
                    break
                asked = error.headers.get("Retry-After", "")
                pause = min(float(asked), self.LONGEST_PAUSE) if re.fullmatch(r"\d+", asked) and pause else pause
            except (OSError, HTTPException) as error:  # nobody there, too slow, or cut off
                problem = self._error(str(getattr(error, "reason", "") or error) or type(error).__name__)
            except ValueError:
                problem = self._error("expected JSON, got ", content[:2000].decode(errors="replace"))
            time.sleep(pause)
        raise problem

    def _error(self, problem: str, said: str | None = None) -> EmbeddingError:
        """Return the error with the beginning of the server's answer, without the key, which the answer may repeat.

        The key is removed before the text is cut, so that no part of it is shown.
        """
        key = os.environ.get(KEY) or "\0"
        problem, said = problem.replace(key, "..."), (said or "").replace(key, "...").strip()
        problem = f"{problem}{said[:80]!r}" if said else problem.removesuffix(", ")
        return EmbeddingError(f"{self.address}: {problem}; check the server, and its key in {KEY}")


def _one_file(folder: Path, *patterns: str) -> Path:
    """Return the one file below a folder that matches the first pattern with a match; none or several are an error."""
    for pattern in patterns:
        found = sorted(folder.rglob(pattern))
        if len(found) == 1:
            return found[0]
        if found:
            break
    which = f"{len(found)} files" if found else "no file"
    raise DataError(f"embed: expected one file {' or '.join(patterns)} in {folder}, got {which}")


def _setting(path: Path, name: str, default: Any) -> Any:
    return json.loads(path.read_text()).get(name, default) if path.is_file() else default
