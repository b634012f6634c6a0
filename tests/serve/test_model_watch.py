"""A new model file takes over as a whole, a bad one never does, and every answer comes from one model."""

import logging
import os
import threading
import time

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError, ModelFileError
from rulerank.serve import model_watch


@pytest.fixture(scope="module")
def models(synthetic):
    return [rr.Reranker(made.fit(synthetic)) for made in (rr.GlobalRules(), rr.QueryIntercepts(missing="mean"))]


@pytest.fixture
def path(models, tmp_path):
    models[0].save(tmp_path / "model.rulerank")
    return tmp_path / "model.rulerank"


def until(happens, seconds=120):
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)


def test_a_new_file_is_picked_up_by_whoever_ranks_and_a_model_that_is_held_stays(models, path, dicts):
    watched = rr.Reranker.watch(path, every=0)
    held = watched.current()
    assert watched.rank("", dicts).to_dict() == models[0].rank("", dicts).to_dict()
    models[1].save(path)
    until(lambda: watched.rank("", dicts).version == models[1].version)
    assert watched.rank("", dicts).to_dict() == models[1].rank("", dicts).to_dict()
    assert (watched.problem, watched.version) == (None, models[1].version)
    assert type(watched.ranker) is rr.QueryIntercepts
    assert watched.explain("", "d0", docs=dicts).score == models[1].explain("", "d0", docs=dicts).score
    assert held.rank("", dicts).version == models[0].version


def test_the_file_is_not_looked_at_more_often_than_asked(models, path, monkeypatch):
    looks = []
    monkeypatch.setattr(model_watch, "seen", lambda one, seen=model_watch.seen: looks.append(1) or seen(one))
    watched = rr.Reranker.watch(path, every=3600)
    models[1].save(path)
    for _ in range(5):
        assert watched.version == models[0].version
    assert len(looks) == 1
    assert watched.refresh().version == models[1].version


def in_place(path):
    """Change the checksum, and neither inode nor size nor time."""
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


BROKEN = {
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-40]), "is cut off"),
    "damaged in place": (in_place, "is damaged"),
    "empty": (lambda path: path.write_bytes(b""), "is not a rulerank model"),
    "another file": (lambda path: path.write_bytes(b"grade,qid\n1,2\n"), "is not a rulerank model"),
    "gone": (lambda path: path.unlink(), "there is no such file"),
    "a directory": (lambda path: (path.unlink(), path.symlink_to(path.parent)), "got a directory"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_leaves_the_model_is_reported_once_and_a_good_one_takes_over(models, path, dicts, caplog, kind):
    spoil, message = BROKEN[kind]
    watched = rr.Reranker.watch(path, every=0)
    with caplog.at_level(logging.WARNING, "rulerank.serve"):
        spoil(path)
        for _ in range(3):
            assert watched.refresh().rank("", dicts).version == models[0].version
    assert len(caplog.records) == 1
    assert caplog.records[0].getMessage().startswith(f"the new model is not used: {path}: ")
    assert message in watched.problem
    assert f"still ranking with model {models[0].version}" in watched.problem
    path.unlink(missing_ok=True)
    models[1].save(path)
    assert watched.refresh().problem is None
    assert watched.version == models[1].version


def test_an_error_that_nobody_expected_leaves_the_model_too(models, path, monkeypatch):
    watched = rr.Reranker.watch(path, every=0)
    models[1].save(path)

    def fail(*arguments):
        raise MemoryError("no room")

    monkeypatch.setattr(model_watch, "load_version", fail)
    assert watched.refresh().version == models[0].version
    assert "MemoryError: no room" in watched.problem
    assert watched.current().version == models[0].version  # the lock was given back


def test_a_ranker_is_watched_beside_features_and_a_reranker_keeps_its_own(ranker, features, shop, tmp_path, synthetic):
    path, query = tmp_path / "ranker.rulerank", shop.queries.texts[0]
    ranker.save(path)
    watched = rr.Reranker.watch(path, features, baseline="bm25(title)", every=0)
    assert watched.baseline.feature == "bm25(title)"
    assert len(watched.rank(query))
    rr.GlobalRules().fit(synthetic).save(path)  # a model of other features
    assert "the ranker needs 6 features that these TextFeatures do not compute" in watched.refresh().problem
    assert len(watched.rank(query))
    rr.Reranker(ranker, features, baseline="price").save(path)
    watched = rr.Reranker.watch(path)
    assert (watched.baseline.feature, watched.features.feature_names_) == ("price", features.feature_names_)
    assert rr.Reranker.watch(path, baseline="rating").baseline.feature == "rating"


def test_what_is_no_model_is_refused_at_the_start(features, tmp_path):
    with pytest.raises(ModelFileError, match="there is no such file"):
        rr.Reranker.watch(tmp_path / "none.rulerank")
    features.save(tmp_path / "text.rulerank")
    with pytest.raises(ModelFileError, match="expected a Reranker or a ranker: got TextFeatures"):
        rr.Reranker.watch(tmp_path / "text.rulerank")
    with pytest.raises(DataError, match="every must be the seconds between two checks of the file, a number from 0 to"):
        rr.Reranker.watch(tmp_path / "text.rulerank", every=-1)


def test_threads_rank_while_the_model_is_replaced_and_every_answer_is_of_one_model(models, path, dicts):
    expected = {}
    for model in models:
        found = model.rank("", dicts, top=None)
        expected[found.version] = (found.ids, found.scores, found[0].reasons)
    watched = rr.Reranker.watch(path, every=0)
    stop, answers, errors = threading.Event(), [], []

    def work():
        try:
            while not stop.is_set():
                found = watched.rank("", dicts, top=None)
                answers.append((found.version, (found.ids, found.scores, found[0].reasons)))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(10):
        models[1 - number % 2].save(path)
        until(lambda last=models[1 - number % 2].version: (answers and answers[-1][0] == last) or errors)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert all(answer == expected[version] for version, answer in answers)
    assert {version for version, _ in answers} == {*expected}


def test_threads_may_share_one_index(reranker, shop):
    fresh = rr.Reranker(reranker.ranker, rr.TextFeatures().fit(shop.documents))  # nothing is made yet
    expected = [reranker.rank(text).scores for text in shop.queries.texts]
    found = [None] * 4

    def work(number):
        found[number] = [fresh.rank(text).scores for text in shop.queries.texts]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == expected for one in found)


def test_a_model_that_was_read_has_its_tables_before_the_first_request(synthetic, tmp_path, monkeypatch):
    rr.Reranker(rr.GlobalRules().fit(synthetic)).save(tmp_path / "model.rulerank")
    watched = rr.Reranker.watch(tmp_path / "model.rulerank", every=3600)
    monkeypatch.setattr("rulerank.rankers.global_rules.additive_tables", None)  # nobody makes them now
    docs = [dict(zip(synthetic.feature_names, row, strict=True)) for row in np.nan_to_num(synthetic.X[:3]).tolist()]
    assert all(result.reasons for result in watched.rank("", docs))
