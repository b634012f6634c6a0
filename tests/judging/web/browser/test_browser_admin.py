"""The admin at work in a real browser: links, files, settings, training."""

from pathlib import Path

import numpy as np

from rulerank.web.security import Tokens
from shop_pool import shop_pool

SECRET = "a secret that is long"


def test_the_admin_invites_sets_takes_away_and_trains(serve, visit):
    served = serve(shop_pool(), max_grade=3, token=SECRET, rater="lea")
    judging, pool = served.judging, served.judging.pool
    best = np.argsort(-pool.data.X[:, 1])
    for place, row in enumerate([*best[:40], *best[-40:]]):
        grade = 3 if place < 40 else int(place % 5 == 0)
        judging.grade("ann" if place % 2 else "ben", *pool.pairs[row], grade)
    window = visit(f"{served.url}?token={SECRET}")
    page = window.page
    window.wait()
    page.goto(f"{served.url}admin")
    page.fill("#name", "Cem")
    page.keyboard.press("Enter")
    page.wait_for_selector("#link:not([hidden])")
    assert page.input_value("#link-text") == f"{served.url}?token={Tokens(SECRET).invite('Cem')}"
    page.click("button.invite[data-name=ann]")
    page.wait_for_selector("#link-name:text('ann')")
    page.select_option("select.kind[data-rater=ben]", "llm")
    page.wait_for_selector("input[name=training_raters][value=ben]")
    page.select_option("#judgements", "2")
    page.click("#settings button")
    page.wait_for_selector("#settings-result:text('Saved')")
    settings = judging.store.settings()
    assert (settings.judgements, settings.training_raters) == (2, ())
    assert judging.store.other_raters() == {"ben": "llm"}
    with page.expect_download() as taken:
        page.click("a:text('labels-per-rater.csv')")
    assert len(Path(taken.value.path()).read_text().splitlines()) == 81
    page.goto(f"{served.url}overview")
    page.click("#train button")
    page.wait_for_selector("#train-next:not([hidden])", timeout=120_000)
    assert "Saved" in window.text("#train-result")
    assert "Starts from" in window.text("#train-lines")
