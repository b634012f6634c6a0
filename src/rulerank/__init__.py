"""Readable learning to rank: read data, learn a ranker, evaluate, explain and serve it.

The names below are on top (`import rulerank as rr`); the modules have the rest: `rr.datasets`, `rr.io`, `rr.clicks`,
`rr.discretize`, `rr.evaluation`, `rr.explain`, `rr.judging`, `rr.scale`, `rr.experiment` and `rr.errors`. Each name
and module loads when it is first used, so that importing is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rulerank._util.words import surface

__version__ = "0.1.0"

if TYPE_CHECKING:  # isort: off
    from rulerank import clicks as clicks, datasets as datasets, discretize as discretize, evaluation as evaluation
    from rulerank import errors as errors, experiment as experiment, explain as explain, io as io
    from rulerank import judging as judging, scale as scale
    from rulerank.dataset import Dataset as Dataset
    from rulerank.io.letor import read_letor as read_letor
    from rulerank.io.formats import read_folds as read_folds
    from rulerank.io.tables import read_table as read_table, from_frame as from_frame
    from rulerank.io.trec import Run as Run, Qrels as Qrels, read_run as read_run, read_qrels as read_qrels
    from rulerank.io.texts import Documents as Documents, Queries as Queries
    from rulerank.io.texts import read_documents as read_documents, read_queries as read_queries
    from rulerank.text.text_features import TextFeatures as TextFeatures
    from rulerank.rankers.global_rules import GlobalRules as GlobalRules
    from rulerank.rankers.stable_rules import StableRules as StableRules
    from rulerank.rankers.query_rules import QueryRules as QueryRules
    from rulerank.rankers.linear.query_intercepts import QueryIntercepts as QueryIntercepts
    from rulerank.rankers.fitted.fitted_rules import FittedRules as FittedRules
    from rulerank.rankers.anchored.anchored import Anchored as Anchored
    from rulerank.fusion.competence import Competence as Competence
    from rulerank.fusion.classic import fuse as fuse
    from rulerank.model_file import load as load
    from rulerank.sampling.ssar import SSAR as SSAR
    from rulerank.sampling.strata import StratifiedSampler as StratifiedSampler
    from rulerank.evaluation import evaluate as evaluate, compare as compare, estimate_with_llm as estimate_with_llm
    from rulerank.selection.select import make_scorer as make_scorer, select as select
    from rulerank.rankers.foreign import QueryKFold as QueryKFold
    from rulerank.export import export_model as export_model
    from rulerank.serve.reranker import Reranker as Reranker

MODULES = ["datasets", "io", "clicks", "discretize", "evaluation"]
MODULES += ["explain", "judging", "scale", "experiment", "errors"]
__all__, _find = surface(
    __name__,
    {
        # data
        "dataset": ("Dataset",),
        "io.letor": ("read_letor",),
        "io.formats": ("read_folds",),
        "io.tables": ("read_table", "from_frame"),
        "io.trec": ("Run", "Qrels", "read_run", "read_qrels"),
        # texts
        "io.texts": ("Documents", "Queries", "read_documents", "read_queries"),
        "text.text_features": ("TextFeatures",),
        # rankers
        "rankers.global_rules": ("GlobalRules",),
        "rankers.stable_rules": ("StableRules",),
        "rankers.query_rules": ("QueryRules",),
        "rankers.linear.query_intercepts": ("QueryIntercepts",),
        "rankers.fitted.fitted_rules": ("FittedRules",),
        "rankers.anchored.anchored": ("Anchored",),
        "fusion.competence": ("Competence",),
        "fusion.classic": ("fuse",),
        "model_file": ("load",),
        # labels
        "sampling.ssar": ("SSAR",),
        "sampling.strata": ("StratifiedSampler",),
        # evaluation and selection
        "evaluation": ("evaluate", "compare", "estimate_with_llm"),
        "selection.select": ("select", "make_scorer"),
        "rankers.foreign": ("QueryKFold",),
        # deployment
        "export": ("export_model",),
        "serve.reranker": ("Reranker",),
    },
)


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    return _find(name)


def __dir__() -> list[str]:
    return [*__all__, *MODULES, "__version__"]
