import io
import sys
import time

import pytest

from rulerank._util.loops import progress


class Screen(io.StringIO):
    def isatty(self):
        return True

    def wait_for(self, text):
        for _ in range(500):
            if text in self.getvalue():
                return
            time.sleep(0.01)
        pytest.fail(f"{text!r} never came: {self.getvalue()!r}")


@pytest.fixture
def terminal(monkeypatch):
    """Put a screen in the place of stderr; called by the test, since pytest sets stderr anew after the fixtures."""

    def open_screen():
        screen = Screen()
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("RULERANK_PROGRESS", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return open_screen


def test_long_work_on_a_terminal_shows_its_label_and_share(terminal, capsys):
    screen = terminal()
    with progress(4, "counting", after=0) as bar:
        bar.advance()
        screen.wait_for("counting")
        bar.advance(2)
        screen.wait_for("75%")
        print("a result")
    assert capsys.readouterr().out == "a result\n"


def test_nothing_is_shown_where_stderr_is_not_a_terminal(monkeypatch):
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    with progress(2, "counting", after=0) as bar:
        bar.advance()
        time.sleep(0.05)
    assert stderr.getvalue() == ""


def test_an_environment_variable_silences_it(terminal, monkeypatch):
    screen = terminal()
    monkeypatch.setenv("RULERANK_PROGRESS", "off")
    with progress(2, "counting", after=0):
        time.sleep(0.05)
    assert screen.getvalue() == ""


def test_a_bar_inside_a_bar_stays_hidden_and_the_next_one_shows(terminal):
    screen = terminal()
    with progress(2, "outer", after=0):
        screen.wait_for("outer")
        with progress(2, "inner", after=0) as inner:
            time.sleep(0.05)
            inner.advance()
    with progress(2, "next", after=0):
        screen.wait_for("next")
    assert "inner" not in screen.getvalue()


def test_an_error_passes_through_and_takes_the_bar_away(terminal):
    screen = terminal()

    def fail():
        with progress(2, "counting", after=0):
            screen.wait_for("counting")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with progress(2, "again", after=0):
        screen.wait_for("again")
