"""Matplotlib figures as files, or as inline SVG that follows the font and the light or dark colours of the page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from rulerank.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# colours of our figures, and their replacements on a page that may be dark
ON_PAGE = {"#000000": "currentColor", "#30343a": "currentColor", "#e4e6ea": "#9aa0a859"}
# metadata that would change from run to run
TIMELESS: dict[str, dict[str, None]] = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
FONT = re.compile(r"font-family: [^;\"]*|(font: [^';\"]*)'[^;\"]*")  # of a text, alone or with its size
DIGITS = re.compile(r"(\d+\.\d{2})\d+")


def plain(text: str) -> str:
    r"""Escape dollars, which would begin a formula in Matplotlib.

    >>> print(plain(r"a$\badcmd{x}$b"))
    a\$\badcmd{x}\$b
    """
    return text.replace("$", r"\$")


def inline_svg(figure: Figure, key: str, dpi: int = 110) -> str:
    """Return a figure as one <svg> element, identical in every run; key makes its ids unique."""
    check_matplotlib()
    import matplotlib as mpl

    out = io.StringIO()
    _settle(figure)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        figure.savefig(out, format="svg", dpi=dpi, transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    width = round(figure.get_figwidth() * 96)  # the page may draw it smaller, never larger
    opening = rf'<svg viewBox="\1" style="max-width: {width}px" {NAMESPACES}>'
    text = re.sub(r'^<svg[^>]*?viewBox="([^"]*)"[^>]*>', opening, text)
    text = re.sub(r'\bid="', f'id="{key}-', text)
    text = re.sub(r'(href="|url\()#', rf"\1#{key}-", text)
    for ink, on_page in ON_PAGE.items():
        text = text.replace(ink, on_page)
    text = FONT.sub(lambda font: f"{font[1]}sans-serif" if font[1] else "font-family: inherit", text)
    return re.sub(r'(?<= d=")[^"]*', lambda path: DIGITS.sub(r"\1", path[0]), text)


def figure_bytes(figure: Figure, suffix: str, dpi: int = 160) -> bytes:
    """Return a figure as the content of a .png, .svg or .pdf file, identical in every run."""
    import matplotlib as mpl

    out = io.BytesIO()
    _settle(figure)
    # text stays text in a PDF, and ids of an SVG do not depend on the process
    with mpl.rc_context({"svg.hashsalt": "rulerank", "pdf.fonttype": 42}):
        kind = suffix.lower().removeprefix(".")
        figure.savefig(out, format=kind, dpi=dpi, metadata=TIMELESS[kind])
    return out.getvalue()


def _settle(figure: Figure) -> None:
    """Fix the layout: otherwise the last digits of positions, and ids made of them, depend on earlier drawings."""
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for axis in figure.axes:
            left, bottom, width, height = (round(side, 9) for side in axis.get_position().bounds)
            axis.set_position((left, bottom, width, height))


def check_matplotlib() -> None:
    """Raise an error that says what to install if Matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401  only whether it is there
    except ImportError:
        raise MissingExtraError("figures", "matplotlib") from None
