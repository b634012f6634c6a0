"""rulerank fuse: runs in, one run out."""

import json

import pytest

import rulerank as rr


def test_the_fused_run_goes_to_stdout_and_the_summary_to_stderr(run, folder):
    done = run("fuse", "one.run", "two.run", "--method", "rrf")
    fused = rr.fuse_runs([rr.read_run("one.run"), rr.read_run("two.run")], "rrf")
    assert done.code == 0
    assert done.out.splitlines()[0].split()[2] == fused.docid[0]
    assert done.out.count("\n") == len(fused) == 96
    assert done.err == "-: 96 documents of 12 queries from 2 runs by rrf\n"


def test_weights_are_used_and_the_file_can_be_evaluated(run, folder):
    done = run("fuse", "one.run", "two.run", "--method", "linear", "--weights", "1,0", "-o", "fused.run", "--json")
    assert json.loads(done.out) == {"rows": 96, "queries": 12, "runs": 2, "method": "linear"}
    assert run("evaluate", "--qrels", "qrels.txt", "fused.run").code == 0
    assert rr.read_run("fused.run").docid.tolist() == rr.read_run("one.run").docid.tolist()


def test_the_method_may_be_written_with_a_hyphen_and_the_run_named(run, folder):
    assert run("fuse", "one.run", "two.run", "--method", "Comb-SUM", "--tag", "mine", "-o", "f.run").code == 0
    assert set(rr.read_run("f.run").tag) == {"mine"}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("one.run", "expected two runs or more to put together: got 1"),
        ("one.run one.run", "each run may be named once: 'one.run' is there twice"),
        (
            "one.run two.run --method magic",
            "unknown method 'magic'; choose from comb_sum, comb_mnz, borda, condorcet, rrf",
        ),
        ("one.run two.run --weights 1,x", "expected numbers such as 0.7,0.3 for --weights: got '1,x'"),
        ("one.run two.run --method linear", "method='linear' needs weights, one per ranker"),
        ("one.run nothere.run", "nothere.run: there is no such file"),
    ],
)
def test_a_mistake_is_one_line_on_stderr(run, folder, args, message):
    done = run("fuse", *args.split(), "-o", "fused.run")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") == 1
    assert not (folder / "fused.run").exists()
