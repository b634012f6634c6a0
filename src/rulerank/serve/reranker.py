"""The Reranker: a ranker and its text features in one object, which ranks the documents of a query."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulerank._util.parameters import is_whole, shown
from rulerank._util.words import counted, listed
from rulerank.baseline import Baseline, FeatureBaseline, ModelBaseline, SumBaseline, find_baseline, terms_of
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.explain import Explanation, Versus
from rulerank.model_file import described, rebuilt, save, version_of
from rulerank.rankers.base import Ranker
from rulerank.serve.rows import (
    FeatureRows,
    Reason,
    as_docs,
    bring_features,
    comes_along,
    rows_of_features,
    rows_of_texts,
)
from rulerank.text.text_features import TextFeatures

if TYPE_CHECKING:
    from rulerank.serve.model_watch import WatchedReranker

CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Result:
    """One ranked document. Features, reasons and document are computed on access."""

    id: str
    score: float
    rank: int  # from 1
    place: int  # index among the given documents, from 0
    baseline_rank: int | None  # from 1
    rows: FeatureRows = field(repr=False, compare=False)

    @property
    def features(self) -> dict[str, float | str | None]:
        """The features of the ranker, by name; None if missing."""
        return self.rows.values(self.place)

    @property
    def document(self) -> dict[str, Any] | None:
        """The fields of the document, if known."""
        return self.rows.document(self.place)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The contributions that sum to the score, the base first; empty for rankers without contributions."""
        return self.rows.reasons(self.place)

    def top_reasons(self, n: int = 3) -> tuple[Reason, ...]:
        """Return the base, the n strongest contributions, and the sum of all others: they sum to the score."""
        return self.rows.reasons(self.place, n)

    def to_dict(self, *, features: bool = True, n_reasons: int | None = 3) -> dict[str, Any]:
        """Return plain values; n_reasons: 0: none, None: all, or so many and more until the rest is not the largest."""
        found: dict[str, Any] = {
            "id": self.id,
            "score": self.score,
            "rank": self.rank,
            "baseline_rank": self.baseline_rank,
        }
        if features:
            found["features"] = self.features
        if n_reasons != 0:
            found["reasons"] = [reason.to_dict() for reason in self.rows.reasons(self.place, n_reasons, at_least=True)]
        return found


class Ranking(tuple[Result, ...]):
    """The ranking of one query, best first, with the version of the model."""

    query: str
    n_docs: int  # number of documents scored; the results are the top of them

    def __new__(cls, query: str, results: Iterable[Result], n_docs: int, version: Callable[[], str]) -> Self:
        made = super().__new__(cls, results)
        made.query, made.n_docs, made._version = query, n_docs, version
        return made

    _version: Callable[[], str]

    @property
    def version(self) -> str:
        """The version of the model: `Reranker.version`."""
        return self._version()

    @property
    def ids(self) -> list[str]:
        return [result.id for result in self]

    @property
    def scores(self) -> list[float]:
        return [result.score for result in self]

    def to_dict(self, *, features: bool = True, n_reasons: int | None = 3) -> dict[str, Any]:
        """Return plain values for JSON."""
        results = [result.to_dict(features=features, n_reasons=n_reasons) for result in self]
        return {"query": self.query, "version": self.version, "n_docs": self.n_docs, "results": results}

    def __repr__(self) -> str:
        first = ", ".join(f"{result.id} {result.score:.4g}" for result in self[:5])
        return f"Ranking({first}{', ...' if len(self) > 5 else ''})"


