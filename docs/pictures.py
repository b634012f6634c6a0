"""Draw the pictures of the README from real output: python docs/pictures.py"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

# Rich's own frame loads a font from a server; a picture in a repo should not
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def main() -> None:
    demo = subprocess.run([sys.executable, "-m", "rulerank", "demo"], capture_output=True, text=True, check=True)
    console = Console(record=True, width=124, file=io.StringIO())
    console.print(Text("$ rulerank demo", style="bold"))
    console.print(Text(demo.stdout))
    picture = console.export_svg(title="rulerank", theme=MONOKAI, code_format=FRAME, unique_id="demo")
    Path(__file__).with_name("demo.svg").write_text(picture)


if __name__ == "__main__":
    main()
