"""rulerank train --labels of several judges: people's alone, unless others are named."""

import json

import pytest

from rulerank.io.formats import read_any
from rulerank.model_file import load
from rulerank.training.few_labels import PEOPLE, fit_by_judge

WORDS = ("train", "pool.csv", "--labels", "each.csv", "-o", "few.rulerank")


def test_labels_of_other_judges_are_left_out_and_it_is_said_how_to_let_them_in(run, folder):
    lines = (folder / "each.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join(line for line in lines if not line.endswith("llm")) + "\n")
    done = run(*WORDS, "--today", "bm25_body")
    assert (
        "each.csv: 10 labels of gpt (llm) left out, as they are no people's; --judges gpt counts them in, with "
        "intercepts of their own" in done.err
    )
    run("train", "pool.csv", "--labels", "people.csv", "-o", "people.rulerank", "--today", "bm25_body")
    pool = read_any("pool.csv")
    assert (load("few.rulerank").predict(pool) == load("people.rulerank").predict(pool)).all()
    assert json.loads(run(*WORDS, "--today", "bm25_body", "--json").out)["left_out"] == 10


def test_a_judge_who_is_named_has_intercepts_of_its_own(run, folder):
    done = run(*WORDS, "--judges", "gpt")
    assert "learned from 10 labels of the people, 10 labels of gpt: every judge has intercepts of its own" in done.err
    assert "left out" not in done.err
    assert "Dataset(20 rows" in done.out
    pool = read_any("pool.csv")
    given = {
        PEOPLE: dict(enumerate(pool.y[:10].tolist())),
        "gpt": {row: min(int(pool.y[row]) + 1, 4) for row in range(5, 15)},
    }
    ranker = load("few.rulerank")
    assert [*dict.fromkeys(ranker.judge_ids_.tolist())] == [PEOPLE, "gpt"]
    with pytest.warns(UserWarning, match="learned from"):
        assert (ranker.predict(pool) == fit_by_judge("QI", pool, given).predict(pool)).all()
    assert run(*WORDS, "--judges", "gpt", "--method", "QI", "--set", "l2=7").code == 0
    assert load("few.rulerank").l2 == 7


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*WORDS, "--judges", "gpt", "--method", "Anchored"], "labels of gpt count in training, each judge with inter"),
        ([*WORDS, "--judges", "gpt", "--today", "bm25_body"], "--judges trains QI, which does not start from today's"),
        ([*WORDS, "--judges", "ann"], "each.csv: 'ann' is a person, and people's labels count anyway"),
        ([*WORDS, "--judges", "llama"], "each.csv has no labels of a judge 'llama'; judges there are gpt"),
        (["train", "pool.csv", "-o", "m", "--judges", "gpt"], "--judges says which judges of --labels count besides"),
    ],
)
def test_a_mistake_is_one_line(run, folder, words, message):
    done = run(*words)
    assert (done.code, done.err.startswith("error: "), message in done.err) == (2, True, True)
