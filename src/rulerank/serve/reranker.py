"""The Reranker: a ranker and the features of texts in one object, from a query to documents in order, with reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulerank.core.parameters import is_whole, shown
from rulerank.core.words import counted, listed
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.explain import Explanation, Versus
from rulerank.features.text_features import TextFeatures
from rulerank.model_file import described, rebuilt, save, version_of
from rulerank.rankers.base import Ranker
from rulerank.serve.rows import ENGINE, FeatureRows, Reason, as_docs, bring_features, rows_of_features, rows_of_texts
from rulerank.today import Today, find_today

if TYPE_CHECKING:
    from rulerank.serve.model_watch import WatchedReranker

CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Result:
    """One document of an answer. What takes time (features, reasons, document) is made when it is asked for."""

    id: str
    score: float
    rank: int  # from 1
    place: int  # among the documents as they came, from 0
    today: int | None  # its rank today, from 1
    rows: FeatureRows = field(repr=False, compare=False)

    @property
    def features(self) -> dict[str, float | str | None]:
        """The features that the ranker reads, by name; None where missing."""
        return self.rows.values(self.place)

    @property
    def document(self) -> dict[str, Any] | None:
        """The fields of the document, where they are known."""
        return self.rows.document(self.place)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The parts that add up to the score, the base first; none for rankers that cannot tell."""
        return self.rows.reasons(self.place)

    def top_reasons(self, n: int = 3) -> tuple[Reason, ...]:
        """Return the base, the n strongest parts, and all others as one: they add up to the score, too."""
        return self.rows.reasons(self.place, n)

    def to_dict(self, *, features: bool = True, n_reasons: int | None = 3) -> dict[str, Any]:
        """Return plain values; n_reasons as in `top_reasons`, 0 for none and None for all."""
        found: dict[str, Any] = {"id": self.id, "score": self.score, "rank": self.rank, "today": self.today}
        if features:
            found["features"] = self.features
        if n_reasons != 0:
            found["reasons"] = [reason.to_dict() for reason in self.rows.reasons(self.place, n_reasons)]
        return found


class Ranking(tuple[Result, ...]):
    """The answer to one query, best first: results, and which model gave them."""

    query: str
    n_docs: int  # that were scored; results are the first of them

    def __new__(cls, query: str, results: Iterable[Result], n_docs: int, version: Callable[[], str]) -> Self:
        made = super().__new__(cls, results)
        made.query, made.n_docs, made._version = query, n_docs, version
        return made

    _version: Callable[[], str]

    @property
    def version(self) -> str:
        """By what the model is called that gave this answer: `Reranker.version`."""
        return self._version()

    @property
    def ids(self) -> list[str]:
        return [result.id for result in self]

    @property
    def scores(self) -> list[float]:
        return [result.score for result in self]

    def to_dict(self, *, features: bool = True, n_reasons: int | None = 3) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        results = [result.to_dict(features=features, n_reasons=n_reasons) for result in self]
        return {"query": self.query, "version": self.version, "n_docs": self.n_docs, "results": results}

    def __repr__(self) -> str:
        first = ", ".join(f"{result.id} {result.score:.4g}" for result in self[:5])
        return f"Ranking({first}{', ...' if len(self) > 5 else ''})"


