"""What a rater sees of a document: fields, pictures, marked words, long texts that fold."""

import http.server
import threading

import pytest

from rulerank.datasets.ranking import make_ranking
from rulerank.judging.pool import Pool

DOT = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
LONG = "A tent that stands. " * 200


@pytest.fixture
def pictures():
    """A host of pictures, and what it was asked."""
    asked = []

    class Pictures(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("referer"), self.headers.get("cookie")))
            self.send_response(200 if self.path == "/dot.gif" else 404)
            self.send_header("Content-Type", "image/gif")
            self.end_headers()
            self.wfile.write(DOT if self.path == "/dot.gif" else b"")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def pool_of(texts, fields=None):
    data = make_ranking(n_queries=2, docs_per_query=3, n_features=4, seed=1)
    return Pool(
        data,
        {role: [text] * len(data) for role, text in texts.items()},
        fields={name: [value] * len(data) for name, value in (fields or {}).items()},
    )


def marked(window):
    return window.page.eval_on_selector_all("mark", "marks => marks.map(mark => mark.textContent)")


def test_the_words_of_the_query_are_marked_whatever_their_accents_case_and_plural(serve, visit):
    texts = {
        "query_text": "the café chairs of Müller",
        "title": "CAFE chair; Chairs for cafés, MULLER's the chairman",
        "text": "Ménage <b>chair</b> &amp; chairs. Nothing of the sort.",
    }
    window = visit(serve(pool_of(texts, {"brand": "Muller"}), rater="ann").url)
    window.wait()
    assert marked(window) == ["CAFE", "chair", "Chairs", "cafés", "MULLER's", "Muller", "chair", "chairs"]
    assert window.text("[data-part=text]") == "Ménage <b>chair</b> &amp; chairs. Nothing of the sort."


def test_fields_are_shown_with_numbers_as_people_write_them(serve, visit):
    fields = {"price": 1249.5, "reviews": 12400, "in_stock": True, "brand": "Aldermoor", "weight": None}
    window = visit(serve(pool_of({"title": "Tent"}, fields), rater="ann").url)
    window.wait()
    shown = window.page.eval_on_selector_all(".fields div", "all => all.map(one => one.textContent)")
    assert shown == ["price1,249.50", "reviews12,400", "in stockyes", "brandAldermoor"]
    assert not window.page.is_visible("#no-text")


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


def test_a_short_text_has_nothing_to_unfold(serve, visit):
    window = visit(serve(pool_of({"text": "Short."}), rater="ann").url)
    window.wait()
    window.page.keyboard.press("m")
    assert not window.page.is_visible("[data-part=more]")


def test_pictures_of_an_allowed_host_are_shown_and_it_is_told_nothing(serve, visit, pictures):
    host, asked = pictures
    window = visit(serve(pool_of({"title": "Tent", "image": f"{host}/dot.gif"}), rater="ann", images=[host]).url)
    window.wait()
    image = window.page.locator("[data-part=image] img")
    image.wait_for()
    while image.evaluate("image => image.naturalWidth") != 1:
        window.page.wait_for_timeout(30)
    assert image.get_attribute("alt") == "Image of Tent"
    assert image.get_attribute("loading") == "lazy"
    assert asked == [("/dot.gif", None, None)]
    box = window.page.locator("[data-part=image]").bounding_box()
    assert (box["width"], box["height"]) == (144, 144)


def test_a_picture_that_does_not_come_leaves_its_box(serve, visit, pictures):
    host, _ = pictures
    window = visit(serve(pool_of({"image": f"{host}/none.gif"}), rater="ann", images=[host]).url)
    window.page.wait_for_selector("text=no image")
    assert window.page.locator("[data-part=image]").bounding_box()["height"] == 144
    window.problems.clear()  # the picture that was not there is in red


def test_other_hosts_are_never_asked_for_pictures(serve, visit, pictures):
    host, asked = pictures
    for allowed in ([], ["images.example.org"]):
        served = serve(pool_of({"image": f"{host}/dot.gif"}), rater="ann", images=allowed, labels=f"{len(allowed)}.db")
        window = visit(served.url)
        window.wait()
        assert window.page.locator("img").count() == 0
        with served.client() as client:
            policy = client.get("/").headers["content-security-policy"]
        sources = " https://images.example.org" if allowed else ""
        assert f"img-src 'self'{sources};" in policy
    assert asked == []
