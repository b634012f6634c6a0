"""What values show of themselves: sentences and tables in the terminal and in notebooks, never arrays."""

import pytest

import rulerank as rr


@pytest.fixture(scope="module")
def values():
    fold = rr.make_folds(rr.make_ranking(n_queries=30, docs_per_query=15, seed=0), n_folds=3)[0]
    linear = rr.QueryIntercepts(l2=10, missing="mean").fit(fold.train)
    fitted = rr.FittedRules().fit(fold.train)
    grid = {"l2": [1.0, 10.0]}
    return {
        "coefficients": linear.coefficients(),
        "tuned": rr.select(fold.train, rr.QueryIntercepts(missing="mean"), grid=grid),
        "chosen": rr.select(rr.make_ranking(n_queries=40, docs_per_query=15, seed=0)),
        "learned": rr.select(fold.train, today="bm25_body"),
        "curve": rr.label_curve(fold.train, ["QI"], ["random"], sizes=[20], n_splits=2, today="bm25_body"),
        "export": rr.export_model(fitted, "python"),
        "tables": fitted.additive(),
    }


def test_every_value_prints_readable_text(values):
    for value in values.values():
        assert "array(" not in repr(value)
        assert "Trial(" not in repr(value)
        assert len(repr(value)) < 3000


def test_what_is_a_table_is_one_in_a_notebook(values):
    for name in ("coefficients", "tuned", "chosen", "curve"):
        assert "<table" in values[name]._repr_html_()


def test_effects_of_coefficients_are_bars_to_both_sides(values):
    page = values["coefficients"]._repr_html_()
    assert page.count('class="bar both"') == len(values["coefficients"].rows)


def test_sentences(values):
    assert repr(values["learned"]).startswith("Anchored(today='bm25_body')\nStarts from today's ranking (bm25_body)")
    assert repr(values["export"]).startswith("Export(\"import the file and call score({'feature': value, ...})\", ")
    assert repr(values["tables"]).startswith("AdditiveTables(base 0, ")
    assert "± " in repr(values["chosen"])
    assert repr(values["tables"].tables[0]).startswith("Table(0: ")
