"""Documents that are added while people judge: as a whole or not at all, for good, and for every process."""

import threading
from pathlib import Path

import pytest

from rulerank.errors import DataError, ReadError
from rulerank.judging.added import PoolFile
from rulerank.judging.growing import GrowingPool
from rulerank.judging.loop import Judging
from rulerank.judging.store import LabelStore
from rulerank.sampling.strata import Strata

HEAD = "qid,docid,query,title,bm25,price\n"


def rows(query, docs, feature=1.0):
    return "".join(f"{query},{doc},words of {query},Title {doc},{feature + i},{i}\n" for i, doc in enumerate(docs))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text(HEAD + rows("q1", "abcd") + rows("q2", "abc"))
    return path


def judging_on(path, store):
    file = PoolFile(path)
    return Judging(file.read(), store, sampler=Strata(today="bm25"), today="bm25", max_grade=2, file=file)


def more(query="q3", docs="ab"):
    return (HEAD + rows(query, docs)).encode()


def test_what_is_added_is_handed_out_and_there_after_a_restart(path, tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = judging_on(path, store)
        while (task := judging.next("ann")) is not None:
            judging.grade("ann", task.query, task.doc, 1)
        assert judging.stop("ann").kind == "natural"
        growth = judging.add_documents(more(), "more.csv")
        assert growth == (2, 1, 9)
        assert judging.stop("ann") is None
        task = judging.next("ann")
        assert (task.query, task.query_text) == ("q3", "words of q3")
        judging.grade("ann", task.query, task.doc, 0)
        assert judging.progress("ann").labelled == 8
        again = judging_on(path, store)
        assert len(again.pool) == 9
        assert again.pool.pairs == judging.pool.pairs  # rows are the same: those that were there keep theirs
        assert again.pool.texts == judging.pool.texts
        assert again.next("ann").doc != task.doc
        assert [file.name for file in (tmp_path / "pool.csv.added").iterdir()] == ["0001"]


def test_labels_that_had_no_document_count_once_it_is_there(path, tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = judging_on(path, store)
        store.add("q3", "a", 2, "ben")
        assert judging.overview().elsewhere == 1
        judging.add_documents(more(), "more.csv")
        found = judging.overview()
        assert (found.elsewhere, found.labelled) == (0, 1)


def test_another_process_takes_over_what_was_added(path, tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        here, there = judging_on(path, store), judging_on(path, store)
        here.add_documents(more("q3"), "one.csv")
        assert there.knows("q3", "a")  # a grade for it may come at once
        assert there.grade("ann", "q3", "a", 2).grade == 2
        there.add_documents(more("q4"), "two.csv")
        here.add_documents(more("q5"), "three.csv")  # with those of q4, which it had not seen
        assert here.pool.queries.tolist() == ["q1", "q2", "q3", "q4", "q5"]
        there.next("ann")  # begins to take it over; nobody waits
        there._growing.notice()
        assert there.pool.pairs == here.pool.pairs
        assert not there.knows("q9", "a")


def test_two_at_the_same_moment_are_both_kept(path):
    file = PoolFile(path)
    pools = [GrowingPool(file.read(), PoolFile(path), lambda pool: None) for _ in range(4)]
    threads = [
        threading.Thread(target=pool.add, args=(more(f"new {number}"), "more.csv")) for number, pool in enumerate(pools)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.added() == ("0001", "0002", "0003", "0004")
    assert sorted(file.read().queries.tolist()) == ["new 0", "new 1", "new 2", "new 3", "q1", "q2"]


def test_letor_text_without_names_of_documents_grows_too(tmp_path):
    path = tmp_path / "pool.txt"
    path.write_text("0 qid:1 1:0.5 2:1\n0 qid:1 1:0.7 2:0\n")
    file = PoolFile(path)
    pool, growth = file.add(file.read(), b"2 qid:2 1:0.25 2:3\n", "more.txt")
    assert growth == (1, 1, 3)
    assert pool.names == ["row 1", "row 2", "row 3"]
    assert file.read().own_grades == pool.own_grades == {0: 0, 1: 0, 2: 2}


def test_columns_may_come_in_another_order_and_texts_may_be_missing(path):
    file = PoolFile(path)
    pool, _ = file.add(file.read(), b"price,bm25,docid,qid\n5,2.5,z,q1\n", "more.csv")
    assert pool.data.X[-1].tolist() == [2.5, 5.0]
    assert pool.shown(len(pool) - 1) == {}
    assert pool.rows_of("q1").tolist() == [0, 1, 2, 3, 7]


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (HEAD + rows("q3", "a") + rows("q2", "b"), DataError,
         "document 'b' of query 'q2', in row 2, is in the pool already: leave it out$"),
        ("qid,docid,title,bm25\nq3,a,A,1\n", DataError,
         "need the 2 features of the pool, bm25, price: it lacks price, or has no numbers there$"),
        ("qid,docid,bm25,cost\nq3,a,1,2\n", DataError, "it lacks price, or has no numbers there, and it has cost too"),
        (HEAD + rows("q3", "aa"), ReadError, "document 'a' of query 'q3' is there twice, first in line 2"),
        (HEAD, ReadError, "more.csv"),
        ("", ReadError, "more.csv"),
        ("what is this", ReadError, "cannot tell the format"),
        ("qid,docid,bm25,price\nq3,a,one,2\n", DataError, "it lacks bm25, or has no numbers there"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:columns left out")
def test_what_does_not_belong_is_refused_and_nothing_changes(path, content, error, message):
    file = PoolFile(path)
    pool = GrowingPool(file.read(), file, lambda pool: pytest.fail("nothing should change"))
    with pytest.raises(error, match=message) as raised:
        pool.add(content.encode(), "more.csv")
    assert "more.csv (added)" in str(raised.value)
    assert not Path(file.folder).exists()


def test_a_pool_that_is_in_no_file_cannot_grow(path, tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = Judging(PoolFile(path).read(), store)
        with pytest.raises(DataError, match="documents can be added only to a pool that is read from a file"):
            judging.add_documents(more(), "more.csv")


def test_a_folder_that_cannot_be_written_is_named(path):
    file = PoolFile(path)
    file.folder.write_text("not a folder")
    assert file.added() == ()
    with pytest.raises(DataError, match=r"cannot keep more.csv in .*pool.csv.added"):
        file.add(file.read(), more(), "more.csv")
    file.folder.unlink()
