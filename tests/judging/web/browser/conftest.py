"""A real browser on the judging page."""

import re

import pytest

from browser_windows import Window, browser, windows_of

__all__ = ["browser"]


@pytest.fixture
def visit(browser):
    """Open an address in a window of its own: visit(url, width=360) -> JudgingWindow."""
    yield from windows_of(browser, JudgingWindow)


class JudgingWindow(Window):
    """A page and the keys pressed on it."""

    def wait(self, state="ready"):
        self.page.wait_for_selector(f"#judge[data-state={state}]")

    def press(self, key):
        """Press a key that judges, and wait for the next document."""
        self.wait()
        with self.page.expect_response(lambda answer: answer.request.method == "POST"):
            self.page.keyboard.press(key)
        self.page.wait_for_selector("#judge:is([data-state=ready], [data-state=done])")

    def doc(self):
        """Return the id of the document on screen."""
        self.wait()
        return re.sub("^Document ", "", self.text(".document .kicker"))
