"""A real browser for tests: the system's Chromium, driven by Playwright; without one these tests are skipped."""

import shutil
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
SCREENSHOTS = Path(__file__).parents[1] / "build" / "screenshots"
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"width": 360, "height": 740, "has_touch": True, "device_scale_factor": 2},
    "phone-dark": {"width": 360, "height": 740, "color_scheme": "dark", "device_scale_factor": 2},
}
PATIENCE = 120_000  # milliseconds; machines that test are busy


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


def windows_of(browser, make_window):
    """Yield a function that opens an address in a window of its own; nothing may go wrong on it unseen."""
    windows = []

    def visit(url, *, width=1280, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        window = make_window(context.new_page())
        windows.append(window)
        window.page.goto(url)
        return window

    yield visit
    for window in windows:
        window.page.context.close()
        assert window.problems == []


class Window:
    """A page, and what went wrong on it."""

    def __init__(self, page):
        self.page = page
        self.problems = []  # what a developer would see in red, such as a script that the policy has stopped
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: message.type == "error" and self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))

    def text(self, selector):
        return self.page.inner_text(selector)

    def shoot(self, name, **options):
        """Keep a picture for people to look at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", **options)

    def is_too_wide(self):
        return self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
