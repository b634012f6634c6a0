"""What `rulerank train` of clicks has saved, what is not known of it, and what to type next."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from rulerank.cli.train_asked import Asked
from rulerank.core.words import listed
from rulerank.training.from_clicks import TODAYS, LearnedFromClicks

INTERLEAVE = "    rulerank interleave today.run new.run -o mixed.jsonl"


def saved_in_words(asked: Asked, learned: LearnedFromClicks, names: Sequence[str], seconds: float) -> list[str]:
    """Return lines about the file that was written: today's ranking, or a new one, better or not."""
    method, time = learned.candidate.method, f"learned in {seconds:.1f} s"
    if learned.is_today:
        return [f"{asked.out}: {method}, {TODAYS} as it was; no new ranking is saved"]
    if not learned.keep_today:
        return [f"{asked.out}: {method}, {time}"]
    saved = f"{asked.out}: {method}, {time}; a new ranking, and nothing says yet that it is better than today's"
    compare = [f"    rulerank rank {quote(asked.out)} POOL -o new.run", INTERLEAVE]
    if learned.against_today.known:
        keep = f"To keep today's ranking until clicks say otherwise, leave out --method {asked.method.name}."
        return [saved, keep, "To let people compare the two:", *compare]
    again = ["rulerank train", quote(asked.source), "--today NAME", *_more(asked), "-o", quote(asked.out)]
    return [
        saved,
        f"If a feature ({listed(names)}) or a saved model ranks the documents now, name it: it is kept unless clicks "
        "say otherwise.",
        f"    {' '.join(again)}",
        "If neither does, let people compare what they see now, as a run, with the new ranking:",
        *compare,
    ]


def _more(asked: Asked) -> list[str]:
    """Return the options that a second try needs, too."""
    return [] if asked.propensities is None else ["--propensities", quote(asked.propensities)]
