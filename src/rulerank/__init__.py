"""Glass-box learning to rank: read, discretise, vote with rules, evaluate, explain.

The public names, in the order of the flow. Each loads its module when first used, so that importing is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulerank.core import surface

__version__ = "0.1.0"

if TYPE_CHECKING:  # isort: off
    from rulerank.dataset import Dataset as Dataset, Fold as Fold
    from rulerank.io.letor import read_letor as read_letor, write_letor as write_letor
    from rulerank.io.folds import read_folds as read_folds
    from rulerank.io.tables import (
        read_table as read_table,
        write_table as write_table,
        from_frame as from_frame,
        to_frame as to_frame,
    )
    from rulerank.io.trec import (
        Run as Run,
        Qrels as Qrels,
        read_run as read_run,
        write_run as write_run,
        read_qrels as read_qrels,
        write_qrels as write_qrels,
        run_from_scores as run_from_scores,
    )
    from rulerank.io.formats import convert as convert
    from rulerank.io.engine_logs import read_logs as read_logs
    from rulerank.io.texts import (
        Texts as Texts,
        read_texts as read_texts,
        Queries as Queries,
        read_queries as read_queries,
        read_judgements as read_judgements,
        read_pairs as read_pairs,
    )
    from rulerank.features.text_features import TextFeatures as TextFeatures
    from rulerank.datasets.ranking import make_ranking as make_ranking
    from rulerank.datasets.shop import make_shop as make_shop
    from rulerank.clicks.counts import ClickCounts as ClickCounts
    from rulerank.clicks.reading import read_clicks as read_clicks
    from rulerank.clicks.simulate import simulate_clicks as simulate_clicks
    from rulerank.clicks.interleaving import interleave as interleave, read_contest as read_contest
    from rulerank.discretize import (
        MDLP as MDLP,
        TUBE as TUBE,
        EqualWidth as EqualWidth,
        EqualFrequency as EqualFrequency,
    )
    from rulerank.rankers.global_rules import GlobalRules as GlobalRules
    from rulerank.rankers.stable_rules import StableRules as StableRules
    from rulerank.rankers.query_rules import QueryRules as QueryRules
    from rulerank.rankers.linear.query_intercepts import QueryIntercepts as QueryIntercepts
    from rulerank.rankers.fitted.fitted_rules import FittedRules as FittedRules
    from rulerank.rankers.anchored.anchored import Anchored as Anchored, AnchoredRules as AnchoredRules
    from rulerank.sampling.ssar import SSAR as SSAR
    from rulerank.sampling.strata import Strata as Strata
    from rulerank.aggregate.fusion import fuse as fuse, fuse_runs as fuse_runs
    from rulerank.aggregate.competence import Competence as Competence
    from rulerank.model_file import load as load
    from rulerank.splitting import QueryKFold as QueryKFold, make_folds as make_folds
    from rulerank.training.selection import scorer as scorer, select as select
    from rulerank.export import export_model as export_model
    from rulerank.serve.reranker import Reranker as Reranker
    from rulerank.evaluation import (
        Measure as Measure,
        evaluate as evaluate,
        evaluate_run as evaluate_run,
        compare as compare,
    )
    from rulerank.scale.fit import fit_parts as fit_parts
    from rulerank.scale.score import evaluate_parts as evaluate_parts
    from rulerank.experiment.label_curve import label_curve as label_curve
    from rulerank.experiment.run import run_experiment as run_experiment
    from rulerank.experiment.report import write_report as write_report

_NAMES = {
    # data
    "dataset": ("Dataset", "Fold"),
    "io.letor": ("read_letor", "write_letor"),
    "io.folds": ("read_folds",),
    "io.tables": ("read_table", "write_table", "from_frame", "to_frame"),
    "io.trec": ("Run", "Qrels", "read_run", "write_run", "read_qrels", "write_qrels", "run_from_scores"),
    "io.formats": ("convert",),
    "io.engine_logs": ("read_logs",),
    # texts
    "io.texts": ("Texts", "read_texts", "Queries", "read_queries", "read_judgements", "read_pairs"),
    "features.text_features": ("TextFeatures",),
    "datasets.ranking": ("make_ranking",),
    "datasets.shop": ("make_shop",),
    # clicks
    "clicks.counts": ("ClickCounts",),
    "clicks.reading": ("read_clicks",),
    "clicks.simulate": ("simulate_clicks",),
    "clicks.interleaving": ("interleave", "read_contest"),
    # bins, rankers
    "discretize": ("MDLP", "TUBE", "EqualWidth", "EqualFrequency"),
    "rankers.global_rules": ("GlobalRules",),
    "rankers.stable_rules": ("StableRules",),
    "rankers.query_rules": ("QueryRules",),
    "rankers.linear.query_intercepts": ("QueryIntercepts",),
    "rankers.fitted.fitted_rules": ("FittedRules",),
    "rankers.anchored.anchored": ("Anchored", "AnchoredRules"),
    "sampling.ssar": ("SSAR",),
    "sampling.strata": ("Strata",),
    "aggregate.fusion": ("fuse", "fuse_runs"),
    "aggregate.competence": ("Competence",),
    "model_file": ("load",),
    "splitting": ("QueryKFold", "make_folds"),
    "training.selection": ("scorer", "select"),
    "export": ("export_model",),
    "serve.reranker": ("Reranker",),
    # figures
    "evaluation": ("Measure", "evaluate", "evaluate_run", "compare"),
    "scale.fit": ("fit_parts",),
    "scale.score": ("evaluate_parts",),
    "experiment.label_curve": ("label_curve",),
    "experiment.run": ("run_experiment",),
    "experiment.report": ("write_report",),
}
__all__, __getattr__ = surface(__name__, _NAMES)  # one table says both what there is and where


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
