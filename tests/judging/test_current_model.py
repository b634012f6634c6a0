"""The model of the labels so far: learned on from label to label, it is the one that a fit of all of them gives."""

import numpy as np

import rulerank as rr
from rulerank.judging.pool import Pool
from rulerank.judging.train import PoolModel


def test_the_model_after_each_label_is_the_one_that_a_fit_gives(tmp_path):
    data = rr.make_world(n_queries=6, docs_per_query=12, n_features=6, seed=2)
    on, anew = PoolModel(Pool(data), max_grade=2), PoolModel(Pool(data), max_grade=2)
    rng = np.random.default_rng(0)
    grades = {}
    for step, row in enumerate(rng.permutation(len(data))[:50].tolist()):
        grades[row] = int(data.y[row])
        if step % 7 == 6:  # one is revised, one withdrawn
            first, second, *_ = grades
            grades[first] = 2 - grades[first]
            del grades[second]
        found, expected = on.current(grades, without=row if step % 5 == 4 else None), None
        wanted = {other: grade for other, grade in grades.items() if step % 5 != 4 or other != row}
        expected = anew.train(wanted)
        assert (found is None) == (expected is None)
        if expected is not None:
            found.ranker.save(tmp_path / "found")
            expected.save(tmp_path / "expected")
            assert (tmp_path / "found").read_bytes() == (tmp_path / "expected").read_bytes()
