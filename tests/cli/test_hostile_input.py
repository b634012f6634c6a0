"""Damaged files of every kind and wrong command lines: an error in words, never a traceback, and no input changes.

RULERANK_FUZZ=10000 tries that many files, and 400 command lines; otherwise a few of each, the same every time.
"""

import contextlib
import json
import os
import random
import warnings
from pathlib import Path

import rulerank as rr
from rulerank.datasets.shop import make_shop, write_shop
from rulerank.io.formats import write_any
from rulerank.io.trec import read_scores

N_FILES = int(os.environ.get("RULERANK_FUZZ", "300"))
N_LINES = 400 if "RULERANK_FUZZ" in os.environ else 60


def read_store(path):
    with rr.judging.LabelStore(path) as store:
        store.labels()


READERS = {  # what reads a file, and files for it to damage
    rr.read_letor: "test.txt test.txt.gz",
    rr.read_table: "test.csv test.tsv test.parquet test.csv.gz quepid.csv",
    rr.judging.read_pool: "pool.csv",
    rr.read_run: "one.run",
    rr.read_qrels: "qrels.txt",
    read_scores: "scores.txt",
    rr.load: "model.rulerank linear.rulerank texts.rulerank",
    read_store: "judged.db",
    rr.read_documents: "documents.jsonl",
    rr.read_queries: "queries.tsv",
    rr.io.read_judgements: "judgements.qrels",
    rr.io.read_logs: "answers.jsonl",
}
READER_OF = {name: reader for reader, names in READERS.items() for name in names.split()}
LOGGED = {"_ltrlog": [{"main": [{"name": "bm25", "value": 1.5}]}]}
ANSWER = {"hits": {"hits": [{"_id": "a", "_score": 2.5, "fields": LOGGED}]}}
NASTY = [b"\0", b"\xff\xfe", b"\n", b"\r", b'"', b",", b"\t", b"nan", b"inf", b"-", b"1e999", b"99999999999999999999",
         b"=", b"qid:", b"#", b":", b"'", "ü".encode(), b"\xf0\x9f", b"NULL", b"?", b" " * 300]  # fmt: skip


def damaged(content, chance):
    """Return content with one to four mistakes in it."""
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randrange(len(content) + 1), chance.choice([1, 2, 50, 5000])
        put, stop = chance.choice([(bytes([chance.randrange(256)]), at + 1), (b"", at + size),
                                   (chance.choice(NASTY), at), (chance.choice(NASTY), at + 4),
                                   (content[max(0, at - size) : at], at), (b"", len(content))])  # fmt: skip
        content = content[:at] + put + content[stop:]
    return content


def more_files():
    data = rr.datasets.make_ranking(n_queries=4, docs_per_query=6, seed=3)
    for name in ("test.tsv", "test.parquet", "test.txt.gz", "test.csv.gz"):
        write_any(data, name)
    write_any(data, "quepid.csv", "quepid")
    shop = make_shop(n_products=100, n_queries=3, seed=1)
    write_shop(shop, "shop")
    for name in ("documents.jsonl", "queries.tsv", "judgements.qrels"):
        Path("shop", name).rename(name)
    rr.TextFeatures(language="none").fit(shop.documents).save("texts.rulerank")
    lines = [json.dumps({"query_id": f"q{number}", "response": ANSWER}) for number in range(3)]
    Path("answers.jsonl").write_text("\n".join(lines))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_damaged_file_is_read_or_refused_in_words(folder):
    more_files()
    whole = {name: Path(name).read_bytes() for name in READER_OF}
    Path("bad").mkdir()
    failures = []
    for seed in range(N_FILES):
        chance = random.Random(seed)
        name = chance.choice(list(READER_OF))
        path, content = Path("bad", name), damaged(whole[name], chance)
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                READER_OF[name](path)
        except rr.errors.RulerankError as error:
            assert str(error), f"seed {seed}, {name}"  # noqa: PT017  # reading it is as right
        except Exception as error:
            failures.append(f"seed {seed}, {name}: {error!r}")
        if name != "judged.db":  # whose own recovery may rewrite it
            assert path.read_bytes() == content, f"seed {seed}, {name}"
        for beside in Path("bad").iterdir():
            beside.unlink()
    assert not failures, "\n".join(failures)


COMMANDS = ["demo --queries", "train", "rank", "fuse", "explain", "evaluate", "sample", "export", "convert", "methods",
            "make-data", "labels", "check", "label-curve --splits 1 --sizes 5", "compare --jobs 1"]  # fmt: skip
WORDS = ["train.txt", "test.csv", "pool.csv", "judged.db", "model.rulerank", "one.run", "two.run", "qrels.txt", "-", "",
         "nowhere.txt", ".", "nowhere/out.csv", "out.csv", "out.txt", "-o", "--to", "--from", "letor", "csv", "quepid",
         "parquet", "run", "--features", "--qid", "--docid", "--grade", "f1", "--method", "QI", "GlobalRules:x=1",
         "nobody", "--set", "l2=abc", "l2=nan", "x", "=", "--measure", "NDCG@0", "NDCG@10", "--queries", "-1", "0",
         "99999999999999999999", "nan", "--seed", "--json", "--query", "q1", "--doc", "--versus", "--nonsense", "-n",
         "--labels", "linear:0.5,0.5", "a,b", "--own-grades", "--baseline", "--convention", "letor3:ties=x",
         "--folds", "2", "ü", "\udcff", "a\x00b", "--tune", "literal=true", "--import", "--rater"]  # fmt: skip


def test_a_wrong_command_line_ends_in_words_and_changes_no_input(run, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    before = contents(folder)
    for seed in range(N_LINES):
        chance = random.Random(seed)
        words = [*chance.choice(COMMANDS).split(), *chance.choices(WORDS, k=chance.randint(1, 6))]
        try:
            done = run(*words)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {words}: {error!r}") from error
        assert done.code in (0, 1, 2), words
        assert "Traceback" not in done.err, words
        if done.code:
            assert done.err.strip() or done.out.strip(), words
        now = contents(folder)
        for name in [name for name in before if now.get(name) != before[name]]:
            assert (done.code, words.count(name)) == (0, 1), words  # it was named as the output, and is no input
            Path(name).write_bytes(before[name])
        for name in set(now) - set(before):
            with contextlib.suppress(OSError):
                Path(name).unlink()
