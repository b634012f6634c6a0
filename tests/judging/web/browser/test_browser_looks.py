"""What people see: on a phone, in the dark, with hostile data, and from a link on another site."""

import http.server
import threading

NASTY = (
    '<script>window.stolen = 1</script><img src=x onerror="window.stolen = 2"><svg onload="window.stolen = 3">'
    '"><a href="javascript:window.stolen=4">👩‍🚀🏳️‍🌈</a> {{ 7 * 7 }} \u202e\u0000 '
    "</textarea><style>body{display:none}</style>"
)


def test_the_dark_is_dark(serve, visit):
    served = serve(rater="ann")
    backs = [
        visit(served.url, color_scheme=scheme).page.evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert backs == ["rgb(244, 245, 248)", "rgb(18, 20, 26)"]


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


def test_a_web_address_is_a_link_that_tells_nothing_of_us(serve, visit, make_pool):
    window = visit(serve(make_pool({"url": ["https://example.org/a?b=c"] * 15}), rater="ann").url)
    window.wait()
    link = window.page.locator("[data-part=url] a")
    assert link.get_attribute("href") == "https://example.org/a?b=c"
    assert link.get_attribute("rel") == "noopener noreferrer"


def test_a_screen_reader_hears_of_the_new_document_and_of_the_result(serve, visit):
    window = visit(serve(rater="ann").url)
    window.press("1")
    assert window.page.get_attribute("#announcer", "role") == "status"
    assert window.page.text_content("#announcer").startswith("New document: Title of")
    assert window.page.get_attribute("#result", "aria-live") == "polite"
    for landmark in (
        "header.top",
        "header.top nav[aria-label]",
        "main",
        "aside[aria-label]",
        "section.bar[aria-label]",
    ):
        assert window.page.locator(landmark).count() == 1
    assert window.page.get_attribute("html", "lang") == "en"


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
