"""The learning-to-rank methods that the papers compare with, each as its paper has it, and rankers of other libraries.

Each is a ranker like a user's own: it has `fit` and `predict`, takes qid, and is not saved. One file per method, one
file of compiled loops per family: linear ones share `base.py`, `staged_linear.py`, `cutting_plane.py` and
`linear_kernels.py`, boosted ones `boosted.py`, `stumps.py` and `boosting_kernels.py`. LambdaMART, `ilmart.py`, `ebm.py`
and `cat_boost.py` call LightGBM, interpret and CatBoost through `library_ranker.py`; `bagged.py` averages any ranker.
"""

from papers.baselines.ada_rank import AdaRank
from papers.baselines.bagged import Bagged
from papers.baselines.cat_boost import YetiRank
from papers.baselines.ebm import EBM
from papers.baselines.f_rank import FRank
from papers.baselines.ilmart import ILMARTLike
from papers.baselines.lambda_mart import LambdaMART
from papers.baselines.list_net import ListNet
from papers.baselines.rank_boost import RankBoost
from papers.baselines.rank_svm import RankSVM
from papers.baselines.regression import Regression
from papers.baselines.svm_map import SVMMAP

__all__ = [
    "EBM",
    "SVMMAP",
    "AdaRank",
    "Bagged",
    "FRank",
    "ILMARTLike",
    "LambdaMART",
    "ListNet",
    "RankBoost",
    "RankSVM",
    "Regression",
    "YetiRank",
]
