"""MDLP on more rows than a run without the JIT can bear."""

import numpy as np

from rulerank.discretize import MAX_BINS, MDLP


def test_no_feature_gets_more_bins_than_a_byte_holds():
    values = np.repeat(np.arange(300, dtype=np.float32), 200)
    X = values[:, None]
    mdlp = MDLP().fit(X, (values % 2).astype(int))
    assert len(mdlp.cuts_[0]) == MAX_BINS - 1
    assert mdlp.n_bins_[0] == 255
    assert mdlp.transform([[299.0], [np.nan]]).ravel().tolist() == [MAX_BINS - 1, MAX_BINS]


def test_all_threads_and_both_float_types_give_the_same_cuts():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 37)).astype(np.float32)
    grades = (X[:, ::3].sum(axis=1) > 0).astype(int) + (X[:, 0] > 1)
    one, two, wide = (
        MDLP(n_jobs=n_jobs).fit(data, grades).to_state()["cuts"].tobytes()
        for n_jobs, data in [(1, X), (2, X), (2, X.astype(np.float64))]
    )
    assert one == two == wide
