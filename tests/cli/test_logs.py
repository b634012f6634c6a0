"""rulerank logs: feature logs of a search engine to a pool."""

import json
from pathlib import Path

from rulerank.io.formats import read_any


def test_logs_become_a_pool_with_labels(run, folder):
    done = run("logs", "q7.json", "--qrels", "judged.qrels", "-o", "pool.parquet")
    assert done.code == 0
    assert done.out.splitlines()[0] == "pool.parquet: Dataset(2 rows, 1 query, 4 features, grades 0: 1, 2: 1)"
    assert done.out.splitlines()[1].split() == ["feature", "missing"]
    data = read_any("pool.parquet")
    assert data.feature_names == ("title", "new", "engine_rank", "engine_score")
    assert data.y.tolist() == [2, 0]


def test_the_report_can_be_json_and_the_pool_on_stdout(run, folder):
    payload = json.loads(run("logs", "answers.jsonl", "-o", "pool.txt", "--json").out)
    assert payload == {
        "file": "pool.txt",
        "rows": 4,
        "queries": 2,
        "labelled": 0,
        "note": "feature names, texts",
        "missing": dict.fromkeys(["title", "new", "engine_rank", "engine_score"], 0.0),
    }
    done = run("logs", "answers.jsonl", "-o", "-", "--to", "csv")
    assert done.out.startswith("qid,docid,grade,title,new,")
    assert done.err.startswith("-: Dataset(4 rows")


def test_ids_come_from_a_file(run, folder):
    Path("ids.txt").write_text("other\n")
    assert run("logs", "q7.json", "--ids", "ids.txt", "-o", "pool.csv").code == 0
    assert set(read_any("pool.csv").qid) == {"other"}


def test_a_mistake_is_one_line(run, folder):
    Path("q9.json").write_text('{"hits": {"hits": [{"_id": "a"}]}}')
    done = run("logs", "q9.json", "-o", "pool.csv")
    assert done.code == 2
    assert done.err.startswith("error: q9.json: answer 1: document 1: 'a' has no features, 'fields._ltrlog'; log them")
    assert run("logs", "q9.json", "-o", "pool.what").err.startswith(
        "error: cannot tell the format to write from the name"
    )
