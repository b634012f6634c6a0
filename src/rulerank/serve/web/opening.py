"""What to serve: a model file, and the texts beside it."""

from __future__ import annotations

import sys

from rulerank.errors import DataError
from rulerank.features.text_features import TextFeatures
from rulerank.io.texts import read_texts
from rulerank.model_file import is_model_file, load
from rulerank.rankers.base import Ranker
from rulerank.serve.model_watch import WatchedReranker

BM25 = "bm25(all)"


def open_model(
    path: str, texts: str | None = None, *, features_only: bool = False, today: str | None = None, id: str | None = None
) -> WatchedReranker:
    """Return the model of a file, ready to answer.

    path: a saved ranker or Reranker; texts: documents, or the TextFeatures that `rulerank features --keep` wrote.
    features_only: documents come with ready features, whatever the file holds beside its ranker.
    """
    if texts is not None and features_only:
        raise DataError("--texts and --features-only exclude each other: documents are texts, or come with features")
    features = None if texts is None else open_texts(texts, path, today, id)
    reranker = WatchedReranker(path, features, today, features_only=features_only)
    if reranker.features is None and not features_only:
        raise DataError(
            f"{path} holds a ranker without texts: say --texts DOCS (documents, or what `rulerank features --keep` "
            "wrote), or --features-only when documents come with their features"
        )
    return reranker


def open_texts(texts: str, model: str, today: str | None, id: str | None) -> TextFeatures:
    """Return the index of documents: as it was kept, or made now of what the model reads."""
    if is_model_file(texts):
        found = load(texts)
        if not isinstance(found, TextFeatures):
            raise DataError(f"{texts}: expected documents, or what `rulerank features --keep` wrote: got {found!r:.80}")
        return found
    ranker = load(model)
    names = list(ranker.feature_names_ if isinstance(ranker, Ranker) else ranker.feature_names)
    wanted = BM25 if today is None else today.removeprefix("-").removeprefix("+")
    made = TextFeatures(features=[*dict.fromkeys([*names, wanted])]).fit(read_texts(texts, id=id))
    print(
        f"{texts}: indexed with the usual settings (English words, k1 and b of BM25, weights of fields); if the model "
        "was trained with others, name the file that `rulerank features --keep` wrote, which starts faster, too",
        file=sys.stderr,
    )
    return made
