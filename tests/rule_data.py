"""Small synthetic sets in bins for the rule engine, and the engine fitted to them."""

import numpy as np
from hypothesis import strategies as st

from rulerank.rules.engine import Engine, Tables
from rulerank.rules.layout import Layout
from rulerank.rules.tables import BinCounts, Rows, hide_unseen, rows_needed


@st.composite
def synthetic_sets(draw):
    """Training bins, grades and query numbers (of one document, of one grade), and documents, some never seen."""
    n_rows, n_features = draw(st.integers(1, 13)), draw(st.integers(1, 4))
    n_bins = draw(st.lists(st.integers(1, 4), min_size=n_features, max_size=n_features))
    row = st.tuples(*(st.integers(0, n - 1) for n in n_bins))
    document = st.tuples(*(st.integers(0, n + 1) for n in n_bins))
    rows = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    grades = draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n_rows, max_size=n_rows))
    named = draw(st.lists(st.integers(0, draw(st.integers(0, 4))), min_size=n_rows, max_size=n_rows))
    queries = np.unique(named, return_inverse=True)[1].tolist()
    return rows, grades, queries, draw(st.lists(document, min_size=1, max_size=5))


def counted(rows, grades, queries, min_support=0.0):
    """Return checked rows, sorted by query, what was counted of each feature by itself, and the training."""
    numbers = np.array(queries)
    checked = Rows.of(np.array(rows).T, np.array(grades), numbers)
    counts = BinCounts.of(checked)
    return checked, counts, counts.training(int(rows_needed(min_support, len(rows))))


def learn(rows, grades, queries, max_size, scheme, min_support=0.0, **options):
    """Fit an engine."""
    checked, counts, training = counted(rows, grades, queries, min_support)
    checked = checked.by_query(np.array(queries))
    return Engine.learn(checked, Layout.over(counts.n_bins, max_size), scheme, training, **options)


def known_bins(engine, documents):
    """Return documents in the bins of an engine, or of whatever has a layout."""
    return hide_unseen(np.array(documents).T, engine.layout.n_bins)


def check_one_pass(rows, grades, queries, documents, max_size, scheme):
    """Compare an engine that keeps tables with one that keeps rows, to the last bit."""
    tables = learn(rows, grades, queries, max_size, scheme)
    one_pass = learn(rows, grades, queries, max_size, scheme, memory_budget=-1)
    assert isinstance(tables.kept, Tables)
    assert isinstance(one_pass.kept, Rows)
    bins = known_bins(tables, documents)
    assert np.array_equal(tables.score(bins), one_pass.score(bins))
    votes_of_both = tables.votes_of_each(bins), one_pass.votes_of_each(bins)
    for row_bins, of_tables, of_rows in zip(bins.T, *votes_of_both, strict=True):
        counts, votes = tables.votes_of(np.ascontiguousarray(row_bins))
        counts_of_rows, votes_of_rows = one_pass.votes_of(np.ascontiguousarray(row_bins))
        assert all(map(np.array_equal, vars(counts).values(), vars(counts_of_rows).values()))
        assert all(np.array_equal(votes, other) for other in (votes_of_rows, of_tables, of_rows))
    for feature in tables.layout.sets[0].features[:, 0].tolist():
        assert np.array_equal(tables.seen_bins(feature), one_pass.seen_bins(feature))