class Reranker:
    """A fitted ranker with what it needs to rank documents for a query.

    Threads may share it: it changes nothing, and neither must you, so do not fit the ranker again.

    ranker: a fitted ranker of this library.
    features: a fitted TextFeatures; documents are then texts. None: documents come with their features.
    today: the feature that ranks documents today ("-name": lowest first). None: the order in which documents come,
        which for the index's own candidates is that of bm25(all).

    Where the ranker normalises by query, or a feature is a rank among the candidates, scores depend on the list: the
    documents of a query must be ranked together, and scores of two lists do not compare.

    >>> import rulerank as rr
    >>> ranker = rr.QueryIntercepts().fit(rr.make_ranking(n_queries=20, n_features=2, seed=0))
    >>> reranker = Reranker(ranker)
    >>> docs = [{"id": "a", "bm25_body": 0.1, "bm25_title": 0.2}, {"id": "b", "bm25_body": 0.9, "bm25_title": 0.8}]
    >>> found = reranker.rank("fresh milk", docs)
    >>> found
    Ranking(b 1.028, a 0.188)
    >>> for reason in found[0].reasons:
    ...     print(reason)
    +0 where every linear score starts
    +0.532 bm25_title 0.8, highest of 2
    +0.496 bm25_body 0.9, highest of 2
    """

    def __init__(self, ranker: Ranker, features: TextFeatures | None = None, today: str | int | None = None) -> None:
        if not isinstance(ranker, Ranker) or not ranker.__sklearn_is_fitted__():
            what = f"a {type(ranker).__name__} that is not fitted" if isinstance(ranker, Ranker) else shown(ranker)
            raise DataError(f"ranker must be a fitted ranker, such as rr.FittedRules().fit(data): got {what}")
        names = ranker.feature_names_
        if features is not None:
            if not isinstance(features, TextFeatures) or not hasattr(features, "feature_names_"):
                raise DataError(f"features must be a fitted TextFeatures, or None: got {shown(features)}")
            missing = [name for name in names if name not in (*features.feature_names_, *ENGINE)]
            if missing:
                raise DataError(
                    f"the ranker reads {counted(len(missing), 'feature')} that these TextFeatures do not give: "
                    f"{listed(missing)}; they give {listed(features.feature_names_)}. Train on what "
                    "features.dataset(queries, qrels) gives, or name the features: TextFeatures(features=[...])"
                )
        self.ranker = ranker
        self.features = features
        self.today = _todays(today, ranker, features)

    @classmethod
    def watch(
        cls,
        path: str | PathLike[str],
        features: TextFeatures | None = None,
        today: str | int | None = None,
        *,
        every: float = 0.2,
    ) -> WatchedReranker:
        """Return a reranker that follows a model file: a new one is read beside the old and takes over as a whole.

        path: a saved Reranker, or a saved ranker, for which features and today are given here.
        every: seconds between two looks at the file.
        """
        from rulerank.serve.model_watch import WatchedReranker

        return WatchedReranker(path, features, today, every=every)

    @cached_property
    def version(self) -> str:
        """By what this model is called: the first digits of the checksum that its file has or would have."""
        try:
            return version_of(self)
        except DataError:  # a ranker that cannot be saved, such as Competence
            return "unsaved"

    @property
    def problem(self) -> str | None:
        """Why a newer model file is not in use, None when all is well."""
        return None

    def current(self) -> Reranker:
        """Return the model of now, which stays the same for as long as one holds it."""
        return self

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that the ranker reads."""
        return self.ranker.feature_names_

    @property
    def list_matters(self) -> bool:
        """Whether a document's score depends on the documents that are ranked with it."""
        ranks = self.features is not None and any(name.startswith("rank(") for name in self.feature_names)
        return ranks or self.ranker.needs_the_query()

    def rank(
        self,
        query: str = "",
        docs: Any = None,
        top: int | None = 10,
        *,
        candidates: int = CANDIDATES,
        vectors: Mapping[str, Sequence[float]] | None = None,
    ) -> Ranking:
        """Return documents, the best first; equal ones in the order in which they came.

        docs: with TextFeatures: ids of indexed documents, or dicts of fields, which need not be in the index (a dict
            without any field is the indexed document of its id; it may bring engine_score or engine_rank); None: the
            best documents of the index by bm25(all), as many as candidates says. Without: dicts of features by name, an
            array, or a data frame. With both: {"id": .., "features": {..}}, or a Dataset of one query.
        top: how many to return; None returns all.
        vectors: of the query, for fields of vectors.
        """
        if top is not None and not is_whole(top, 0):
            raise DataError(f"top must be a whole number from 0, or None for all documents: got {shown(top)}")
        rows = self._rows(query, docs, candidates, vectors)
        if not len(rows):
            return Ranking(query, (), 0, lambda: self.version)
        scores = np.asarray(self.ranker.predict(rows.data), dtype=np.float64)
        order = np.argsort(-scores, kind="stable")[:top].tolist()
        today = self._ranks_today(rows)
        results = [
            Result(rows.ids[place], float(scores[place]), rank, place, int(today[place]), rows)
            for rank, place in enumerate(order, start=1)
        ]
        return Ranking(query, results, len(rows), lambda: self.version)

    def explain(
        self,
        query: str = "",
        doc: Any = None,
        versus: Any = None,
        docs: Any = None,
        *,
        n_rules: int | None = 10,
        candidates: int = CANDIDATES,
        vectors: Mapping[str, Sequence[float]] | None = None,
    ) -> Explanation | Versus:
        """Say why a document has its score, or why it stands above or below another one.

        doc, versus: an id, a dict as in `rank`, or with docs the place in it, from 0.
        docs: the list that was ranked, as in `rank`; needed where scores depend on it and documents are given as dicts.
        """
        pair = [doc] if versus is None else [doc, versus]
        rows = None
        if docs is None and self.features is not None and all(isinstance(one, str) for one in pair):
            rows = self._rows(query, None, candidates, vectors)  # among these, its values have a place in the query
            if not self.list_matters and not {*pair} <= {*rows.ids}:
                rows = None
        elif docs is not None:
            rows = self._rows(query, docs, candidates, vectors)
        elif self.list_matters:
            raise DataError(
                "scores of this reranker depend on the documents that are ranked together: give docs, the list that "
                "was ranked"
            )
        if rows is None:
            rows, places = self._rows(query, pair, candidates, vectors), [*range(len(pair))]
        else:
            places = [_place_of(one, rows, docs is None) for one in pair]
        data = replace(rows.data, docid=np.array(rows.ids, dtype=object))  # explanations call documents by their ids
        return self.ranker.explain(data, places[0], versus=None if versus is None else places[1], n_rules=n_rules)

    def save(self, path: str | PathLike[str]) -> None:
        """Write ranker and features to one file, which `rulerank.load` and `Reranker.watch` read."""
        save(self, path)

    def to_state(self) -> dict[str, Any]:
        """Return everything as plain values and arrays, for a model file."""
        return {
            "ranker": described(self.ranker),
            "features": None if self.features is None else described(self.features),
            "today": None if self.today is None else self.today.option,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the reranker that `to_state` described."""
        features = None if state["features"] is None else rebuilt(state["features"])
        return cls(rebuilt(state["ranker"]), features, state["today"])

    def called(self, version: str) -> Self:
        """Take the version of the file that this model was read from, which saves computing it."""
        self.__dict__["version"] = version
        return self

    def warm(self) -> Self:
        """Make and compile what the first query would wait for."""
        if self.features is not None:
            self.features.for_query("", [{}])
            _ = self.features.inverted
        kinds = {*self.ranker.categories_, *self.ranker.dates_}
        rows = rows_of_features([{name: None if name in kinds else 0.0 for name in self.feature_names}], self.ranker)
        self.ranker.predict(rows.data)
        rows.reasons(0)
        return self

    def __repr__(self) -> str:
        return f"Reranker({self.ranker!r}{'' if self.features is None else f', {self.features!r}'})"

    def _rows(self, query: Any, docs: Any, candidates: int, vectors: Any) -> FeatureRows:
        if not isinstance(query, str):
            raise DataError(f"query must be text: got {shown(query)}")
        if self.features is None and docs is None:
            raise DataError("docs must be given: this reranker has no TextFeatures, so it has no index to search")
        if self.features is None or isinstance(docs, Dataset):
            return rows_of_features(docs, self.ranker)
        given = None if docs is None else as_docs(docs)
        if given and bring_features(given, self.features):
            return rows_of_features(given, self.ranker)
        return rows_of_texts(self.features, query, given, self.ranker, candidates=candidates, vectors=vectors)

    def _ranks_today(self, rows: FeatureRows) -> Array:
        """Return each document's rank today, from 1."""
        places = np.arange(len(rows))
        if self.today is not None:
            column = rows.column(self.today.feature)
            places = np.argsort(-replace(self.today, column=0).scores(column[:, None]), kind="stable")
        ranks = np.empty(len(rows), dtype=np.int64)
        ranks[places] = np.arange(1, len(rows) + 1)
        return ranks


def _todays(today: Any, ranker: Ranker, features: TextFeatures | None) -> Today | None:
    """Return today's ranking: a feature by name, which documents with ready features may bring beside the model's."""
    if today is None:
        known = getattr(ranker, "today_", None)
        return known if isinstance(known, Today) else None  # a model puts documents in order only as a ranker itself
    names = ranker.feature_names_ if features is None else features.feature_names_
    bare = str(today).lstrip("+-")
    if today not in names and bare not in names and isinstance(today, str) and (features is None or bare in ENGINE):
        names = (*names, bare)
    return find_today(names, today)


def _place_of(doc: Any, rows: FeatureRows, own: bool) -> int:
    """Return where a document stands in the list, by its id, its place or itself."""
    if is_whole(doc, 0, len(rows) - 1) and not own:
        return int(doc)
    among: Sequence[Any] = rows.documents if isinstance(doc, Mapping) else rows.ids
    found = [place for place, one in enumerate(among) if one == doc]
    if len(found) == 1:
        return found[0]
    what = f"the document {shown(doc)}"
    if found:
        raise DataError(f"{what} is in docs {len(found)} times: say which by its place, such as doc={found[0]}")
    raise DataError(
        f"{what} is not among the {counted(len(rows), 'candidate')} of the query: give docs, the list to rank it in"
        if own
        else f"{what} is not in docs: give its id, or its place from 0 to {len(rows) - 1}"
    )
