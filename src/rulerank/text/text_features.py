"""TextFeatures: fitted on documents, computes named features of any query and document.

The fitted state is saved as plain values and arrays and checked when it is loaded: compiled loops check nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np

from rulerank._util.loops import progress
from rulerank._util.parameters import Checked, HasParameters, Number, Parameter, Threads, Word
from rulerank._util.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.io.texts import Documents, Queries, texts_from_dicts
from rulerank.io.trec import Qrels, Run, with_qrels
from rulerank.text.analyser import Analyser, Words, check_language, starts_of
from rulerank.text.candidates import (
    InvertedIndex,
    Rows,
    best_documents,
    fused,
    inverted_index,
    nearest,
    rows_to_compute,
    run_features,
)
from rulerank.text.embedding import LSA, check_embedder
from rulerank.text.fields import (
    ALL,
    KINDS,
    MEANING_OF_ALL,
    Field,
    as_numbers,
    as_vectors,
    available,
    check_fields,
    default_names,
    features_named,
    find_fields,
    is_skewed,
    kinds_of,
)
from rulerank.text.index import Collection, IndexedDocuments, check, documents_of, weighting_of, words_of
from rulerank.text.kernels import Forward, Weighting
from rulerank.text.matching import QueryArrays, asked, feature_values
from rulerank.text.vectors import Meaning, VectorCache, joined_texts, unit

TITLE_WEIGHT = 3.0
CANDIDATES = ("bm25", "dense", "hybrid")
FROM_FIELDS = ("grams", "meaning")  # measures that need more of a field than its words


def _check_weights(weights: Any) -> None:
    if not isinstance(weights, Mapping) or not all(
        isinstance(name, str) and isinstance(value, int | float) and 0 <= value <= 1000
        for name, value in weights.items()
    ):
        raise DataError(f"weights must be a dict of numbers from 0 to 1000 by field: got {weights!r:.60}")


def _check_names(features: Any) -> None:
    if features == "all":
        return
    if isinstance(features, str) or not isinstance(features, Sequence) or not all(isinstance(f, str) for f in features):
        raise DataError(f"features must be a list of names such as bm25(title): got {features!r:.60}")


class TextFeatures(HasParameters):
    """Named features of queries and documents, from texts.

    fields: names of fields, or a dict of their kinds; None: all fields, kinds detected.
    features: names such as bm25(title), or "all"; None takes a short list that is good on any collection.
    language: language of the stemmer; "none" disables stemming.
    k1, b: of BM25; weights: of fields in bm25(all), 3 for the title and 1 for the others unless given.
    embed: the embedder for meaning(all) and meaning(FIELD): "static", "lsa", "onnx:FOLDER",
        "sentence-transformers:NAME" or "http://HOST/v1/embeddings#MODEL"; None makes none.
    candidates: "bm25", "dense" (nearest vectors: of meaning(all), else of a field of vectors) or "hybrid" (both, by
        reciprocal rank fusion).

    >>> texts = Documents(["1", "2"], {"title": ["Fresh milk", "Milk chocolate"], "price": [1.5, 2.0]})
    >>> features = TextFeatures(features=["bm25(title)", "exact(title)", "price"]).fit(texts)
    >>> features.for_query("fresh milk").X.tolist()
    [[0.397..., 1.0, 1.5], [0.0828..., 0.0, 2.0]]
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "fields": Checked(check_fields, "a list of names, or a dict of kinds by name", none="all, by what they hold"),
        "features": Checked(_check_names, "a list of names of features", none="a short list"),
        "language": Checked(check_language, "a language", meaning="language of the stemmer"),
        "k1": Number(0, 100, meaning="BM25 term frequency saturation"),
        "b": Number(0, 1, meaning="BM25 length normalisation"),
        "weights": Checked(_check_weights, "a dict of numbers by field", none="3 for the title, 1 for the others"),
        "n_jobs": Threads(meaning="number of threads"),
        "embed": Checked(check_embedder, "an embedder", none="no embedder", meaning="embedder of texts"),
        "candidates": Word(CANDIDATES, meaning="how the candidates of a query are found"),
    }

    fields_: tuple[Field, ...]
    feature_names_: tuple[str, ...]

    def __init__(
        self,
        fields: Sequence[str] | Mapping[str, str] | None = None,
        features: Sequence[str] | str | None = None,
        language: str = "en",
        k1: float = 1.2,
        b: float = 0.75,
        weights: Mapping[str, float] | None = None,
        n_jobs: int | None = None,
        embed: str | None = None,
        candidates: str = "bm25",
    ) -> None:
        self.fields = fields
        self.features = features
        self.language = language
        self.k1 = k1
        self.b = b
        self.weights = weights
        self.n_jobs = n_jobs
        self.embed = embed
        self.candidates = candidates

    def fit(self, documents: Documents, cache: str | PathLike[str] | None = None) -> Self:
        """Index the documents: types of fields, words and their idf, numbers, categories, vectors.

        cache: a file that keeps the vectors of texts; a later fit makes only those that it lacks.
        """
        self.check_parameters()
        if not isinstance(documents, Documents):
            raise DataError(f"expected documents from rr.read_documents: got {type(documents).__name__}")
        if not len(documents):
            raise DataError("expected at least one document: got none")
        fields = find_fields(documents, self.fields)
        searched = [field.name for field in fields if field.searched]
        for name in self.weights or ():
            if name not in searched:
                raise DataError(
                    f"weights: {name!r} is not a field of searched words; choose from {', '.join(searched)}"
                )
        analyser = Analyser(self.language)
        values = documents.fields
        numbers = [field for field in fields if field.kind in ("number", "date")]
        skewed = [field.name for field in numbers if is_skewed(as_numbers(field.kind, values[field.name]))]
        embeds = self.embed is not None
        names = default_names(fields, skewed, embeds) if self.features is None else self.features
        chosen = features_named([*available(fields, embeds)] if names == "all" else names, fields, embeds)
        if not chosen:
            raise DataError("no field gives a feature: name fields and their kinds, fields={'title': 'text'}")
        has_vectors = any(one.name == MEANING_OF_ALL or one.measure == "vector" for one in chosen)
        if self.candidates != "bm25" and not has_vectors:
            raise DataError(f"{self.candidates} candidates need vectors: name an embedder, or a field of vectors")
        given = self.weights or {}
        weights = [given.get(f.name, TITLE_WEIGHT if f.kind == "title" else 1.0) for f in fields if f.searched]
        vocabulary: dict[str, int] = {}
        laid = words_of(analyser, Words(analyser.stem, vocabulary, grows=True), searched, values)
        weighting = weighting_of(laid, len(vocabulary), np.array(weights, dtype=np.float64), self.k1, self.b)
        meaning = None
        if self.embed == LSA:
            meaning = Meaning.of_collection(analyser, vocabulary, weighting.idf, joined_texts(searched, values))
        elif self.embed is not None:
            meaning = Meaning.opened(self.embed)
        self.collection_ = Collection(
            fields,
            chosen,
            analyser,
            vocabulary,
            weighting,
            {field.name: kinds_of(values[field.name]) for field in fields if field.kind == "category"},
            {
                field.name: as_vectors(field.name, values[field.name]).shape[1]
                for field in fields
                if field.kind == "vector"
            },
            meaning,
        )
        kept = None if cache is None or meaning is None or self.embed == LSA else VectorCache(cache, meaning.probe)
        self._take(documents.ids, documents_of(self.collection_, values, laid, kept))
        self.record_params()
        return self

    def dataset(
        self,
        queries: Queries,
        qrels: Qrels | None = None,
        top: int = 100,
        pairs: Run | None = None,
        *,
        runs: Mapping[str, Run] | None = None,
        unjudged: int | str | None = None,
        judged_extra: bool = True,
    ) -> Dataset:
        """Return features of the candidates of queries, with grades where there are judgements, and texts.

        Candidates are the best `top` documents of each query by bm25(all) and, with judgements, all other judged ones.
        top=0 takes the judged documents alone.

        pairs: a run of your search engine; its documents are the candidates instead, with engine_rank and engine_score
        as features.

        unjudged: candidates without a judgement have the grade 0 (0) or none ("skip"); by default 0 where the
        judgements hold hardly any grade 0. Queries without any judgement have no grades.
        runs: by name, what other retrievers returned: score(NAME) and reciprocal_rank(NAME) become features.
        judged_extra: False leaves out judged documents that are not among the best. They are marked in `base.extra`,
        and `labelled` leaves them out where unjudged documents count as not relevant.
        """
        self._check_fitted()
        if not isinstance(queries, Queries):
            raise DataError(f"expected queries from rr.read_queries: got {type(queries).__name__}")
        known = self.collection_
        of_queries = asked(known, queries.texts, queries.vectors)

        candidates = (lambda: self._best(of_queries, top, self.n_jobs)) if top and pairs is None else None
        rows = rows_to_compute(queries.ids, self._doc_numbers, candidates, qrels, pairs, judged_extra)
        if runs:
            rows = replace(rows, engine={**rows.engine, **run_features(runs, rows, queries.ids, self.ids_)})
        data = self._table(known, self.documents_, self.ids_, queries, of_queries, rows, self.n_jobs)
        return data if qrels is None else with_qrels(data, qrels, unjudged, rows.extra)

    def for_query(
        self,
        query: str,
        docs: Sequence[str] | Sequence[Mapping[str, Any]] | None = None,
        *,
        top: int = 100,
        vectors: Mapping[str, Sequence[float]] | None = None,
    ) -> Dataset:
        """Return the features of one query and its best documents, documents named by ids, or given as dicts.

        Dicts need not be in the index: their features are what an index with the same words would give. An id in
        the field `id` is kept.
        """
        self._check_fitted()
        known = self.collection_
        queries = Queries(np.array(["query"], dtype=object), [query], {n: [v] for n, v in (vectors or {}).items()})
        of_query = asked(known, queries.texts, queries.vectors)
        documents, ids = self.documents_, self.ids_
        if docs is None:
            numbers = self._best(of_query, top, 1)[0]
        elif all(isinstance(doc, str) for doc in docs):
            numbers = self._numbers_of(docs)  # type: ignore[arg-type]
        else:
            fields = texts_from_dicts(docs, [field.name for field in known.fields])  # type: ignore[arg-type]
            new = {name: [k for k in kinds_of(fields[name]) if k not in kinds] for name, kinds in known.kinds.items()}
            known = replace(known, kinds={name: (*kinds, *new[name]) for name, kinds in known.kinds.items()})
            documents = documents_of(known, fields)
            own = [str(getattr(doc, "get", str)("id") or place) for place, doc in enumerate(docs)]
            ids, numbers = np.array(own, dtype=object), np.arange(len(docs), dtype=np.int64)
        rows = Rows(numbers, np.zeros(numbers.size, dtype=np.int64), np.zeros(numbers.size, dtype=bool))
        return self._table(known, documents, ids, queries, of_query, rows, 1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write what a service needs to compute the same features, which `rulerank.load` reads."""
        from rulerank.model_file import save

        save(self, path)

    def to_state(self) -> dict[str, Any]:
        """Return all that was learned as plain values and arrays, for a model file."""
        self._check_fitted()
        return {
            "params": self.params_,
            "collection": collection_state(self.collection_),
            "ids": pack_strings(self.ids_.tolist()),
            "documents": documents_state(self.documents_),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return what `to_state` described, bit for bit."""
        made = cls.from_params(state["params"])
        ids = Documents(np.array(unpack_strings(state["ids"]), dtype=object), {}).ids
        made.collection_ = collection_from_state(state["collection"])
        made._take(ids, documents_from_state(state["documents"], made.collection_, ids.size))
        return made

    @cached_property
    def inverted(self) -> InvertedIndex:
        """The documents of each word, made when candidates are asked for."""
        return inverted_index(self.documents_.forward, self.collection_.weighting)

    @cached_property
    def dense(self) -> tuple[str, Array, Array]:
        """Field of the dense candidates ("" for all), documents with vectors, and these, float32 of unit length."""
        documents = self.documents_
        name = "" if ALL in documents.meanings else next(iter(documents.vectors))
        rows = unit(documents.vectors[name]) if name else documents.meanings[ALL]
        docs = np.flatnonzero(rows.any(axis=1))
        return name, docs, rows[docs].astype(np.float32)

    def _best(self, queries: QueryArrays, top: int, n_jobs: int | None) -> list[Array]:
        """Return the candidates of queries, best first."""
        way = self.params_["candidates"]
        by_words = [] if way == "dense" else best_documents(self.inverted, queries.words, top, n_jobs)
        if way == "bm25":
            return by_words
        field, docs, rows = self.dense
        own = queries.vectors[field] if field else queries.meaning
        by_vectors = nearest(docs, rows, unit(own).astype(np.float32), top, n_jobs)
        return by_vectors if way == "dense" else [fused(*both, top) for both in zip(by_words, by_vectors, strict=True)]

    def _take(self, ids: Array, documents: IndexedDocuments) -> None:
        for name in ("inverted", "dense"):
            self.__dict__.pop(name, None)
        self.ids_ = ids
        self.documents_ = documents
        self.fields_ = self.collection_.fields
        self.feature_names_ = tuple(feature.name for feature in self.collection_.features)
        self._doc_numbers = {one: number for number, one in enumerate(ids.tolist())}

    def __repr__(self) -> str:
        if not hasattr(self, "documents_"):
            return "TextFeatures(not fitted)"
        n_docs, n_features = counted(self.ids_.size, "document"), counted(len(self.feature_names_), "feature")
        return f"TextFeatures({n_docs}, {n_features})"

    def _check_fitted(self) -> None:
        if not hasattr(self, "documents_"):
            raise DataError("TextFeatures is not fitted: call fit(texts) first")

    def _numbers_of(self, ids: Sequence[str]) -> Array:
        unknown = next((one for one in ids if one not in self._doc_numbers), None)
        if unknown is not None:
            raise DataError(f"there is no document {unknown!r:.60} in the index; give its fields as a dict")
        return np.array([self._doc_numbers[one] for one in ids], dtype=np.int64)

    def _table(
        self,
        known: Collection,
        documents: IndexedDocuments,
        ids: Array,
        queries: Queries,
        of_queries: QueryArrays,
        rows: Rows,
        n_jobs: int | None,
    ) -> Dataset:
        """Compute the features of rows, beside what an engine said and what people read."""
        with progress(rows.docs.size, "features") as bar:
            X = feature_values(known, documents, of_queries, rows.docs, rows.queries, n_jobs, bar)
        names = (*self.feature_names_, *rows.engine)
        texts = {"query_text": _picked(queries.texts, rows.queries)}
        readable = {*names} & {*known.fields_of("number", "year", "category")}  # as features
        texts |= {name: _picked(values, rows.docs) for name, values in documents.shown.items() if name not in readable}
        return Dataset(
            np.column_stack((X, *(column.astype(np.float32) for column in rows.engine.values()))),
            np.full(len(X), UNLABELLED, dtype=np.int16),
            queries.ids[rows.queries],
            ids[rows.docs],
            names,
            texts=texts,
            categories={name: own for name, own in known.kinds.items() if name in names},
            dates=tuple(known.fields_of("date")),
        )


def _picked(values: Sequence[str | None], rows: Array) -> Array:
    """Return one text per row, the same object wherever it is the same text."""
    # of these alone: a service asks for 100 of a million
    return np.array([values[row] for row in rows.tolist()], dtype=object)


def collection_state(known: Collection) -> dict[str, Any]:
    return {
        "fields": [[field.name, field.kind, field.coverage] for field in known.fields],
        "features": [feature.name for feature in known.features],
        "language": known.analyser.language,
        "stop_words": sorted(known.analyser.stop_words),
        "vocabulary": pack_strings([*known.vocabulary]),
        "kinds": [[name, list(kinds)] for name, kinds in known.kinds.items()],
        "sizes": [[name, size] for name, size in known.sizes.items()],
        "meaning": None if known.meaning is None else known.meaning.to_state(),
    } | known.weighting._asdict()


def collection_from_state(state: dict[str, Any]) -> Collection:
    fields = tuple(Field(str(name), str(kind), float(share)) for name, kind, share in state["fields"])
    check(all(field.kind in KINDS for field in fields), "a field has a kind that is not known")
    analyser = Analyser(state["language"])
    analyser.stop_words = frozenset(map(str, state["stop_words"]))
    words = unpack_strings(state["vocabulary"])
    vocabulary = {str(word): number for number, word in enumerate(words)}
    check(len(vocabulary) == len(words), "its words do not differ")
    weights = state["idf"], state["mean_lengths"], state["field_weights"]
    weighting = Weighting(*weights, float(state["k1"]), float(state["b"]))
    n_searched = sum(field.searched for field in fields)
    for name, size in (("idf", len(words) + 1), ("mean_lengths", n_searched + 1), ("field_weights", n_searched)):
        check_array(name, state[name], np.float64, (size,))
        check(np.isfinite(state[name]).all(), f"its {name} must be finite numbers")
    meaning = state.get("meaning")  # files of 0.1 have none
    known = Collection(
        fields,
        features_named([str(name) for name in state["features"]], fields, meaning is not None),
        analyser,
        vocabulary,
        weighting,
        {str(name): tuple(map(str, kinds)) for name, kinds in state["kinds"]},
        {str(name): int(size) for name, size in state["sizes"]},
        None if meaning is None else Meaning.from_state(meaning, analyser, vocabulary, weighting.idf),
    )
    fits = {*known.kinds} == {*known.fields_of("category")} and {*known.sizes} == {*known.fields_of("vector")}
    check(fits, "its categories or vectors do not fit its fields")
    return known


def documents_state(documents: IndexedDocuments) -> dict[str, Any]:
    return documents.forward._asdict() | {
        "letters": [[name, *arrays] for name, arrays in documents.letters.items()],
        "columns": [[name, column] for name, column in documents.columns.items()],
        "vectors": [[name, rows] for name, rows in documents.vectors.items()],
        "meanings": [[name, rows] for name, rows in documents.meanings.items()],
        "shown": [[role, pack_strings(values)] for role, values in documents.shown.items()],
    }


def documents_from_state(state: dict[str, Any], known: Collection, n_docs: int) -> IndexedDocuments:
    """Refuse what would let a loop read beyond its arrays: a file may hold anything."""
    documents = IndexedDocuments(
        Forward(*(state[name] for name in Forward._fields)),
        {str(name): (codes, starts) for name, codes, starts in state["letters"]},
        {str(name): column for name, column in state["columns"]},
        {str(name): rows for name, rows in state["vectors"]},
        {str(name): rows for name, rows in state.get("meanings", ())},
        {str(role): unpack_strings(packed) for role, packed in state["shown"]},
    )
    tokens, starts, lengths, norms = documents.forward
    n_fields, size = len(known.searched), 0 if known.meaning is None else known.meaning.size
    check_array("tokens", tokens, np.int32, (tokens.size,))
    check_array("starts", starts, np.int64, (n_fields, n_docs + 1))
    check_array("lengths", lengths, np.int32, (n_fields, n_docs))
    check_array("norms", norms, np.float64, (n_fields + 1, n_docs))
    check(np.isfinite(norms).all(), "its norms must be finite numbers")
    check(lie_in(tokens, -2, len(known.vocabulary) - 1), "the index has words that its vocabulary lacks")
    fits = lie_in(starts, 0, tokens.size) and not (np.diff(starts, axis=1) < 0).any()
    check(fits, "the words of the documents do not lie in a row")
    for name, (codes, begins) in documents.letters.items():
        check_array(f"letters of {name!r}", codes, np.uint32, (codes.size,))
        check_array(f"letters of {name!r}", begins, np.int64, (n_docs + 1,))
        fits = lie_in(begins, 0, codes.size) and not (np.diff(begins) < 0).any()
        check(fits, "the letters of the documents do not lie in a row")
    for name, column in documents.columns.items():
        check_array(f"column {name!r}", column, np.float64, (n_docs,))
    for name, rows in documents.vectors.items():
        check_array(f"vectors {name!r}", rows, np.float32, (n_docs, known.sizes.get(name, 0)))
    for name, rows in documents.meanings.items():
        check_array(f"embeddings {name!r}", rows, np.float16, (n_docs, size))
    wanted = {measure: {one.field for one in known.features if one.measure == measure} for measure in FROM_FIELDS}
    fits = {*documents.columns} == {*known.fields_of("number", "year", "date", "category")}
    fits = fits and {*documents.vectors} == {*known.sizes} and {*documents.letters} == wanted["grams"]
    check(fits and {*documents.meanings} == wanted["meaning"], "its columns do not fit its fields")
    fits = all(len(values) == n_docs for values in documents.shown.values())
    check(fits, "its texts are of another number of documents")
    return documents


def check_array(name: str, array: Array, dtype: Any, shape: tuple[int, ...]) -> None:
    """Refuse an array of another type or shape."""
    wanted, got = (f"{np.dtype(kind)} {list(size)}" for kind, size in ((dtype, shape), (array.dtype, array.shape)))
    check(wanted == got, f"its {name} must be {wanted}: got {got}")


def lie_in(array: Array, low: int, high: int) -> bool:
    return not array.size or bool(low <= array.min() <= array.max() <= high)


def pack_strings(values: Sequence[str | None]) -> dict[str, Array]:
    """Return texts as bytes: JSON of a million words would be slow.

    >>> unpack_strings(pack_strings(["a", None, "", "é"]))
    ['a', None, '', 'é']
    """
    encoded = [b"" if value is None else value.encode() for value in values]
    ends = starts_of(encoded)[1:]
    there = np.array([value is not None for value in values], dtype=np.uint8)
    return {"bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), "ends": ends, "there": there}


def unpack_strings(packed: dict[str, Array]) -> list[Any]:
    """Return the texts that `pack_strings` packed."""
    content, ends = packed["bytes"].tobytes(), packed["ends"].tolist()
    fits = [0, *ends] == sorted([0, *ends]) and ends[-1:] in ([], [len(content)])
    check(fits, "its texts do not lie in a row")
    parts = zip([0, *ends[:-1]], ends, packed["there"].tolist(), strict=True)
    return [content[start:end].decode() if is_there else None for start, end, is_there in parts]
