"""Take the pictures of docs/judging.md from the demo in a real browser: python docs/judging_pictures.py"""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from rulerank.judging.demo import KINDS, MAX_GRADE, demo_pool
from rulerank.judging.loop import Judging
from rulerank.judging.store import LabelStore
from rulerank.judging.web.app import create_app
from rulerank.judging.web.guidelines import parse_guidelines
from rulerank.judging.web.server import make_server, open_socket, url_of

HERE = Path(__file__).parent
GUIDELINES = """Think of the person who typed the query.
0: not relevant - Does not help at all.
1: relevant - Helps, but leaves something open.
2: highly relevant - Answers the question alone.
"""
COMMAND = "rulerank judge --demo --train --model model.rulerank --method {}"


def main() -> None:
    pool = demo_pool()
    with tempfile.TemporaryDirectory() as folder, LabelStore(Path(folder, "labels.db")) as store:
        judging = Judging(pool, store, max_grade=MAX_GRADE, overlap=0.3)
        judge_by_the_text(judging)
        app = create_app(judging, guidelines=parse_guidelines(GUIDELINES, MAX_GRADE), command=COMMAND.format)
        with open_socket("127.0.0.1", 0) as listening:
            server = make_server(app)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            try:
                take(url_of(listening))
            finally:
                server.should_exit = True
                thread.join()


def judge_by_the_text(judging: Judging, n_labels: int = 36) -> None:
    """Let two raters judge as the texts say; ben is a little strict."""
    for place in range(n_labels):
        rater = ("ann", "ben")[place // 6 % 2]
        task = judging.next(rater)
        if task is not None:
            grade = grade_of(task.text or "")
            judging.grade(rater, task.query, task.doc, max(0, grade - (rater == "ben" and place % 4 == 0)))


def grade_of(text: str) -> int:
    """Return the grade whose texts begin like this one."""
    return next(
        grade for grade, kind in enumerate(KINDS) for _, words in kind if text.startswith(words[:12].partition("{")[0])
    )


def take(url: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1160, "height": 640})
        page.goto(f"{url}?rater=ann")
        page.wait_for_selector("#judge[data-state=ready]")
        page.keyboard.press(str(grade_of(page.inner_text("#doc-text"))))
        page.wait_for_selector("#result .rules")
        page.wait_for_selector("#judge[data-state=ready]")
        page.screenshot(path=HERE / "judging.png")
        page.set_viewport_size({"width": 1160, "height": 800})
        page.goto(f"{url}overview?rater=ann")
        page.screenshot(path=HERE / "judging-overview.png")
        browser.close()


if __name__ == "__main__":
    main()