class Reranker:
    """Ranks the documents of a query with a fitted ranker.

    Threads can share it, as long as you do not fit the ranker again.

    ranker: a fitted ranker of this library.
    features: a fitted TextFeatures; documents are then texts. None: documents have features.
    baseline: the ranking that users see now: a feature ("-name": lowest first), a sum of features, a fitted ranker or
        its file. None: the order of the given documents; for candidates from the index that is bm25(all).

    If the ranker normalises by query, or a feature is a rank among the candidates, scores depend on the list: rank all
    documents of a query together, and do not compare scores of different lists.

    >>> import rulerank as rr
    >>> ranker = rr.QueryIntercepts().fit(rr.datasets.make_ranking(n_queries=20, n_features=2, seed=0))
    >>> reranker = Reranker(ranker)
    >>> docs = [{"id": "a", "bm25_body": 0.1, "bm25_title": 0.2}, {"id": "b", "bm25_body": 0.9, "bm25_title": 0.8}]
    >>> found = reranker.rank("fresh milk", docs)
    >>> found
    Ranking(b 1.028, a 0.188)
    >>> for reason in found[0].reasons:
    ...     print(reason)
    +0 the base score (0 for linear models)
    +0.532 bm25_title 0.8, highest of 2
    +0.496 bm25_body 0.9, highest of 2
    """

    def __init__(self, ranker: Ranker, features: TextFeatures | None = None, baseline: Any = None) -> None:
        if not isinstance(ranker, Ranker) or not ranker.__sklearn_is_fitted__():
            what = f"a {type(ranker).__name__} that is not fitted" if isinstance(ranker, Ranker) else shown(ranker)
            raise DataError(f"ranker must be a fitted ranker, such as rr.FittedRules().fit(data): got {what}")
        names = ranker.feature_names_
        if features is not None:
            if not isinstance(features, TextFeatures) or not hasattr(features, "feature_names_"):
                raise DataError(f"features must be a fitted TextFeatures, or None: got {shown(features)}")
            missing = [name for name in names if name not in features.feature_names_ and not comes_along(name)]
            if missing:
                raise DataError(
                    f"the ranker needs {counted(len(missing), 'feature')} that these TextFeatures do not compute: "
                    f"{listed(missing)}; they compute {listed(features.feature_names_)}. Train on "
                    "features.dataset(queries, qrels), or name the features: TextFeatures(features=[...])"
                )
        self.ranker = ranker
        self.features = features
        self.baseline = _find_baseline(baseline, ranker, features)

    @classmethod
    def watch(
        cls,
        path: str | PathLike[str],
        features: TextFeatures | None = None,
        baseline: Any = None,
        *,
        every: float = 0.2,
    ) -> WatchedReranker:
        """Return a reranker that reloads its model file when it is replaced.

        path: a saved Reranker, or a saved ranker with features and baseline given here.
        every: seconds between two checks of the file.
        """
        from rulerank.serve.model_watch import WatchedReranker

        return WatchedReranker(path, features, baseline, every=every)

    @cached_property
    def version(self) -> str:
        """The version of the model: the first digits of the checksum of its file."""
        try:
            return version_of(self)
        except DataError:  # a ranker that cannot be saved, such as Competence
            return "unsaved"

    @property
    def problem(self) -> str | None:
        """Why a newer model file is not in use; None if there is no problem."""
        return None

    def current(self) -> Reranker:
        """Return the current model, which does not change."""
        return self

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features of the ranker."""
        return self.ranker.feature_names_

    @property
    def list_matters(self) -> bool:
        """Whether a score depends on the other documents of the list."""
        return self.ranker.needs_the_query()

    def rank(
        self,
        query: str = "",
        docs: Any = None,
        top: int | None = 10,
        *,
        candidates: int = CANDIDATES,
        vectors: Mapping[str, Sequence[float]] | None = None,
    ) -> Ranking:
        """Return documents, best first; ties keep the given order.

        docs: with TextFeatures: ids of indexed documents, or dicts of fields, which need not be in the index (a dict
            with only an id is the indexed document; it may have engine_score or engine_rank); None: the top
            `candidates` documents of the index by bm25(all). Without TextFeatures: dicts of features by name, an array,
            or a data frame. With both: {"id": .., "features": {..}}, or a Dataset of one query.
        top: maximum number of results; None: all.
        vectors: of the query, for fields of vectors.
        """
        if top is not None and not is_whole(top, 0):
            raise DataError(f"top must be an integer of at least 0, or None for all documents: got {shown(top)}")
        rows = self._rows(query, docs, candidates, vectors)
        if not len(rows):
            return Ranking(query, (), 0, lambda: self.version)
        scores = rows.scores
        order = np.argsort(-scores, kind="stable")[:top].tolist()
        baseline = self._baseline_ranks(rows)
        results = [
            Result(rows.ids[place], float(scores[place]), rank, place, int(baseline[place]), rows)
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
        """Explain the score of a document, or its difference from another one.

        doc, versus: an id, a dict as in `rank`, or the index in docs, from 0.
        docs: the ranked list, as in `rank`; needed if scores depend on it and documents are given as dicts.
        """
        pair = [doc] if versus is None else [doc, versus]
        rows = None
        if docs is None and self.features is not None and all(isinstance(one, str) for one in pair):
            rows = self._rows(query, None, candidates, vectors)  # to compare its values with the other candidates
            if not self.list_matters and not {*pair} <= {*rows.ids}:
                rows = None
        elif docs is not None:
            rows = self._rows(query, docs, candidates, vectors)
        elif self.list_matters:
            raise DataError(
                "scores of this reranker depend on the documents that are ranked together: give docs, the ranked list"
            )
        if rows is None:
            rows, places = self._rows(query, pair, candidates, vectors), [*range(len(pair))]
        else:
            places = [_place_of(one, rows, docs is None) for one in pair]
        data = replace(rows.data, docid=np.array(rows.ids, dtype=object))  # explanations show the ids
        return self.ranker.explain(data, places[0], versus=None if versus is None else places[1], n_rules=n_rules)

    def save(self, path: str | PathLike[str]) -> None:
        """Write ranker and features to one file, which `rulerank.load` and `Reranker.watch` read."""
        save(self, path)

    def to_state(self) -> dict[str, Any]:
        """Return plain values and arrays for a model file."""
        return {
            "ranker": described(self.ranker),
            "features": None if self.features is None else described(self.features),
            "baseline": described(self.baseline.ranker)
            if isinstance(self.baseline, ModelBaseline)
            else self.baseline and self.baseline.option,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the reranker from `to_state`."""
        features = None if state["features"] is None else rebuilt(state["features"])
        baseline = state["baseline"]
        return cls(rebuilt(state["ranker"]), features, rebuilt(baseline) if isinstance(baseline, dict) else baseline)

    def called(self, version: str) -> Self:
        """Set the version, which is known from the file."""
        self.__dict__["version"] = version
        return self

    def warm(self) -> Self:
        """Load and compile what the first query needs."""
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
            raise DataError("docs is missing: this reranker has no TextFeatures, so there is no index to search")
        if self.features is None or isinstance(docs, Dataset):
            return rows_of_features(docs, self.ranker)
        given = None if docs is None else as_docs(docs)
        if given and bring_features(given, self.features):
            return rows_of_features(given, self.ranker)
        return rows_of_texts(self.features, query, given, self.ranker, candidates=candidates, vectors=vectors)

    def _baseline_ranks(self, rows: FeatureRows) -> Array:
        """Return the baseline rank of each document, from 1."""
        places = np.arange(len(rows))
        if isinstance(self.baseline, ModelBaseline):
            own = rows_of_features(rows.documents, self.baseline.ranker).data if rows.documents else rows.data
            places = np.argsort(-self.baseline.scores(rows.data if self.features else own), kind="stable")
        elif self.baseline is not None:
            parts = self.baseline.parts if isinstance(self.baseline, SumBaseline) else (self.baseline,)
            names = [part.feature for part in parts if isinstance(part, FeatureBaseline)]
            X = np.column_stack([rows.column(name) for name in names])
            data = Dataset(X, np.zeros(len(X)), np.zeros(len(X)), feature_names=tuple(names))
            places = np.argsort(-self.baseline.scores(data), kind="stable")
        ranks = np.empty(len(rows), dtype=np.int64)
        ranks[places] = np.arange(1, len(rows) + 1)
        return ranks


