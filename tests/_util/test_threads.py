import multiprocessing
import threading

import numpy as np
import pytest

from rulerank._util.loops import in_blocks, n_threads
from rulerank.errors import DataError


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
@pytest.mark.parametrize("n_items", [0, 1, 2, 7, 100])
def test_every_item_is_worked_on_once(n_jobs, n_items):
    out = np.zeros(n_items, dtype=int)

    def work(start, stop):
        out[start:stop] += 1

    in_blocks(work, n_items, n_jobs)
    assert (out == 1).all()


def test_small_work_stays_in_the_callers_thread():
    seen = []
    in_blocks(lambda start, stop: seen.append((threading.get_ident(), start, stop)), 10, n_jobs=2, min_block=6)
    assert seen == [(threading.get_ident(), 0, 10)]


def test_an_error_in_any_block_reaches_the_caller():
    def work(start, stop):
        if start > 0:
            raise RuntimeError("second block")

    with pytest.raises(RuntimeError, match="second block"):
        in_blocks(work, 4, n_jobs=2)


def test_work_inside_work_does_not_wait_for_itself():
    out = np.zeros((4, 4), dtype=int)

    def outer(start, stop):
        for i in range(start, stop):

            def inner(first, last, i=i):
                out[i, first:last] += 1

            in_blocks(inner, 4, n_jobs=2)

    in_blocks(outer, 4, n_jobs=2)
    assert (out == 1).all()


def _count_in_child(queue):
    total = []
    in_blocks(lambda start, stop: total.append(stop - start), 10, n_jobs=2)
    queue.put(sum(total))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    in_blocks(lambda start, stop: None, 10, n_jobs=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_count_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == 10
    child.join()


def test_the_number_of_threads_is_checked():
    assert n_threads(None) >= 1
    with pytest.raises(DataError, match="n_jobs must be a positive number, or -1 for all cores: got -2"):
        n_threads(-2)
