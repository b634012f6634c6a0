"""What a ranker offers by its own name and a folder above does: explain, compare, try out, draw, save."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.io.columns import collected
from rulerank.rankers.importances import Sample

if TYPE_CHECKING:
    from rulerank.explain import Change, Explanation, FeatureCurves, ModelOverview, RankingExplanation, Versus
    from rulerank.rankers.base import Ranker
    from rulerank.rules.additive import Contributions


class Facade:
    """The methods of a ranker that load `explain` and `model_file` when they are called: no other file here may."""

    _sample: Sample | None = None  # some training rows, for feature_importances_; a model file does not hold them

    @overload
    def explain(self, x: Any, row: int | None = None, *, n_rules: int | None = 3) -> Explanation: ...
    @overload
    def explain(self, x: Any, row: int | None = None, *, versus: Any, n_rules: int | None = 3) -> Versus: ...
    def explain(
        self, x: Any, row: int | None = None, *, versus: Any = None, n_rules: int | None = 3
    ) -> Explanation | Versus:
        """Say why a document has its score, or why it stands above or below another one.

        x: the document's features; or those of all documents of its query, or a Dataset, `row` saying which one is
            meant. A ranker that compares the documents of a query with each other needs all of them.
        versus: another document: its features, or its row number in x.
        n_rules: how many rules of each group to keep; None keeps all.

        >>> import rulerank as rr
        >>> world = rr.make_ranking(n_queries=20, seed=0)
        >>> ranker = rr.GlobalRules().fit(world)
        >>> why = ranker.explain(world, 3)
        >>> abs(why.base + sum(share.adds for share in why.features) - ranker.predict(world)[3]) < 1e-9
        np.True_
        >>> ranker.explain(world, 3, versus=7).lines()[0]
        'q1-d4 scores 0.4651 and q1-d8 0.2908: 0.1743 between them.'
        """
        from rulerank.explain import explain_score, explain_versus

        x, versus = collected(x), collected(versus)
        return (
            explain_score(_ranker(self), x, row, n_rules)
            if versus is None
            else explain_versus(_ranker(self), x, row, versus, n_rules)
        )

    def explain_query(
        self, data: Dataset, query: Any = None, *, today: str | int | bool | None = None, n: int = 10
    ) -> RankingExplanation:
        """Explain the whole ranking of a query: reasons for each document, and what moved against today's ranking.

        data: documents with this query among them; texts that it has are shown.
        query: its id; None where the data has but one.
        today: the feature that ranks the documents now, "-name" where the lowest comes first; None: the one whose name
            says so, such as bm25 or engine_rank, if any; False: none.
        n: how many documents to show; the reasons are those against the average of all of them.

        >>> import rulerank as rr
        >>> world = rr.make_ranking(n_queries=20, seed=0)
        >>> found = rr.GlobalRules().fit(world).explain_query(world, "q1", n=3)
        >>> [(doc.rank, doc.document, doc.today) for doc in found.documents]
        [(1, 'q1-d26', 21), (1, 'q1-d39', 5), (1, 'q1-d48', 22)]
        """
        from rulerank.explain import explain_ranking

        return explain_ranking(_ranker(self), data, query, today, n)

    def what_if(self, x: Any, row: int | None = None, *, above: float) -> tuple[Change, ...]:
        """Return the smallest change of each single feature that lifts a document above a score, smallest first.

        x and row are those of `explain`.
        """
        from rulerank.explain import what_if

        return what_if(_ranker(self), collected(x), row, above)

    def overview(self, data: Dataset) -> ModelOverview:
        """Say what the model as a whole does on documents: influential rules, effects of features, interactions."""
        from rulerank.explain import overview_of

        return overview_of(_ranker(self), data)

    def curves(self, data: Dataset | None = None, most: int = 9) -> FeatureCurves:
        """Return what each feature adds to the score by its value, of a ranker that is a sum; the most important first.

        data: documents that the curves are centred on and whose values are counted; without any, the training rows
            that the ranker still has with it.

        >>> import rulerank as rr
        >>> world = rr.make_ranking(n_queries=30, n_features=3, seed=0)
        >>> curve = rr.FittedRules().fit(world).curves(world).curves[0]
        >>> curve.feature, curve.counts.n_docs == len(world), bool(abs(curve.adds(world.X[:, 1]).mean()) < 1e-9)
        ('bm25_title', True, True)
        """
        from rulerank.explain import curves_of

        return curves_of(_ranker(self), data, most, self._sample)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted ranker to a model file, which `rulerank.load` reads."""
        from rulerank.model_file import save

        save(self, path)


def contributions_by_document(ranker: Ranker, X: Array, queries: Array | None) -> Contributions:
    """Return the contributions to scores that are no sum of tables, document by document."""
    from rulerank.explain.cases import contributions_of

    if queries is None and ranker.needs_the_query():
        raise DataError("the documents of a query are compared with each other: give contributions(X, qid=qid)")
    return contributions_of(ranker, X, np.arange(len(X)) if queries is None else queries)


def _ranker(facade: Facade) -> Ranker:
    return cast("Ranker", facade)  # whose base it is
