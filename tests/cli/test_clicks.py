"""rulerank clicks: a log and a pool into a table, and what is said of it."""

import json

import pytest

import rulerank as rr


def test_a_log_joins_a_pool_and_is_summed_up(run, folder):
    done = run("clicks", "log.parquet", "pool.csv", "-o", "clicked.parquet")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "Clicks"
    assert lines[2].startswith("4 queries, 24 documents (pairs of query and document), 6 positions; 2,400 impressions")
    assert "position  impressions  clicks        interval  click rate" in lines
    data = rr.read_table("clicked.parquet")
    assert lines[-1] == f"clicked.parquet: {data!r}"
    assert data.shown.impressions.sum() == 2400
    assert data.feature_names == rr.read_table("pool.csv").feature_names


def test_json_holds_the_figures(run, folder):
    found = json.loads(run("clicks", "log.csv", "pool.csv", "--json").out)
    assert found["impressions"] == 2400
    assert found["pool"]["docs"] == found["docs"] == 24
    assert [one["position"] for one in found["positions"]] == [1, 2, 3, 4, 5, 6]


def test_a_table_on_stdout_leaves_it_to_the_data(run, folder):
    done = run("clicks", "log.csv", "pool.csv", "-o", "-", "--to", "csv")
    assert done.out.startswith("qid,docid,grade,")
    assert "position:log,impressions:log,clicks:log" in done.out.splitlines()[0]
    assert done.err.startswith("Clicks\n")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("clicks log.csv -o x.csv", "-o needs the documents: rulerank clicks LOG POOL -o FILE"),
        ("clicks log.csv pool.csv -o x.txt", "-o writes a table, csv, tsv, parquet: letor cannot carry it"),
        ("clicks nothing.csv", "nothing.csv: there is no such file"),
        ("clicks pool.csv", "pool.csv: no column is known to be the position"),
        ("clicks log.csv --columns query=q", "log.csv: there is no column 'q'; the columns are query, doc, position"),
        ("clicks log.csv --first-position 5", "first_position must be 1, or 0 where the log counts from 0: got 5"),
        ("clicks log.csv pool.csv --by name", "by must be id, text or None: got 'name'"),
        ("clicks log.csv log.csv", "there is no column 'qid'"),
        ("clicks log.csv pool.csv -o log.csv", "log.csv is an input, which would be lost; write to another file"),
    ],
)
def test_a_mistake_is_one_line(run, folder, command, message):
    done = run(*command.split())
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
