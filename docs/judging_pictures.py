"""Take the pictures of docs/judging.md from a made-up shop in a real browser: python docs/judging_pictures.py [FOLDER]

With a folder they go there, in the light, in the dark and on a phone, to be looked at.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from rulerank.judging.guidelines import parse_guidelines
from rulerank.judging.loop import Judging
from rulerank.judging.store import LabelStore
from rulerank.judging.web.app import create_app
from rulerank.web.server import make_server, open_socket, url_of

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
from shop_pool import GUIDELINES, MAX_GRADE, shop_pool  # noqa: E402

LOOKS = {
    "-light": {"color_scheme": "light"},
    "-dark": {"color_scheme": "dark"},
    "-phone": {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "has_touch": True},
}
BASELINE = "bm25(all)"
TOKEN = "a secret of yours"
COMMAND = "rulerank train shop.parquet --labels labels.db --method {} -o model.rulerank"


def main() -> None:
    pool = shop_pool()
    with tempfile.TemporaryDirectory() as folder, LabelStore(Path(folder, "labels.db")) as store:
        judging = Judging(pool, store, baseline=BASELINE, max_grade=MAX_GRADE, overlap=0.3)
        judge_truly(judging)
        dispute(judging)
        judging.save_model(Path(folder, "model.rulerank"), "Anchored")  # what the side-by-side comparisons are about
        app = create_app(judging, guidelines=parse_guidelines(GUIDELINES), command=COMMAND.format, token=TOKEN)
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
            judging.grade(rater, task.query, task.doc, max(0, grade - (rater == "ben" and place % 2 == 0)))


def dispute(judging: Judging, n_docs: int = 12) -> None:
    """Let both judge the same documents, and ben be strict."""
    for place, (query, doc) in enumerate(judging.pool.pairs[:n_docs]):
        grade = true_grade(judging, query, doc)
        judging.grade("ann", query, doc, grade, page="list")
        judging.grade("ben", query, doc, max(0, grade - 1 - place % 2), page="document")


def true_grade(judging: Judging, query: str, doc: str) -> int:
    return judging.pool.own_grades[judging.pool.row(query, doc)]


def take(url: str, judging: Judging) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        looks = {"": {}} if len(sys.argv) == 1 else LOOKS
        for look, options in looks.items():
            context = browser.new_context(**{"viewport": {"width": 1160, "height": 640}} | options)
            take_all(context.new_page(), url, judging, look)
            context.close()
        browser.close()


def take_all(page: Page, url: str, judging: Judging, look: str) -> None:
    folder = Path(*sys.argv[1:2]) if len(sys.argv) > 1 else HERE

    def shoot(name: str) -> None:
        page.screenshot(path=folder / f"{name}{look}.png")

    page.goto(f"{url}?rater=ann&token={TOKEN}")
    page.wait_for_selector("#judge[data-state=ready]")
    task = judging.next("ann")  # what the page shows: it is hers until she grades it
    page.keyboard.press(str(true_grade(judging, task.query, task.doc)))
    page.wait_for_selector("#result p")
    page.wait_for_selector("#judge[data-state=ready]")
    shoot("judging")
    page.goto(f"{url}list?rater=ann")
    judge_list(page, judging)
    shoot("judging-list")
    page.goto(f"{url}side-by-side?rater=ann")
    compare(page, judging)
    shoot("judging-side-by-side")
    page.set_viewport_size({**page.viewport_size, "height": 1600 if look else 800})
    page.goto(f"{url}overview?rater=ann")
    shoot("judging-overview")
    page.goto(f"{url}disputes?rater=ann")
    page.wait_for_selector("#disputes[data-state=ready]")
    shoot("judging-disputes")
    page.goto(f"{url}admin?rater=ann")
    page.fill("#name", "cem")
    page.click("#invite button")
    page.wait_for_selector("#link:not([hidden])")
    shoot("judging-admin")


def judge_list(page: Page, judging: Judging, n: int = 4) -> None:
    """Give the first documents of a list their true grades."""
    page.wait_for_selector("#list[data-state=ready]")
    listed = judging.lists.next("ann")
    for doc in [doc for doc in listed.docs if not doc.judged][:n]:
        page.wait_for_timeout(500)  # the same key sooner is taken for a bounce
        with page.expect_response(lambda answer: answer.request.method == "POST"):
            page.keyboard.press(str(true_grade(judging, listed.query, doc.doc)))
    page.wait_for_timeout(500)


def compare(page: Page, judging: Judging, n: int = 3) -> None:
    """Compare a few pairs by the true grades, and leave one half done."""
    for number in range(n + 1):
        page.wait_for_selector("#main:is([data-state=ready], [data-state=none])")
        task = judging.check.next("ann")
        if task is None:
            return
        for doc in task.docs[: 1 if number == n else 2]:
            page.wait_for_timeout(500)  # the same key sooner is taken for a bounce
            with page.expect_response(lambda answer: answer.request.method == "POST"):
                page.keyboard.press(str(true_grade(judging, doc.query, doc.doc)))


if __name__ == "__main__":
    main()
