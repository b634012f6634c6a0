"""A real browser on the page: the system's Chromium, driven by Playwright; without one these tests are skipped."""

import re
import shutil
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
SCREENSHOTS = Path(__file__).parents[4] / "build" / "screenshots"
PATIENCE = 30_000  # milliseconds; machines that test are busy


@pytest.fixture(scope="module")
def browser():
    """One browser per file; its event loop must not outlive the file."""
    sync_api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"needs a browser: none of {', '.join(NAMES)} is installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Open an address in a window of its own: visit(url, width=360) -> Window. Nothing may go wrong on it unseen."""
    windows = []

    def visit(url, *, width=1280, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        window = Window(context.new_page())
        windows.append(window)
        window.page.goto(url)
        return window

    yield visit
    for window in windows:
        window.page.context.close()
        assert window.problems == []


class Window:
    """A page and the keys pressed on it."""

    def __init__(self, page):
        self.page = page
        self.problems = []  # what a developer would see in red, such as a script that the policy has stopped
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))

    def wait(self, state="ready"):
        self.page.wait_for_selector(f"#judge[data-state={state}]")

    def press(self, key):
        """Press a key that judges, and wait for the next document."""
        self.wait()
        with self.page.expect_response(lambda answer: answer.request.method == "POST"):
            self.page.keyboard.press(key)
        self.page.wait_for_selector("#judge:is([data-state=ready], [data-state=done])")

    def text(self, selector):
        return self.page.inner_text(selector)

    def doc(self):
        """Return the id of the document on screen."""
        self.wait()
        return re.sub("^Document ", "", self.text(".document .kicker"))

    def shoot(self, name, **options):
        """Keep a picture for people to look at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", **options)

    def is_too_wide(self):
        return self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
