import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank._util.loops import MESSAGE, NO_CACHE, FirstTime, compiled, sort_places, warn_of_no_cache


def test_on_a_terminal_it_is_printed(monkeypatch, capsys):
    monkeypatch.setattr("rulerank._util.loops.somebody_looks", lambda: True)
    listener = FirstTime()
    listener.on_start(None)
    listener.on_start(None)
    assert capsys.readouterr().err == f"{MESSAGE}\n"


def test_where_nothing_can_be_kept_loops_are_compiled_without_a_cache_and_one_warning_says_so(monkeypatch):
    def refuse_cache(*, cache=False, nogil):
        if cache:
            raise RuntimeError("cannot cache function 'len': no locator available for file")
        return lambda loop: loop

    monkeypatch.setattr("rulerank._util.loops.njit", refuse_cache)
    warn_of_no_cache.cache_clear()
    with pytest.warns(RuntimeWarning) as said:
        assert [compiled(len), compiled(max)] == [len, max]
    assert [str(one.message) for one in said] == [NO_CACHE]


def test_other_errors_of_the_compiler_stay_what_they_are(monkeypatch):
    def broken(**options):
        raise RuntimeError("out of order")

    monkeypatch.setattr("rulerank._util.loops.njit", broken)
    with pytest.raises(RuntimeError, match="out of order"):
        compiled(len)


@pytest.mark.kernels
@given(st.lists(st.integers(-5, 5).map(float), max_size=60))
def test_places_are_those_of_rising_values_each_once(numbers):
    values = np.array(numbers)
    places = np.empty(values.size, dtype=np.int64)
    sort_places(values, places)
    assert sorted(places) == list(range(values.size))
    assert values[places].tolist() == sorted(numbers)
