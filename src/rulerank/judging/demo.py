"""A pool to try the page on: the synthetic world, with texts by which a person can tell the grades."""

from __future__ import annotations

import numpy as np

from rulerank.judging.pool import Pool
from rulerank.worlds import make_world

MAX_GRADE = 2
TOPICS = (  # what people search for, the subject in two or three words, and who asks
    ("prune old apple tree", "pruning apple trees", "A hobby gardener wants to know when and where to cut."),
    ("sourdough starter smells", "sourdough starters", "A baker wonders whether the starter is still good."),
    ("fix slow bicycle puncture", "bicycle punctures", "A commuter loses air overnight and wants to mend the tube."),
    ("northern lights best month", "northern lights", "A couple plans a journey and picks the month."),
    ("learn sight reading piano", "sight reading", "An adult beginner looks for exercises for every day."),
    ("why do cats knead", "kneading cats", "A new cat owner asks what the paws mean."),
    ("remove red wine stain wool", "wine stains on wool", "A guest has spilled wine a minute ago."),
    ("marathon training first time", "marathon training", "A runner who manages ten kilometres wants a plan."),
    ("keep basil alive indoors", "basil in a pot", "The plant from the shop dies after a week, every time."),
    ("roman aqueduct how it works", "Roman aqueducts", "A pupil writes two pages about how the water flowed."),
    ("descale espresso machine", "descaling a machine", "The owner of a small machine wants safe household means."),
    ("teach child to swim age", "swimming lessons", "Parents ask from which age lessons make sense."),
)
FULL = (
    ("{Subject}: the whole answer", "Answers exactly this question, step by step, with the reasons and the usual "
     "mistakes. Written by someone who has done it for years."),
    ("Everything about {subject}", "Complete and to the point: what to do first, what to leave alone, and how to "
     "tell that it worked. With drawings."),
)  # fmt: skip
PARTIAL = (
    ("Some notes on {subject}", "Touches on the question in two paragraphs and then goes on to other things. Useful, "
     "but half of the answer is missing."),
    ("{Subject}, a short thread", "Three people ask the same question. One reply has a good hint; the others guess."),
)  # fmt: skip
NONE = (
    ("{Other} for everyone", "A page about {other}. It has nothing on the question."),
    ("Great deals today", "Mentions {subject} twice, in a list of words. The rest is advertising."),
    ("{Other}: questions and answers", "Forty answers about {other}, none about {subject}."),
)
KINDS = (NONE, PARTIAL, FULL)  # by grade


def demo_pool(seed: int = 0) -> Pool:
    """Return the documents of twelve everyday searches, with texts that give their grades away.

    >>> pool = demo_pool()
    >>> pool
    Pool(185 documents, 12 queries, 14 features, texts: query_text, description, title, text, url)
    """
    data = make_world(n_queries=len(TOPICS), docs_per_query=(12, 20), n_features=14, n_grades=MAX_GRADE + 1, seed=seed)
    rng = np.random.default_rng(seed)
    texts: dict[str, list[str | None]] = {name: [] for name in ("query_text", "description", "title", "text", "url")}
    for qid, docid, grade in zip(data.qid, data.docid if data.docid is not None else (), data.y, strict=True):
        number = int(qid[1:]) - 1
        query, subject, asker = TOPICS[number]
        other = TOPICS[(number + 1 + int(rng.integers(len(TOPICS) - 1))) % len(TOPICS)][1]
        title, text = KINDS[grade][int(rng.integers(len(KINDS[grade])))]
        words = {"subject": subject, "Subject": _capital(subject), "other": other, "Other": _capital(other)}
        values = (query, asker, title.format(**words), text.format(**words), f"https://example.org/{docid}")
        for name, value in zip(texts, values, strict=True):
            texts[name].append(value)
    return Pool(data, texts)


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
