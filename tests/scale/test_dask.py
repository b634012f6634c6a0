"""A Dask cluster gives the model of one process, whatever the number of workers, and whatever happens to them.

The quick tests have a cluster of threads in this process; those with processes of their own, one of which is killed,
are long: RULERANK_LONG_TESTS=1 runs them.
"""

import os
import signal
import threading
import time
import warnings

import polars as pl
import pytest

import rulerank as rr
from long_tests import long
from parts_data import cut, model_bytes, small_synthetic
from rulerank.errors import ClusterError, DataError, ReadError

distributed = pytest.importorskip("distributed", reason="needs the extra scale")
dd = pytest.importorskip("dask.dataframe", reason="needs the extra scale")

RANKERS = [
    rr.GlobalRules(),
    rr.GlobalRules(discretizer="equal_frequency", normalize="zscore"),
    rr.StableRules(),
    rr.QueryIntercepts(missing="mean", l2=1.0),
]


@pytest.fixture(scope="module")
def client():
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, worker_dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        yield client


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("rulerank.rankers.linear.likelihood.BLOCK_ROWS", 37)


@pytest.fixture
def folder(tmp_path):
    for number, part in enumerate(cut(small_synthetic(), 5)):
        rr.io.write_table(part, tmp_path / f"{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_files_data_sets_and_frames_give_the_model_in_memory(ranker, client, folder, tmp_path):
    data = small_synthetic()
    expected = model_bytes(ranker.fit(data), tmp_path)
    kinds = {"files": f"{folder}/*.parquet", "data": cut(data, 3), "frame": dd.read_parquet(f"{folder}/*.parquet")}
    for kind in kinds if isinstance(ranker, rr.StableRules) else ["frame"]:
        assert model_bytes(rr.scale.fit_partitions(ranker, kinds[kind], client=client), tmp_path) == expected, kind


def test_measures_on_a_cluster_are_those_in_memory(client, folder):
    data = small_synthetic()
    ranker = rr.GlobalRules().fit(data)
    expected = rr.evaluate(data.y, ranker.predict(data), data.qid)
    assert rr.scale.evaluate_partitions(ranker, f"{folder}/*.parquet", client=client).means == expected.means


def test_partitions_that_share_queries_are_refused_and_a_shuffle_mends_it(client, tmp_path):
    data = small_synthetic()
    for start in range(3):
        rr.io.write_table(data[start::3], tmp_path / f"{start}.parquet")
    frame = dd.read_parquet(f"{tmp_path}/*.parquet")
    with pytest.raises(DataError, match=r"both have rows of \d+ queries, such as .* parts must hold whole queries"):
        rr.scale.fit_partitions(rr.GlobalRules(), frame)
    expected = model_bytes(rr.GlobalRules().fit(data), tmp_path)
    assert model_bytes(rr.scale.fit_partitions(rr.GlobalRules(), frame.shuffle(on="qid")), tmp_path) == expected


def test_what_is_wrong_with_a_part_is_said_by_whoever_reads_it(client, folder):
    ranker = rr.GlobalRules()
    frame = pl.read_parquet(folder / "3.parquet")
    frame.with_columns(pagerank=pl.lit("high")).write_parquet(folder / "3.parquet")
    with pytest.raises(ReadError, match=r"3\.parquet: column 'pagerank' must hold numbers: it holds String"):
        rr.scale.fit_partitions(ranker, f"{folder}/*.parquet", client=client)
    parts = [rr.io.to_frame(part).to_pandas() for part in cut(small_synthetic(), 4)]
    parts[3] = parts[3].assign(pagerank="high")
    mixed = dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])
    with pytest.raises(DataError, match=r"partition 3: it lacks 1 of the 5 features of the first part: pagerank"):
        rr.scale.fit_partitions(ranker, mixed)
    assert not hasattr(ranker, "params_")


def test_text_files_and_others_than_clients_are_refused(client, tmp_path):
    rr.io.write_letor(small_synthetic(missing=0), tmp_path / "all.txt")
    with pytest.raises(DataError, match=r"all\.txt: on a cluster, parts must be Parquet files"):
        rr.scale.fit_partitions(rr.GlobalRules(), tmp_path / "all.txt", client=client)
    with pytest.raises(DataError, match=r"client must be a distributed.Client: got int"):
        rr.scale.fit_partitions(rr.GlobalRules(), [small_synthetic()], client=3)


def test_fitted_rules_are_fitted_in_one_process(client):
    with pytest.raises(DataError, match=r"keeps the bins of all rows in one place.* leave client out, and give files"):
        rr.scale.fit_partitions(rr.FittedRules(), cut(small_synthetic(), 2), client=client)


def test_a_client_that_has_gone_is_said_in_a_line(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
            gone = distributed.Client(cluster)
            gone.close()
            ranker = rr.GlobalRules()
            with pytest.raises(
                ClusterError, match=r"^the Dask cluster is gone or lost its workers .* nothing was learned"
            ):
                rr.scale.fit_partitions(ranker, f"{folder}/*.parquet", client=gone)
    assert not hasattr(ranker, "params_")


@long
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_worker_processes_gives_the_same_bytes(n_workers, folder, tmp_path):
    data = small_synthetic()
    with (
        distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for ranker in RANKERS:
            expected = model_bytes(ranker.fit(data), tmp_path)
            assert (
                model_bytes(rr.scale.fit_partitions(ranker, f"{folder}/*.parquet", client=client), tmp_path) == expected
            )


@long
@pytest.mark.parametrize("ranker", [rr.GlobalRules(), rr.QueryIntercepts(l2=1.0, missing="mean")], ids=str)
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(ranker, tmp_path, monkeypatch):
    monkeypatch.setattr("rulerank.rankers.linear.likelihood.BLOCK_ROWS", 8000)  # of 1,000 there are thousands
    data = rr.datasets.make_ranking(n_queries=1500, n_features=20, seed=1)
    for number, part in enumerate(cut(data, 24)):
        rr.io.write_table(part, tmp_path / f"{number:02}.parquet")
    expected = model_bytes(ranker.fit(data), tmp_path)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        rr.scale.fit_partitions(
            rr.GlobalRules(max_size=1), f"{tmp_path}/*.parquet", client=client
        )  # everything is loaded
        pids = [*client.run(os.getpid).values()]
        killed = []

        def kill():
            time.sleep(0.7)
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

        thread = threading.Thread(target=kill)
        thread.start()
        found = rr.scale.fit_partitions(ranker, f"{tmp_path}/*.parquet", client=client)
        thread.join()
        assert killed
        assert pids[0] not in client.run(os.getpid).values()
    assert model_bytes(found, tmp_path) == expected


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    import sys

    from rulerank.errors import MissingExtraError
    from rulerank.scale.dask_runner import needed

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"this needs distributed, .* pip install 'rulerank\[scale\]'"):
        needed("distributed")


def test_clicks_in_a_frame_or_in_any_file_are_refused(client, folder):
    path = folder / "3.parquet"
    counts = {"position:log": pl.lit(1), "impressions:log": pl.lit(2), "clicks:log": pl.lit(1)}
    pl.read_parquet(path).with_columns(**counts).write_parquet(path)
    with pytest.raises(DataError, match=r"3\.parquet has clicks, and training from clicks needs the data in memory"):
        rr.scale.fit_partitions(rr.GlobalRules(), f"{folder}/*.parquet", client=client)
    with pytest.raises(
        DataError, match=r"^the Dask data frame has clicks, and training from clicks needs the data in memory"
    ):
        rr.scale.fit_partitions(rr.GlobalRules(), dd.read_parquet(path), client=client)
