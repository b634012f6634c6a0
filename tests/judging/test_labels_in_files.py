"""A file of labels that says who gave them: people's count, those of other judges only where they are named."""

import pytest

import rulerank as rr
from rulerank.errors import DataError, ReadError
from rulerank.judging.label_files import labels_to_learn_from, read_given, read_labels
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.judging.transfer import export_labels

POOL = Pool(rr.datasets.make_ranking(n_queries=3, docs_per_query=4, seed=5))
PAIRS = POOL.pairs
HEAD = "qid,docid,grade,rater,kind\n"


@pytest.fixture
def store(tmp_path):
    with LabelStore(tmp_path / "team.db") as store:
        store.add_all([(*PAIRS[0], 0, "ann"), (*PAIRS[0], 2, "bob"), (*PAIRS[1], None, "ann"), (*PAIRS[2], 1, "ann")])
        store.set_rater_kind("gpt", "llm", "lea")
        store.set_rater_kind("a log", "clicks", "lea")
        store.add_all([(*pair, 4, "gpt") for pair in PAIRS[:5]] + [(*PAIRS[0], 3, "a log"), (*PAIRS[1], None, "a log")])
        yield store


@pytest.mark.filterwarnings("ignore:.*with different grades")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_other_judges_are_left_out_of_every_table_and_that_is_said(store, tmp_path, ending):
    path = str(tmp_path / f"each.{ending}")
    export_labels(store, path, per_rater=True)
    with pytest.warns(UserWarning, match="median|left out") as said:
        assert read_labels(POOL, path, strict=True) == {0: 1, 2: 1}
    assert [str(one.message).removeprefix(f"{path}: ") for one in said] == [
        f"1 document with different grades, such as {PAIRS[0][1]!r} of query 'q1': using the median",
        "left out labels of non-human raters: 5 labels of gpt (llm), 1 label of a log (clicks)",
    ]
    with pytest.warns(UserWarning, match="; --raters gpt --raters 'a log' uses them, with separate intercepts"):
        assert labels_to_learn_from(POOL, path).n_left_out == 6


@pytest.mark.filterwarnings("ignore:.*with different grades")
def test_a_judge_who_is_named_stays_apart(store, tmp_path):
    path = str(tmp_path / "each.csv")
    export_labels(store, path, per_rater=True)
    with pytest.warns(UserWarning, match="1 label of a log"):
        given = labels_to_learn_from(POOL, path, ["gpt"])
    assert given[:3] == ({0: 1, 2: 1}, {"gpt": dict.fromkeys(range(5), 4)}, 1)
    labelled = given.labelled(POOL.data)
    assert (labelled.y.tolist(), labelled.docid.tolist()[:3]) == (
        [1, 1, *[4] * 5],
        [PAIRS[row][1] for row in (0, 2, 0)],
    )


def test_what_is_left_out_may_be_of_documents_that_are_not_in_the_pool(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(f"{HEAD}{','.join(PAIRS[0])},1,ann,person\nq1,gone,1,gpt,llm\n")
    with pytest.warns(UserWarning, match="1 label of gpt"):
        assert read_labels(POOL, str(path), strict=True) == {0: 1}
    with pytest.raises(ReadError, match="document 'gone' of query 'q1' is not in"):
        read_given(POOL, str(path), strict=True, raters=["gpt"])


@pytest.mark.parametrize(
    ("lines", "judges", "message"),
    [
        (
            "q1,d1,1,gpt,robot\n",
            (),
            "labels.csv:2: the kind of a rater must be one of person, llm, clicks, project, other: got 'robot'",
        ),
        (
            "q1,d1,1,gpt,\n",
            (),
            "labels.csv:2: the kind of a rater must be one of person, llm, clicks, project, other: got ''",
        ),
        (
            "q1,d1,1,gpt,llm\nq1,d2,1,gpt,person\n",
            (),
            "labels.csv:3: rater 'gpt' is person here and llm before: use one kind",
        ),
        ("q1,d1,many,gpt,llm\n", (), "labels.csv:2: expected an integer from 0 to 31 as the grade"),
        ("q1,q1-d1,1,gpt,llm\n", ["gtp"], "has no labels of a non-human rater 'gtp'; its non-human raters: gpt"),
        (
            "q1,q1-d1,1,ann,person\n",
            ["ann"],
            "no labels of a non-human rater 'ann'; its non-human raters: none (the colum",
        ),
        ("q1,q1-d1,,ann,person\n", (), "no document has a grade to learn from"),
        ("q1,q1-d1,1,gpt,llm\n", (), "no document has a grade of a human rater to learn from"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*left out")
def test_a_mistake_says_where_it_is(tmp_path, lines, judges, message):
    path = tmp_path / "labels.csv"
    path.write_text(HEAD + lines)
    with pytest.raises((DataError, ReadError)) as caught:
        labels_to_learn_from(POOL, str(path), judges)
    assert message in str(caught.value)


def test_the_labels_of_a_store_count_as_its_settings_say(store, tmp_path):
    store.decide(*PAIRS[2], 3, "lea")
    with pytest.warns(UserWarning, match="1 label of a log"):
        assert labels_to_learn_from(POOL, str(tmp_path / "team.db"), ["gpt"])[:2] == (
            {0: 1, 2: 3},
            {"gpt": dict.fromkeys(range(5), 4)},
        )


def labels_of(tmp_path, grades, name="labels.csv"):
    path = tmp_path / name
    lines = [f"{','.join(PAIRS[row])},{grade}\n" for row, grade in enumerate(grades)]
    path.write_text("qid,docid,grade\n" + "".join(lines))
    return str(path)


def test_a_grade_that_cannot_be_of_the_scale_of_the_others_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"labels.csv: expected grades of one scale, with 2 as the next highest, got"):
        labels_to_learn_from(POOL, labels_of(tmp_path, [0, 1, 2, 0, 31, 1]))


@pytest.mark.parametrize("grades", [[0, 1, 9], [0, 10, 10, 10], [0, 7, 15, 31], [0, 4, 0, 9, 12]])
def test_scales_that_there_are_pass(tmp_path, grades):
    assert [*labels_to_learn_from(POOL, labels_of(tmp_path, grades)).people.values()] == grades
