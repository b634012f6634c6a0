"""What a rater sees of a document: fields, marked words, texts that fold; and nothing in the data is ever run."""

import http.server
import threading

from rulerank.datasets.ranking import make_ranking
from rulerank.judging.pool import Pool

LONG = "A tent that stands. " * 200
NASTY = (
    '<script>window.stolen = 1</script><img src=x onerror="window.stolen = 2"><svg onload="window.stolen = 3">'
    '"><a href="javascript:window.stolen=4">👩‍🚀🏳️‍🌈</a> {{ 7 * 7 }} \u202e\u0000 '
    "</textarea><style>body{display:none}</style>"
)


def pool_of(texts, fields=None):
    data = make_ranking(n_queries=2, docs_per_query=3, n_features=4, seed=1)
    return Pool(
        data,
        {role: [text] * len(data) for role, text in texts.items()},
        fields={name: [value] * len(data) for name, value in (fields or {}).items()},
    )


def test_words_of_the_query_are_marked_and_fields_are_as_people_write_them(serve, visit):
    texts = {
        "query_text": "the café chairs of Müller",
        "title": "CAFE chair; Chairs for cafés, MULLER's the chairman",
        "text": "Ménage <b>chair</b> &amp; chairs. Nothing of the sort.",
        "url": "https://example.org/a?b=c",
    }
    fields = {"price": 1249.5, "reviews": 12400, "in_stock": True, "brand": "Muller", "weight": None}
    window = visit(serve(pool_of(texts, fields), rater="ann").url)
    window.wait()
    marked = window.page.eval_on_selector_all("mark", "marks => marks.map(mark => mark.textContent)")
    assert marked == ["CAFE", "chair", "Chairs", "cafés", "MULLER's", "Muller", "chair", "chairs"]
    assert window.text("[data-part=text]") == "Ménage <b>chair</b> &amp; chairs. Nothing of the sort."
    shown = window.page.eval_on_selector_all(".fields div", "all => all.map(one => one.textContent)")
    assert shown == ["price1,249.50", "reviews12,400", "in stockyes", "brandMuller"]
    link = window.page.locator("[data-part=url] a")
    assert (link.get_attribute("href"), link.get_attribute("rel")) == (texts["url"], "noopener noreferrer")
    window.page.keyboard.press("m")
    assert not window.page.is_visible("[data-part=more]")  # there is nothing to unfold
    window.press("1")
    assert window.page.get_attribute("#announcer", "role") == "status"
    assert window.page.text_content("#announcer").startswith("New document: CAFE")


def test_a_long_text_is_folded_and_a_key_shows_the_rest(serve, visit):
    window = visit(serve(pool_of({"text": LONG}, {"notes": LONG, "brand": "x"}), rater="ann").url)
    window.wait()
    height = window.page.locator("#document").bounding_box()["height"]
    assert height < 800
    more = window.page.locator("[data-part=more]")
    assert (more.inner_text().split(), more.get_attribute("aria-expanded")) == (["More", "m"], "false")
    window.page.keyboard.press("m")
    assert more.get_attribute("aria-expanded") == "true"
    assert window.page.locator("#document").bounding_box()["height"] > height
    more.click()
    assert window.page.locator("#document").bounding_box()["height"] == height


def test_nothing_in_the_data_is_ever_run(serve, visit, make_pool):
    texts = {name: [NASTY] * 15 for name in ("query_text", "description", "title", "text")}
    served = serve(make_pool(texts | {"url": ["javascript:window.stolen=5", "data:text/html,x", NASTY] * 5}))
    window = visit(served.url)
    window.page.fill("#rater", "<script>stolen=6</script>")
    window.page.keyboard.press("Enter")
    window.wait()
    assert "<script>window.stolen = 1</script>" in window.text("[data-part=text]")
    assert "👩‍🚀🏳️‍🌈" in window.text("[data-part=title]")
    window.shoot("hostile")
    for _ in range(3):
        assert window.page.locator(".document a").count() == 0  # no address of these becomes a link
        window.press("1")
    for page in ("labels", "overview", "?rater=%3Cscript%3E"):
        window.page.goto(f"{served.url}{page}")
        assert window.page.evaluate("window.stolen") is None
    assert window.page.evaluate("getComputedStyle(document.body).display") == "block"


def test_a_link_with_the_token_on_another_site_opens_the_page(serve, visit):
    served = serve(rater="ann", token="a secret that is long")
    page = f'<a href="{served.url}?token=a+secret+that+is+long">judge</a>'.encode()

    class Chat(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page if self.path == "/" else b"")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chat) as chat:
        thread = threading.Thread(target=chat.serve_forever)
        thread.start()
        try:
            window = visit(f"http://localhost:{chat.server_port}/")  # another site than 127.0.0.1
            window.page.click("a")
            window.press("1")
            assert "token" not in window.page.url
        finally:
            chat.shutdown()
            thread.join()
    assert len(served.labels()) == 1
