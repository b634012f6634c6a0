"""A small pool whose grades are known, and samplers that are easy to follow."""

import rulerank as rr

SYNTHETIC = rr.datasets.make_ranking(n_queries=6, docs_per_query=(8, 12), n_features=8, seed=3)

TRUTH = dict(zip(zip(SYNTHETIC.qid, SYNTHETIC.docid, strict=True), SYNTHETIC.y.tolist(), strict=True))


class InOrder:
    """A sampler that wants the rows as they come, and stops after some."""

    def __init__(self, n_wanted):
        self.n_wanted = n_wanted

    def begin(self, X, qid=None):
        return Wanted(self.n_wanted)


class Wanted:
    def __init__(self, n_wanted):
        self.left = list(range(n_wanted))
        self.n_wanted = n_wanted

    def next(self, skip=()):
        return next((row for row in self.left if row not in skip), None)

    def add(self, row, grade):
        self.left = [other for other in self.left if other != row]

    @property
    def closeness(self):
        return 1 - len(self.left) / self.n_wanted


def in_order(store, n_wanted=5, **options):
    return rr.judging.Judging(rr.judging.Pool(SYNTHETIC), store, sampler=InOrder(n_wanted), max_grade=2, **options)


def judge(judging, rater, task):
    return judging.grade(rater, task.query, task.doc, TRUTH[task.query, task.doc])


def judge_all(judging, rater, most=1000):
    tasks = []
    while len(tasks) < most and (task := judging.next(rater)) is not None:
        judge(judging, rater, task)
        tasks.append(task)
    return tasks
