"""Texts in, named features out: what documents are made of, learned once, and features of any query and document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np

from rulerank.core.parameters import Checked, HasParameters, Number, Parameter, Threads
from rulerank.core.progress import progress
from rulerank.core.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.features.analyser import Analyser, Words, check_language
from rulerank.features.candidates import Inverted, Rows, best_documents, inverted_index, rows_to_compute
from rulerank.features.fields import (
    Field,
    as_numbers,
    as_texts,
    as_vectors,
    check_fields,
    find_fields,
    is_skewed,
    kinds_of,
)
from rulerank.features.index import Collection, Documents, documents_of, forward_index, statistics
from rulerank.features.matching import asked, feature_values
from rulerank.features.names import available, default_names, features_named
from rulerank.features.saved import (
    collection_from_state,
    collection_state,
    documents_from_state,
    documents_state,
    pack_strings,
    unpack_strings,
)
from rulerank.io.texts import Pairs, Queries, Texts, texts_from_dicts
from rulerank.io.trec import Qrels, with_qrels

TITLE_WEIGHT = 3.0


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

    fields: names of fields, or a dict of their kinds; None takes all and looks what they hold.
    features: names such as bm25(title), or "all"; None takes a short list that is good on any collection.
    language: whose words are stemmed; "none" stems nothing.
    k1, b: of BM25; weights: of fields in bm25(all), 3 for the title and 1 for the others unless given.

    >>> texts = Texts(["1", "2"], {"title": ["Fresh milk", "Milk chocolate"], "price": [1.5, 2.0]})
    >>> features = TextFeatures(features=["bm25(title)", "exact(title)", "price"]).fit(texts)
    >>> features.for_query("fresh milk").X.tolist()
    [[0.397..., 1.0, 1.5], [0.0828..., 0.0, 2.0]]
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "fields": Checked(check_fields, "a list of names, or a dict of kinds by name", none="all, by what they hold"),
        "features": Checked(_check_names, "a list of names of features", none="a short list"),
        "language": Checked(check_language, "a language", meaning="whose words are stemmed"),
        "k1": Number(0, 100, meaning="how much further occurrences count"),
        "b": Number(0, 1, meaning="how much the length counts"),
        "weights": Checked(_check_weights, "a dict of numbers by field", none="3 for the title, 1 for the others"),
        "n_jobs": Threads(meaning="number of threads"),
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
    ) -> None:
        self.fields = fields
        self.features = features
        self.language = language
        self.k1 = k1
        self.b = b
        self.weights = weights
        self.n_jobs = n_jobs

    def fit(self, texts: Texts) -> Self:
        """Look at the documents: kinds of fields, words, how rare they are, numbers and categories."""
        self.check_parameters()
        if not isinstance(texts, Texts):
            raise DataError(f"expected documents that rr.read_texts gave: got {type(texts).__name__}")
        if not len(texts):
            raise DataError("expected at least one document: got none")
        fields = find_fields(texts, self.fields)
        searched = [field.name for field in fields if field.searched]
        for name in self.weights or ():
            if name not in searched:
                raise DataError(
                    f"weights: {name!r} is no field whose words are searched; these are {', '.join(searched)}"
                )
        analyser = Analyser(self.language)
        values = texts.fields
        numbers = [field for field in fields if field.kind in ("number", "date")]
        skewed = [field.name for field in numbers if is_skewed(as_numbers(field.kind, values[field.name]))]
        names = default_names(fields, skewed) if self.features is None else self.features
        chosen = features_named([*available(fields)] if names == "all" else names, fields)
        if not chosen:
            raise DataError("no field gives a feature: name fields and their kinds, fields={'title': 'text'}")
        weights = np.array([_weight(field, self.weights) for field in fields if field.searched], dtype=np.float64)
        vocabulary: dict[str, int] = {}
        words = Words(analyser.stem, vocabulary, grows=True)
        forward = forward_index(
            analyser, words, searched, {name: as_texts(values[name]) for name in searched}, len(texts)
        )
        idf, mean_lengths = statistics(forward, len(vocabulary), weights)
        self.collection_ = Collection(
            fields,
            chosen,
            analyser,
            vocabulary,
            idf,
            mean_lengths,
            weights,
            {field.name: kinds_of(values[field.name]) for field in fields if field.kind == "category"},
            {
                field.name: as_vectors(field.name, values[field.name]).shape[1]
                for field in fields
                if field.kind == "vector"
            },
            float(self.k1),
            float(self.b),
        )
        self._take(texts.ids, documents_of(self.collection_, values, len(texts), forward))
        self.record_params()
        return self

    def dataset(
        self,
        queries: Queries,
        qrels: Qrels | None = None,
        top: int = 100,
        pairs: Pairs | None = None,
        *,
        unjudged: int | str | None = None,
        judged_extra: bool = True,
    ) -> Dataset:
        """Return features of the candidates of queries, with grades where there are judgements, and texts.

        Candidates are the best `top` documents of each query by bm25(all) and, with judgements, all judged ones beside
        them. Pairs are taken as they are instead, with engine_rank and engine_score as features where they are known.
        top=0 takes the judged documents alone.

        unjudged: candidates without a judgement have the grade 0 (0) or none ("skip"); by default 0 where the
        judgements hold hardly any grade 0. Queries without any judgement have no grades.
        judged_extra: False leaves out judged documents that are not among the best. They are marked in `base.extra`,
        and `labelled` leaves them out where unjudged documents count as not relevant.
        """
        self._check_fitted()
        if not isinstance(queries, Queries):
            raise DataError(f"expected queries that rr.read_queries gave: got {type(queries).__name__}")
        known = self.collection_
        of_queries = asked(known, queries.texts, queries.vectors)

        def best() -> list[Array]:
            return best_documents(self.inverted, of_queries.words, top, self.n_jobs)

        candidates = best if top and pairs is None else None
        rows = rows_to_compute(queries.ids, self._doc_numbers, candidates, qrels, pairs, judged_extra)
        with progress(rows.docs.size, "features") as bar:
            X = feature_values(known, self.documents_, of_queries, rows.docs, rows.queries, self.n_jobs, bar)
        data = self._as_dataset(X, self.documents_, self.ids_[rows.docs], rows, queries.ids, queries.texts, known.kinds)
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
        asked_one = Queries(np.array(["query"], dtype=object), [query], {n: [v] for n, v in (vectors or {}).items()})
        one = asked(known, asked_one.texts, asked_one.vectors)
        documents, ids = self.documents_, self.ids_
        if docs is None:
            found = best_documents(self.inverted, one.words, top, 1)[0]
        elif all(isinstance(doc, str) for doc in docs):
            found = self._numbers_of(docs)  # type: ignore[arg-type]
        else:
            fields = texts_from_dicts(docs, [field.name for field in known.fields])  # type: ignore[arg-type]
            new = {name: [k for k in kinds_of(fields[name]) if k not in kinds] for name, kinds in known.kinds.items()}
            known = replace(known, kinds={name: (*kinds, *new[name]) for name, kinds in known.kinds.items()})
            documents = documents_of(known, fields, len(docs))
            own = [str(getattr(doc, "get", str)("id") or place) for place, doc in enumerate(docs)]
            ids = np.array(own, dtype=object)
            found = np.arange(len(docs), dtype=np.int64)
        rows = Rows(found, np.zeros(found.size, dtype=np.int64), np.zeros(found.size, dtype=bool))
        X = feature_values(known, documents, one, rows.docs, rows.queries, 1)
        return self._as_dataset(X, documents, ids[found], rows, asked_one.ids, asked_one.texts, known.kinds)

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
        ids = Texts(np.array(unpack_strings(state["ids"]), dtype=object), {}).ids
        made.collection_ = collection_from_state(state["collection"])
        made._take(ids, documents_from_state(state["documents"], made.collection_, ids.size))
        return made

    @cached_property
    def inverted(self) -> Inverted:
        """The documents of each word, made when candidates are asked for."""
        return inverted_index(self.documents_.forward, self.collection_)

    def _take(self, ids: Array, documents: Documents) -> None:
        self.__dict__.pop("inverted", None)
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

    def _as_dataset(
        self,
        X: Array,
        documents: Documents,
        docids: Array,
        rows: Rows,
        qids: Array,
        asked_texts: Sequence[str],
        kinds: Mapping[str, tuple[str, ...]],
    ) -> Dataset:
        names = self.feature_names_
        for name, column in rows.engine.items():
            X = np.column_stack((X, column.astype(np.float32)))
            names = (*names, name)
        texts = {"query_text": _picked(asked_texts, rows.queries)}
        readable = {*names} & {*self.collection_.fields_of("number", "year", "category")}  # as features
        texts |= {name: _picked(values, rows.docs) for name, values in documents.shown.items() if name not in readable}
        return Dataset(
            X,
            np.full(len(X), UNLABELLED, dtype=np.int16),
            qids[rows.queries],
            docids,
            names,
            texts=texts,
            categories={name: own for name, own in kinds.items() if name in names},
            dates=tuple(self.collection_.fields_of("date")),
        )


def _weight(field: Field, weights: Mapping[str, float] | None) -> float:
    return float((weights or {}).get(field.name, TITLE_WEIGHT if field.kind == "title" else 1.0))


def _picked(values: Sequence[str | None], rows: Array) -> Array:
    """Return one text per row, the same object wherever it is the same text."""
    # of these alone: a service asks for 100 of a million
    return np.array([values[row] for row in rows.tolist()], dtype=object)
