"""What a sampler chooses, and what a file of labels holds, as (query, document, grade)."""

import rulerank as rr
from rulerank.io.formats import read_any


def chosen_by_ssar(data, **options):
    rows = rr.SSAR(**options).select(data, lambda row: data.y[row])
    return [(data.qid[row], data.docid[row], int(data.y[row])) for row in rows]


def labels_in(file):
    data = read_any(file)
    return list(zip(data.qid.tolist(), data.docid.tolist(), data.y.tolist(), strict=True))
