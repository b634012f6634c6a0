"""Take the pictures of docs/judging.md from the demo in a real browser: python docs/judging_pictures.py"""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from rulerank.judging.demo import MAX_GRADE, demo_pool
from rulerank.judging.loop import Judging
from rulerank.judging.store import LabelStore
from rulerank.judging.web.app import create_app
from rulerank.judging.web.guidelines import parse_guidelines
from rulerank.web.server import make_server, open_socket, url_of

HERE = Path(__file__).parent
GUIDELINES = """Think of the person who typed the query.
0: no - Something else, or an accessory.
1: fair - The right kind, but not what was asked for.
2: good - What was asked for.
3: perfect - And well rated, at a fair price, in stock.
"""
COMMAND = "rulerank judge --demo --train --model model.rulerank --method {}"


def main() -> None:
    pool = demo_pool()
    with tempfile.TemporaryDirectory() as folder, LabelStore(Path(folder, "labels.db")) as store:
        judging = Judging(pool, store, max_grade=MAX_GRADE, overlap=0.3)
        judge_truly(judging)
        app = create_app(judging, guidelines=parse_guidelines(GUIDELINES, MAX_GRADE), command=COMMAND.format)
        with open_socket("127.0.0.1", 0) as listening:
            server = make_server(app)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            try:
                take(url_of(listening), judging)
            finally:
                server.should_exit = True
                thread.join()


def judge_truly(judging: Judging, n_labels: int = 36) -> None:
    """Let two raters give the true grades; ben is a little strict."""
    for place in range(n_labels):
        rater = ("ann", "ben")[place // 6 % 2]
        task = judging.next(rater)
        if task is not None:
            grade = true_grade(judging, task.query, task.doc)
            judging.grade(rater, task.query, task.doc, max(0, grade - (rater == "ben" and place % 4 == 0)))


def true_grade(judging: Judging, query: str, doc: str) -> int:
    return judging.pool.own_grades[judging.pool.row(query, doc)]


def take(url: str, judging: Judging) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1160, "height": 640})
        page.goto(f"{url}?rater=ann")
        page.wait_for_selector("#judge[data-state=ready]")
        task = judging.next("ann")  # what the page shows: it is hers until she grades it
        page.keyboard.press(str(true_grade(judging, task.query, task.doc)))
        page.wait_for_selector("#result .rules")
        page.wait_for_selector("#judge[data-state=ready]")
        page.screenshot(path=HERE / "judging.png")
        page.set_viewport_size({"width": 1160, "height": 800})
        page.goto(f"{url}overview?rater=ann")
        page.screenshot(path=HERE / "judging-overview.png")
        browser.close()


if __name__ == "__main__":
    main()
