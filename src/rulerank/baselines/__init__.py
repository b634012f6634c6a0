"""The classic learning-to-rank methods that papers compare with, each as its paper has it. Fit takes qid.

One file a method, one file of compiled loops a family: linear ones share `staged_linear.py`, `cutting_plane.py` and
`linear_kernels.py`, boosted ones `boosted.py`, `stumps.py` and `boosting_kernels.py`; `trees.py` holds the trees of
LambdaMART, so that a saved model ranks without LightGBM. The names load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "regression": ("Regression",),
        "rank_svm": ("RankSVM",),
        "svm_map": ("SVMMAP",),
        "lambda_mart": ("LambdaMART",),
        "rank_boost": ("RankBoost",),
        "f_rank": ("FRank",),
        "ada_rank": ("AdaRank",),
        "list_net": ("ListNet",),
    },
)
