"""PyTerrier: a transformer that trains and reranks (pyterrier 1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from rulerank._util.estimator import clone
from rulerank._util.parameters import shown
from rulerank._util.words import listed
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError, MissingExtraError
from rulerank.rankers.base import Ranker
from rulerank.rankers.foreign import fit_ranker
from rulerank.serve.adapters import opened
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import CANDIDATES, Reranker, Result

try:
    import pandas as pd
    import pyterrier as pt
except ImportError as error:
    raise MissingExtraError("pyterrier", "pyterrier") from error

FEATURES = "features"  # PyTerrier's column of arrays


class RulerankTransformer(pt.Estimator):
    """Rerank the documents of each query; `fit` trains the ranker with query ids.

    reranker: a rr.Reranker, the path of a saved one, or a ranker, fitted or not. With TextFeatures, documents are texts
        in columns of the frame, or indexed documents by docno; for a frame with queries only, candidates come from the
        index.
    feature_names: of the column `features`, for contributions; by default f1, f2, ...
    candidates: number of candidates from the index.
    n_reasons: number of contributions in the column `reasons`; 0: no such column.

    Without TextFeatures, features come from the column `features`, as from pipelines with **, or from columns by name.

    >>> import rulerank as rr
    >>> results = pd.DataFrame({"qid": ["1", "1", "2", "2"], "docno": ["a", "b", "a", "c"], "score": [4, 3, 2, 1]})
    >>> results["features"] = [np.array(row) for row in ([0.1, 2], [0.9, 1], [0.2, 3], [0.8, 0])]
    >>> qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["b", "c"], "label": [1, 1]})
    >>> learned = RulerankTransformer(rr.QueryIntercepts(l2=1.0)).fit(results, qrels)
    >>> learned(results)[["qid", "docno", "rank"]].values.tolist()
    [['1', 'a', 1], ['1', 'b', 0], ['2', 'a', 1], ['2', 'c', 0]]
    """

    def __init__(
        self, reranker: Any, feature_names: tuple[str, ...] = (), candidates: int = CANDIDATES, n_reasons: int = 0
    ) -> None:
        super().__init__()
        self.ranker: Ranker | None = reranker if isinstance(reranker, Ranker) else None
        self.feature_names = tuple(feature_names)
        self.candidates = candidates
        self.n_reasons = n_reasons
        self.reranker: Reranker | WatchedReranker | None = None
        if self.ranker is None:
            self.reranker = opened(reranker)
        elif self.ranker.__sklearn_is_fitted__():
            self.reranker = Reranker(self.ranker)

    def fit(self, topics_or_res_tr: Any, qrels_tr: Any, topics_or_res_va: Any = None, qrels_va: Any = None) -> Self:
        """Train on results with the column `features` and qrels; unjudged documents get grade 0.

        Validation data is passed to rankers whose fit takes `vali`.
        """
        if self.ranker is None:
            raise DataError("fit needs a ranker to fit: RulerankTransformer(rr.FittedRules())")
        train = self._labelled(topics_or_res_tr, qrels_tr)
        vali = None if topics_or_res_va is None else self._labelled(topics_or_res_va, qrels_va)
        self.reranker = Reranker(fit_ranker(clone(self.ranker), train, vali=vali))
        return self

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the results with new scores and ranks, in the given order."""
        if self.reranker is None:
            raise DataError(f"the ranker {self.ranker!r} is not fitted: call fit(results, qrels) first")
        reranker, has_docs = self.reranker.current(), "docno" in inp.columns
        if not has_docs and reranker.features is None:
            raise DataError(f"expected results with a docno: got the columns {listed([*map(str, inp.columns)])}")
        rows: list[int] = []
        results: list[Result] = []
        for own in _by_query(inp):
            one = inp.iloc[own]
            query = str(one["query"].iloc[0]) if "query" in inp.columns else ""
            docs = self._docs(reranker, one) if has_docs else None
            found = reranker.rank(query, docs, top=None, candidates=self.candidates)
            rows += [own[result.place if has_docs else 0] for result in found]
            results += found
        order = np.argsort(np.array(rows, dtype=np.int64), kind="stable")
        out = inp.iloc[np.array(rows, dtype=np.int64)[order]].copy()
        results = [results[place] for place in order]
        if not has_docs:
            out = out.reset_index(drop=True).assign(docno=[result.id for result in results])
        out["score"] = np.array([result.score for result in results], dtype=np.float64)
        if self.n_reasons:
            out["reasons"] = [[str(reason) for reason in result.top_reasons(self.n_reasons)] for result in results]
        return pt.model.add_ranks(out)

    def transform_outputs(self, inp_cols: list[str]) -> list[str]:
        """Return the output columns of `transform`, for PyTerrier's inspection of pipelines."""
        new = ["docno", "score", *(["reasons"] if self.n_reasons else []), "rank"]
        return [*inp_cols, *(name for name in new if name not in inp_cols)]

    def _docs(self, reranker: Reranker, frame: pd.DataFrame) -> Any:
        """Return the documents of one query for the reranker."""
        if reranker.features is not None:
            fields = [field.name for field in reranker.features.fields_ if field.name in frame.columns]
            if not fields:
                return frame["docno"].astype(str).tolist()
            return [
                dict(zip(("id", *fields), row, strict=True))
                for row in zip(frame["docno"], *(frame[name] for name in fields), strict=True)
            ]
        if FEATURES not in frame.columns:
            return frame
        X = _matrix(frame)
        return Dataset(X, np.zeros(len(X)), np.zeros(len(X)), feature_names=reranker.feature_names)

    def _labelled(self, frame: pd.DataFrame, qrels: pd.DataFrame) -> Dataset:
        """Return results as rows with features and grades."""
        missing = [name for name in ("qid", "docno", "label") if name not in getattr(qrels, "columns", ())]
        if missing:
            raise DataError(f"qrels must be a data frame with qid, docno, label: {listed(missing)} is missing")
        grade = {
            (str(qid), str(docno)): max(0, int(label))
            for qid, docno, label in zip(qrels["qid"], qrels["docno"], qrels["label"], strict=True)
        }
        parts = [self._features_of(frame.iloc[rows]) for rows in _by_query(frame)]
        if not parts:
            raise DataError("fit needs results: got none")
        data = Dataset.concat(parts)
        pairs = zip(data.qid, data.docid if data.docid is not None else (), strict=True)
        return replace(data, y=np.array([grade.get(pair, 0) for pair in pairs], dtype=np.int16))

    def _features_of(self, frame: pd.DataFrame) -> Dataset:
        """Return the rows of one query."""
        missing = [name for name in ("docno", FEATURES) if name not in frame.columns]
        if missing:
            raise DataError(f"fit needs results with the columns docno and {FEATURES}: {listed(missing)} is missing")
        X, docid = _matrix(frame), frame["docno"].astype(str).to_numpy(dtype=object)
        qid = np.array([str(frame["qid"].iloc[0])] * len(X), dtype=object)
        return Dataset(X, np.zeros(len(X)), qid, docid, self.feature_names)


def _by_query(frame: pd.DataFrame) -> list[Array]:
    """Return the row numbers of each query, in order of appearance."""
    if "qid" not in frame.columns:
        raise DataError(f"expected a data frame with a qid: got the columns {listed([*map(str, frame.columns)])}")
    return [np.asarray(rows) for rows in frame.groupby("qid", sort=False).indices.values()]


def _matrix(frame: pd.DataFrame) -> Array:
    """Return the arrays of the column `features` as rows, float32 as in a Dataset."""
    try:
        with np.errstate(over="ignore"):
            return np.stack([np.atleast_1d(np.asarray(one, dtype=np.float32)) for one in frame[FEATURES]])
    except (TypeError, ValueError):
        first = shown(frame[FEATURES].iloc[0])
        raise DataError(
            f"the column {FEATURES} must hold arrays of numbers, all of one length: the first is {first}"
        ) from None
