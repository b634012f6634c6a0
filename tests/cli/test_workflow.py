"""From texts to a search engine through the command line: few labels and all labels, without a dead end."""

import json
import os
import shutil
from pathlib import Path

import pytest

from plain import engines
from rulerank.io.formats import read_any

BASELINE = ("--baseline", "bm25(all)")
CRANFIELD = Path(os.environ.get("RULERANK_TEXTS", "not-there"), "cranfield")
N_CHECKED = 300


@pytest.fixture
def typed(run, tmp_path, monkeypatch):
    """Run a command in an empty folder; it must end well."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        done = run(*words)
        assert done.code == 0, (words, done.err)
        return done.out

    return command


def features_of(texts, typed):
    """Write pool.parquet."""
    if texts == "shop":
        typed("make-data", "shop", "--texts")
        names = ("documents.jsonl", "queries.tsv", "judgements.qrels")
    else:
        if not CRANFIELD.exists():
            pytest.skip("needs RULERANK_TEXTS with cranfield")
        shutil.copytree(CRANFIELD, texts)
        names = ("docs.jsonl.gz", "queries.tsv", "qrels.txt")
    documents, queries, judgements = (f"{texts}/{name}" for name in names)
    typed("features", documents, queries, "--qrels", judgements, "--top", "50", "-o", "pool.parquet")


def exported_scores_agree(model, typed):
    """Export to OpenSearch, score as its plugin does, and let `export --check` compare."""
    typed("export", model, "--to", "opensearch-ltr", "--feature-set", "shop", "-o", "model.json")
    document, pool = json.loads(Path("model.json").read_text()), read_any("pool.parquet")
    lines = []
    for values in pool.X[:N_CHECKED].tolist():
        row = dict(zip(pool.feature_names, values, strict=True))
        answer = {name: None if value != value else value for name, value in row.items()}
        lines.append(json.dumps({"features": answer, "score": engines.ltr_plugin(document, row)}))
    Path("scored.jsonl").write_text("\n".join(lines))
    said = typed("export", model, "--check", "scored.jsonl")
    return said.startswith(f"{N_CHECKED} rows: ") and said.endswith("all scores equal those of predict\n")


@pytest.mark.parametrize("texts", ["shop", "cranfield"])
def test_few_labels_and_all_labels_come_into_a_search_engine(texts, typed):
    features_of(texts, typed)
    typed("sample", "pool.parquet", *BASELINE, "--own-grades", "-n", "100", "-o", "labels.csv")
    few = typed("train", "pool.parquet", "--labels", "labels.csv", *BASELINE, "-o", "few.rulerank")
    assert "\ncan be exported\n" in few
    typed("check", "pool.parquet", "few.rulerank", "--labels", "labels.csv", "--own-grades")
    assert exported_scores_agree("few.rulerank", typed)
    assert "\ncan be exported\n" in typed("train", "pool.parquet", "--exportable", "-o", "all.rulerank")
    typed("check", "pool.parquet", "all.rulerank", *BASELINE, "--own-grades")
    assert exported_scores_agree("all.rulerank", typed)
