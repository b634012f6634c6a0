"""A file of labels that says who gave them: people's count, those of other judges only where they are named."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from rulerank.errors import DataError, ReadError
from rulerank.judging.label_files import labels_to_learn_from, read_given, read_labels
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.judging.transfer import export_labels, import_labels

POOL = Pool(rr.make_ranking(n_queries=3, docs_per_query=4, seed=5))
PAIRS = POOL.pairs
HEAD = "qid,docid,grade,rater,kind\n"


@pytest.fixture
def store(tmp_path):
    with LabelStore(tmp_path / "team.db") as store:
        store.add_all([(*PAIRS[0], 0, "ann"), (*PAIRS[0], 2, "bob"), (*PAIRS[1], None, "ann"), (*PAIRS[2], 1, "ann")])
        store.name_judge("gpt", "llm", "lea")
        store.name_judge("a log", "clicks", "lea")
        store.add_all([(*pair, 4, "gpt") for pair in PAIRS[:5]] + [(*PAIRS[0], 3, "a log"), (*PAIRS[1], None, "a log")])
        yield store


@pytest.mark.filterwarnings("ignore:.*with different grades")
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "csv.gz"])
def test_other_judges_are_left_out_of_every_table_and_that_is_said(store, tmp_path, ending):
    path = str(tmp_path / f"each.{ending}")
    export_labels(store, path, per_rater=True)
    with pytest.warns(UserWarning, match="median|left out") as said:
        assert read_labels(POOL, path, strict=True) == {0: 1, 2: 1}
    assert [str(one.message).removeprefix(f"{path}: ") for one in said] == [
        f"1 document with different grades, such as {PAIRS[0][1]!r} of query 'q1': their median counts",
        "5 labels of gpt (llm), 1 label of a log (clicks) left out, as they are no people's",
    ]
    with pytest.warns(
        UserWarning, match="; --judges gpt --judges 'a log' counts them in, with intercepts of their own"
    ):
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


def test_a_column_kind_without_raters_is_any_column(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(f"qid,docid,grade,kind\n{PAIRS[3][0]},{PAIRS[3][1]},2,llm\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_labels(POOL, str(path), strict=True) == {3: 2}


def test_where_the_table_does_not_say_what_raters_are_a_named_one_is_a_judge(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("qid,docid,grade,rater\n" + "".join(f"{','.join(PAIRS[0])},{n},r{n}\n" for n in range(2)))
    assert read_given(POOL, str(path), strict=True, judges=["r1"])[:3] == ({0: 0}, {"r1": {0: 1}}, 0)


def test_what_is_left_out_may_be_of_documents_that_are_not_in_the_pool(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(f"{HEAD}{','.join(PAIRS[0])},1,ann,person\nq1,gone,1,gpt,llm\n")
    with pytest.warns(UserWarning, match="1 label of gpt"):
        assert read_labels(POOL, str(path), strict=True) == {0: 1}
    with pytest.raises(ReadError, match="document 'gone' of query 'q1' is not in"):
        read_given(POOL, str(path), strict=True, judges=["gpt"])


@pytest.mark.parametrize(
    ("lines", "judges", "message"),
    [
        ("q1,d1,1,gpt,robot\n", (), "labels.csv:2: a rater is one of person, llm, clicks, project, other: got 'robot'"),
        ("q1,d1,1,gpt,\n", (), "labels.csv:2: a rater is one of person, llm, clicks, project, other: got ''"),
        (
            "q1,d1,1,gpt,llm\nq1,d2,1,gpt,person\n",
            (),
            "labels.csv:3: rater 'gpt' is person here and llm before: say which",
        ),
        ("q1,d1,many,gpt,llm\n", (), "labels.csv:2: expected a whole number from 0 to 31 as the grade"),
        ("q1,q1-d1,1,ann,person\n", ["ann"], "'ann' is a person, and people's labels count anyway; --judges names oth"),
        ("q1,q1-d1,1,gpt,llm\n", ["gtp"], "has no labels of a judge 'gtp'; judges there are gpt"),
        ("q1,q1-d1,1,ann,person\n", ["gpt"], "no labels of a judge 'gpt'; it names no other judges (columns rater, ki"),
        ("q1,q1-d1,,ann,person\n", (), "no document has a grade, so there is nothing to learn from"),
        ("q1,q1-d1,1,gpt,llm\n", (), "no document has a person's grade, so there is nothing to learn from"),
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


def test_more_labels_of_a_judge_leave_it_a_judge(store, tmp_path):
    path = tmp_path / "more.csv"
    path.write_text(f"qid,docid,grade\n{','.join(PAIRS[7])},1\n")
    with pytest.warns(UserWarning, match="1 label of gpt .llm. are no people's: they count in training only after"):
        assert import_labels(store, path, "gpt") == 1
    assert store.judges() == {"gpt": "llm", "a log": "clicks"}
    store.change_setting("training_judges", ["gpt"], "lea")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import_labels(store, path, "gpt")
    pl.DataFrame({"qid": ["q1"], "docid": ["d"], "grade": [1], "rater": ["old"]}).write_csv(path)
    with pytest.warns(UserWarning, match="only after --set training_judges=gpt,old"):
        import_labels(store, Path(path), "anybody", kind="project")
    assert store.judges()["old"] == "project"


def test_a_median_between_two_grades_leaves_a_document_out_and_that_is_said(tmp_path):
    (tmp_path / "labels.csv").write_text(
        HEAD.replace(",kind", "")
        + "".join(
            f"{','.join(PAIRS[row])},{grade},{rater}\n"
            for row, grades in ((0, (0, 2)), (1, (0, 1)), (2, (1, 1)))
            for rater, grade in zip(("ann", "bob"), grades, strict=True)
        )
    )
    with pytest.warns(UserWarning, match="their median counts") as said:
        assert read_labels(POOL, str(tmp_path / "labels.csv"), strict=True) == {0: 1, 2: 1}
    assert [str(one.message).partition(": ")[2] for one in said] == [
        f"2 documents with different grades, such as {PAIRS[1][1]!r} of query {PAIRS[1][0]!r}: their median counts; "
        "1 whose median falls between two grades left out: one more label each decides"
    ]


def labels_of(tmp_path, grades, name="labels.csv"):
    path = tmp_path / name
    lines = [f"{','.join(PAIRS[row])},{grade}\n" for row, grade in enumerate(grades)]
    path.write_text("qid,docid,grade\n" + "".join(lines))
    return str(path)


def test_a_grade_that_cannot_be_of_the_scale_of_the_others_is_named_with_its_line(tmp_path):
    path = labels_of(tmp_path, [0, 1, 2, 0, 31, 1])
    with pytest.raises(ReadError) as caught:
        labels_to_learn_from(POOL, path)
    assert str(caught.value) == (
        f"{path}:6: expected grades of one scale, on which 2 is the next highest, got 31 for document {PAIRS[4][1]!r} "
        f"of query {PAIRS[4][0]!r}: correct it or, if it is meant, number the grades without such a gap, 3 for 31"
    )
    qrels = tmp_path / "labels.qrels"
    grades = [0, 1, 2, 0, 31, 1]
    qrels.write_text("".join(f"{query} 0 {doc} {grade}\n" for (query, doc), grade in zip(PAIRS, grades, strict=False)))
    with pytest.raises(ReadError, match=r"labels.qrels:5: expected grades of one scale"):
        labels_to_learn_from(POOL, str(qrels))
    each = tmp_path / "each.csv"
    each.write_text(HEAD + "".join(f"{','.join(PAIRS[row])},{grade},ann,person\n" for row, grade in enumerate(grades)))
    with pytest.raises(ReadError, match=r"each.csv:6: expected grades of one scale"):
        labels_to_learn_from(POOL, str(each))
    pl.read_csv(path).write_parquet(tmp_path / "labels.parquet")
    with pytest.raises(ReadError, match=r"labels.parquet: expected grades of one scale.*got 31 for document 'q\d-d\d'"):
        labels_to_learn_from(POOL, str(tmp_path / "labels.parquet"))


@pytest.mark.parametrize("grades", [[0, 1, 9], [0, 10, 10, 10], [0, 7, 15, 31], [0, 4, 0, 9, 12]])
def test_scales_that_there_are_pass(tmp_path, grades):
    assert [*labels_to_learn_from(POOL, labels_of(tmp_path, grades)).people.values()] == grades


def test_a_pool_that_has_such_grades_itself_tells_that_they_are_meant(tmp_path):
    world = rr.make_ranking(n_queries=3, docs_per_query=4, seed=5)
    own = Pool(replace(world, y=np.where(np.arange(len(world)) == 7, 31, world.y)))
    assert labels_to_learn_from(own, labels_of(tmp_path, [0, 1, 31])).people == {0: 0, 1: 1, 2: 31}


def test_where_the_highest_grade_is_known_no_label_is_above_it(tmp_path):
    path = labels_of(tmp_path, [0, 1, 4])
    assert read_labels(POOL, path, strict=True, max_grade=4) == {0: 0, 1: 1, 2: 4}
    with pytest.raises(
        ReadError, match=r"csv:4: expected grades from 0 to 2, as --max-grade or the guidelines say, got 4 for"
    ):
        read_labels(POOL, path, strict=True, max_grade=2)