def _find_baseline(baseline: Any, ranker: Ranker, features: TextFeatures | None) -> Baseline | None:
    """Return the given baseline ranking, or the one that the model starts from."""
    if baseline is None:
        known = getattr(ranker, "baseline_", None)
        return known if isinstance(known, FeatureBaseline | SumBaseline) else None
    names = ranker.feature_names_ if features is None else features.feature_names_
    bare = str(baseline).lstrip("+-")
    if isinstance(baseline, str) and terms_of(names, baseline) is None and not os.path.isfile(baseline):
        names = (*names, bare) if features is None or comes_along(bare) else names  # documents bring it along
    found = find_baseline(names, baseline)
    if not isinstance(found, FeatureBaseline | SumBaseline | ModelBaseline):
        raise DataError(
            f"baseline: {found} ranks documents of known queries only, and queries of a service are new: name a "
            "feature, a sum of features or a model"
        )
    return found


def _place_of(doc: Any, rows: FeatureRows, own: bool) -> int:
    """Return the index of a document in the list, by its id, its index or the document itself."""
    if is_whole(doc, 0, len(rows) - 1) and not own:
        return int(doc)
    among: Sequence[Any] = rows.documents if isinstance(doc, Mapping) else rows.ids
    found = [place for place, one in enumerate(among) if one == doc]
    if len(found) == 1:
        return found[0]
    what = f"the document {shown(doc)}"
    if found:
        raise DataError(f"{what} is in docs {len(found)} times: give its index, such as doc={found[0]}")
    raise DataError(
        f"{what} is not among the {counted(len(rows), 'candidate')} of the query: give docs, the list to rank it in"
        if own
        else f"{what} is not in docs: give its id, or its index from 0 to {len(rows) - 1}"
    )
