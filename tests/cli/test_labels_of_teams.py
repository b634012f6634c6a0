"""rulerank labels of several raters: disputes, agreement, other judges, settings, the history."""

import json
import shutil

import polars as pl
import pytest

from frozen import FROZEN
from rulerank.judging.store import LabelStore


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with LabelStore("team.db") as store:
        store.add_all([("q1", f"d{n}", n % 3, rater) for n in range(12) for rater in ("ann", "bob")], page="document")
        store.add("q1", "d0", 2, "bob", page="list")
        store.add("q2", "d1", 1, "ann")
        store.decide("q2", "d1", 2, "lea", page="disputes")
    return tmp_path


def test_the_count_says_how_labels_count(run, folder):
    said = run("labels", "team.db").out
    assert said.startswith("team.db: 25 labels, 13 documents, 2 raters, 1 decision\nA document that several people")
    how = "the median of the raters, and no grade where it falls between two until that is decided"
    assert f"has {how}; what the lead has decided counts first." in said
    assert "without a grade until decided" not in said
    with LabelStore("team.db") as store:
        store.add("q1", "d1", 2, "bob")  # ann said 1
    assert run("labels", "team.db").out.endswith("\n1 document without a grade until decided (--disputes).\n")
    assert json.loads(run("labels", "team.db", "--json").out)["undecided"] == 1


def test_disputes_are_listed_the_largest_first(run, folder):
    said = run("labels", "team.db", "--disputes").out
    assert "q1     d0        ann 0, bob 2" in said
    (found,) = json.loads(run("labels", "team.db", "--disputes", "--json").out)["disputes"]
    assert (found["doc"], found["spread"], found["decided"]) == ("d0", 2, False)
    assert [(one["rater"], one["grade"], one["page"]) for one in found["labels"]] == [
        ("ann", 0, "document"),
        ("bob", 2, "list"),
    ]
    with LabelStore("team.db") as store:
        store.decide("q1", "d0", 1, "lea")
    assert json.loads(run("labels", "team.db", "--disputes", "--json").out)["disputes"][0]["decision"] == 1
    with LabelStore("calm.db") as store:
        store.add("q", "d", 1, "ann")
    said = "calm.db: no two raters disagree on a document that people have graded\n"
    assert run("labels", "calm.db", "--disputes").out == said
    assert "no document was graded by two raters" in run("labels", "calm.db", "--agreement").out


def test_other_judges_come_in_apart_and_their_agreement_is_told(run, folder):
    pl.DataFrame({"qid": ["q1"] * 3, "docid": ["d0", "d1", "d2"], "grade": [1, 1, 0]}).write_csv("llm.csv")
    assert run("labels", "team.db", "--import", "llm.csv", "--rater", "gpt", "--kind", "llm").out.endswith(
        "3 new labels\n"
    )
    said = run("labels", "team.db", "--agreement").out
    assert "Krippendorff's alpha of the people: 0." in said
    assert "90 % interval" in said
    assert "judge gpt, with the people" in said
    found = json.loads(run("labels", "team.db", "--agreement", "--json").out)
    assert found["judges"][0]["share"]["n_docs"] == 3
    assert found["raters"][0]["name"] == "ann"
    assert "Labels of other judges (gpt) are no people's; in training: none of them." in run("labels", "team.db").out
    run("labels", "team.db", "-o", "out.qrels")
    assert "q1 0 d0 1" in (folder / "out.qrels").read_text()  # the median of the people alone
    run("labels", "team.db", "-o", "each.csv", "--per-rater")
    run("labels", "copy.db", "--import", "each.csv", "--rater", "nobody")
    with LabelStore("copy.db") as copy:
        assert copy.judges() == {"gpt": "llm"}


def test_settings_are_made_and_kept(run, folder):
    assert run("labels", "team.db", "--set", "judgements=2", "--set", "combine=mean").out == (
        'team.db: judgements = 2, combine = "mean"\n'
    )
    with LabelStore("team.db") as store:
        store.name_judge("gpt", "llm", "lea")
        assert store.settings().combine == "mean"
    run("labels", "team.db", "--set", "training_judges=gpt")
    with LabelStore("team.db") as store:
        assert store.settings().training_judges == ("gpt",)
    run("labels", "team.db", "--set", "training_judges=none")
    said = run("labels", "team.db", "-o", "out.csv").out
    assert said == "out.csv: 13 rows, as csv; of several raters the mean of the raters, rounded\n"
    assert "q1,d3,0,mean of 2" in (folder / "out.csv").read_text()
    assert 'q2,d1,2,"decided by the lead, 1 rater"' in (folder / "out.csv").read_text()


def test_the_history_says_who_when_what_and_on_which_page(run, folder):
    with LabelStore("team.db") as store:
        store.undo("ann", page="document")
        store.skip("q2", "d1", "bob")
        store.name_judge("gpt", "llm", "lea")
        store.change_setting("judgements", 2, "lea", page="lead")
        store.undo_decision("q2", "d1", "lou", page="disputes")
    assert run("labels", "team.db", "--history", "-o", "audit.csv").out == "audit.csv: 32 events\n"
    rows = pl.read_csv(folder / "audit.csv").rows(named=True)
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    last = [(row["who"], row["what"], row["docid"], row["grade"], row["value"] or None, row["page"]) for row in rows][
        -6:
    ]
    assert last == [
        ("lea", "decision", "d1", 2, None, "disputes"),
        ("ann", "undo label", "d1", 1, None, "document"),
        ("bob", "skip", "d1", None, None, None),
        ("lea", "judge", None, None, "gpt is llm", None),
        ("lea", "setting", None, None, "judgements = 2", "lead"),
        ("lou", "undo decision", "d1", 2, None, "disputes"),
    ]


def test_orders_that_a_store_of_version_0_1_holds_are_in_its_history(run, folder):
    shutil.copy(FROZEN / "labels.db", "old.db")
    run("labels", "old.db", "--history", "-o", "audit.csv")
    found = [row for row in pl.read_csv("audit.csv").rows(named=True) if row["what"] == "order"]
    assert [(row["who"], row["qid"], row["value"], row["page"]) for row in found] == [("ben", "q1", "d2 > d1", "list")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--disputes", "--agreement"], "one thing at a time: got --disputes, --agreement"),
        (["--disputes", "-o", "out.csv"], "one thing at a time: got --disputes, -o"),
        (["--history"], "--history is written to a table: name it, as -o audit.csv"),
        (["--history", "-o", "audit.txt"], "the history is a table: choose from"),
        (["--kind", "llm"], "--kind says what the rater of --import is"),
        (["--import", "llm.csv", "--rater", "gpt", "--kind", "robot"], "a rater is one of person, llm, clicks"),
        (["--import", "llm.csv", "--rater", "ann", "--kind", "llm"], "'ann' has judged as a person: take these labels"),
        (["--set", "colour=red"], "--set takes NAME=VALUE with a name of combine, judgements, training_judges"),
        (["--set", "judgements=many"], "judgements per document are a whole number from 1 to 9: got 'many'"),
        (["--set", "training_judges=gpt"], "'gpt' is no judge of this store; there are none"),
        (["-o", "out.csv", "--combine", "vote"], "labels are combined by median, mean, majority, reliability, dawid"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(words, message, run, folder):
    pl.DataFrame({"qid": ["q1"], "docid": ["d0"], "grade": [1]}).write_csv("llm.csv")
    done = run("labels", "team.db", *words)
    assert done.code == 2
    assert message in done.err
    with LabelStore("team.db") as store:
        assert (len(store.history()), store.setting_history(), store.judge_history()) == (26, [], [])
