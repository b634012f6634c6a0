"""A user's mistake ends in one line that says what was expected, what came and what to do; and leaves no file."""

import shlex

import pytest

import rulerank as rr

MISTAKES = [
    ("make-data w.xyz", "cannot determine the output format from the name 'w.xyz'; name one: letor,"),
    ("make-data w.txt --queries 0", "n_queries must be "),
    ("make-data w --folds 2", "n_folds must be at least 3: got 2"),
    ("make-data - --folds 3", "--folds and --texts write a folder: got -"),
    ("make-data o.txt --queries 99999999999999999999", "n_queries must be "),
    ("demo --queries 9", "--queries must be at least 10, two per test fold: got 9"),
    ("convert parts out.csv", "parts names several files, supported only for logs of a search engine: add"),
    ("convert test.txt out.csv --qid q", "test.txt: only tables have named columns (qid): this is letor"),
    ("convert test.txt out.run", "test.txt: a run needs scores, and letor files have none; rank the documents first"),
    ("convert test.txt out.csv --from csv", "test.txt"),
    ("convert q9.json pool.csv", "q9.json: response 1: document 1: 'a' has no features, 'fields._ltrlog'; log them"),
    ("convert q7.json pool.what", "cannot determine the output format from the name"),
    ("convert test.csv out.json --to logs", "logs can only be read: choose another format"),
    ("features queries.tsv ./queries.tsv -o out.csv", "documents and queries are the same file, queries.tsv: give two"),
    ("clicks log.csv -o x.csv", "-o needs the documents to join: rulerank clicks LOG POOL -o FILE"),
    ("clicks log.csv pool.csv -o x.txt", "-o writes a table (csv, tsv, parquet): letor has no columns for clicks"),
    ("clicks log.csv --columns query=q", "log.csv: there is no column 'q'; the columns are query, doc, position"),
    ("clicks log.csv --columns query", "--columns takes NAME=VALUE: got 'query'"),
    ("judge pool.csv --host 0.0.0.0", "--host 0.0.0.0 opens the page to other machines, which needs --token"),
    ("judge pool.csv --baseline m.rulerank", "m.rulerank: there is no such file"),
    ("judge pool.csv --overlap lots", "--overlap must be a share such as 10% or 0.1: got 'lots'"),
    ("judge pool.csv --rater ''", "a rater's name must have 1 to 50 printable characters"),
    ("judge pool.csv --guidelines no.txt", "no.txt: No such file or directory"),
    ("judge pool.csv --show heading", "pool.csv: there is no column 'heading'"),
    ("labels none.db", "none.db: label store not found"),
    ("labels judged.db --import qrels.txt", "--import needs --rater NAME, the rater of the labels"),
    ("labels judged.db -o judged.txt", "LETOR needs features, which labels do not have"),
    ("labels judged.db --disputes -o a.qrels", "give only one of these options: --agreement or --disputes, -o"),
    ("labels judged.db --combine mean", "--combine applies to an export: add -o FILE"),
    ("labels judged.db --import llm.csv --rater ann --kind llm", "'ann' is a human rater with labels: import"),
    ("labels judged.db -o out.csv --combine vote", "labels can be combined by median, mean, majority, reliability, da"),
    ("sample train.txt", "no baseline ranking found: name the feature that ranks the documents now with --"),
    ("sample train.txt --sampler ssar -o a.qrels", "qrels have grades, which raters give later: write the documents"),
    ("sample train.txt --sampler best", "unknown sampler 'best'; choose from strata, ssar"),
    ("sample train.txt --sampler ssar:size=1", "--sampler: unknown setting 'size'; choose from max_size, partitions"),
    ("sample train.txt --sampler ssar:max_size=0", "max_size must be an integer of at least 1: got 0"),
    ("sample train.txt --sampler ssar --baseline f1", "ssar does not use a baseline ranking: leave out --baseline"),
    ("sample train.txt --sampler ssar -n 0", "-n must be an integer of at least 1: got 0"),
    ("sample train.txt --sampler ssar --labels other.csv", "other.csv: document 'd9' of query 'q1' is not in train.tx"),
    ("sample train.txt --sampler ssar --labels bare.txt", "bare.txt: expected labels with document ids: got none"),
    ("check pool.csv clicks.rulerank", "no labels to compare by: give a label store or file with --labels"),
    ("check pool.csv clicks.rulerank --own-grades --baseline bm26", "baseline ranking: there is no feature 'bm26'; th"),
    ("check clicks.rulerank pool.csv", "no labels to compare by"),
    ("check clicks.rulerank pool.csv --own-grades", "the data come first, then the model: rulerank check pool.csv cli"),
    ("train train.txt -o -", "a model cannot be written to stdout: name a file, such as -o model.rulerank"),
    ("train - - -o m", "only one input can be stdin: - is given twice"),
    ("train docs.jsonl -o m", "docs.jsonl: this is JSON, as files of documents are, and not a table of features: comp"),
    ("train none.txt -o m", "none.txt: no document has a grade to learn from"),
    ("train test.txt -o test.csv", "test.csv exists and is not a model; choose another name or remove it"),
    ("train train.txt -o m --method RE-XX", "unknown method 'RE-XX'; choose from"),
    ("train train.txt -o m --method GlobalRules --set votes=loud", "unknown votes 'loud'; choose from mean, evidence"),
    ("train train.txt -o m --method GlobalRules --set min_queries=2", "GlobalRules has no parameter 'min_queries'; ch"),
    ("train train.txt -o m --method QueryIntercepts --set l2", "--set takes NAME=VALUE: got 'l2'"),
    ("train train.txt -o m --set l2=1", "--set l2 needs a method: name it, such as --method GlobalRules --set l2=..."),
    ("train relevance.csv -o m", "relevance.csv: there is no column 'grade'; the columns are qid, relevance, a; name "),
    ("train train.txt -o m --baseline f1", "--baseline is only used by Anchored: leave it out, or add --labels"),
    ("train train.txt -o m --unjudged never", "unjudged must be 0"),
    ("train pool.csv -o m --raters gpt", "--raters names non-human raters in --labels: add --labels"),
    ("train pool.csv -o m --labels graded.csv --tune", "--labels is for few labels, too few for tuning"),
    ("train pool.csv -o m --labels blank.csv", "blank.csv: no document has a grade to learn from"),
    ("train pool.csv -o m --labels other.csv", "other.csv: document 'd9' of query 'q1' is not in pool.csv"),
    ("train pool.csv -o m --labels same.csv", "no query has documents of two grades (all 2 have grade 1), so there is"),
    ("train pool.csv -o m --labels graded.csv --baseline bm25", "baseline ranking: there is no feature 'bm25'; the da"),
    ("train pool.csv -o m --labels graded.csv --features clicks,pagerank", "with --baseline, one of clicks, pagerank;"),
    ("train pool.csv -o m --labels graded.csv --baseline text.rulerank", "text.rulerank: expected a ranker, which `ru"),
    ("train pool.csv -o m --labels each.csv --raters gpt --method Anchored", "labels of gpt count in training, each "),
    ("train pool.csv -o m --labels each.csv --raters llama", "each.csv has no labels of a non-human rater 'llama'; "),
    ("train pool.csv -o clicks.rulerank --labels graded.csv --baseline clicks.rulerank", "clicks.rulerank is an input"),
    ("train pool-with-clicks.parquet -o m --tune", "pool-with-clicks.parquet has clicks, which cannot be tuned on"),
    ("train pool-with-clicks.parquet -o m --method RE-GR", "GlobalRules does not learn from clicks; QueryIntercepts"),
    ("train pool-with-clicks.parquet -o m --labels graded.csv --method QI", "pool-with-clicks.parquet has clicks: onl"),
    ("train parts -o m", "parts is read file by file: name the method, such as --method FittedRules"),
    ("train parts -o m --method RE-QR", "QueryRules needs the data in memory"),
    ("train parts -o m --tune --method RE-GR", "parts is read file by file, which works with --method, --set and colu"),
    ("train parts -o parts/1.parquet --method RE-GR", "parts/1.parquet exists and is not a model"),
    ("train clicked -o m --method QI", "clicked/0.parquet has clicks"),
    ("methods nobody", "unknown method 'nobody'; choose from"),
    ("evaluate test.txt", "expected scores for test.txt: name a score file after it, or a column with --feature"),
    ("evaluate test.txt short.txt", "short.txt: expected 96 scores, one per document of test.txt: got 3"),
    ("evaluate test.txt --feature bm25", "there is no feature 'bm25'; the data has f1, f2, f3,"),
    ("evaluate test.txt scores.txt --convention letor3:ties=any", "unknown tie rule 'any'; choose from expected, file"),
    ("evaluate test.txt scores.txt --convention letor3:tie=file", "--convention: unknown setting 'tie'; choose from "),
    ("evaluate test.txt scores.txt -o a.tex", "no known format for 'a.tex': use a name that ends in .csv, "),
    ("evaluate test.csv --feature clicks --feature pagerank --compare -o a.csv", "--compare cannot be written as csv:"),
    ("evaluate test.txt scores.txt scores.txt", "name each file and feature once: 'scores.txt' is given twice"),
    ("evaluate --qrels qrels.txt bad.run", "bad.run:1: expected 'qid Q0 docid rank score tag', got 4 columns:"),
    ("evaluate --qrels qrels.txt one.run --feature f1", "--feature ranks by a column of the data: leave it out with -"),
    ("evaluate one.run", "one.run: a run holds scores, and neither grades nor features; evaluate it with qrels (--q"),
    ("evaluate ids.csv --feature a --convention standard:ties=docid", "ties=docid needs document ids: name their colu"),
    ("evaluate ids.csv --feature a --convention standard:unjudged=1", "unjudged must be 0, to count documents without"),
    ("evaluate blank.csv --feature docid", "blank.csv: "),
    ("compare . --method RE-GG", "unknown system 'RE-GG'; did you mean "),
    ("compare nowhere", "nowhere: there is no such folder or file"),
    ("compare . --run one.run", "--run takes NAME=VALUE: got 'one.run'"),
    ("compare . --run a=one.run --run a=two.run", "--run 'a' is given twice: give each run its own name"),
    ("compare . --run Competence=one.run", "two systems are called 'Competence': give each a different name"),
    ("compare test.csv --folds 2", "n_folds must be"),
    ("compare test.csv --run a=short.txt", "short.txt: a run needs scores, and letor files have none"),
    ("label-curve train.txt -o curve.gif", "no known format for 'curve.gif': use a name that ends in .png"),
    ("label-curve train.txt -o nowhere/curve.csv", "cannot write nowhere/curve.csv: it is a directory, or its directo"),
    ("label-curve train.txt --sizes ten", "--sizes takes whole numbers, such as 50,100,200: got 'ten'"),
    ("label-curve train.txt", "no baseline ranking found: name the feature that ranks the documents now with --"),
    ("label-curve train.txt --baseline model.rulerank", "--baseline model.rulerank: a model may have learned from"),
    ("label-curve train.txt --baseline f1 --method best", "unknown method 'best'; choose from"),
    ("fuse one.run", "expected two runs or more, each once: got 1"),
    ("fuse one.run two.run --method linear:1,x", "expected weights such as linear:0.7,0.3: got 'linear:1,x'"),
    ("interleave one.run -o x.jsonl", "give two rankings: rulerank interleave A B -o mixed.jsonl"),
    ("interleave one.run two.run", "give either -o FILE to write interleaved lists or --clicks LOG"),
    ("interleave --clicks shown.csv", "shown.csv: "),
    ("rank model.rulerank test.txt", "the data come first, then the model: rulerank rank test.txt model.rulerank"),
    ("rank model.rulerank model.rulerank", "model.rulerank: this is a rulerank model, not data; use `rulerank rank`"),
    ("rank test.txt train.txt", "train.txt: is not a rulerank model: it begins with "),
    ("rank parts model.rulerank", "parts names several files: rank them one at a time"),
    ("rank pool-with-clicks.parquet clicks.rulerank -o n.run", "pool-with-clicks.parquet has one row per position"),
    ("explain test.txt model.rulerank --versus q1-d3", "--versus and --what-if need a document: name "),
    ("explain test.txt model.rulerank --query q99", "no query 'q99'"),
    ("explain test.txt model.rulerank --query q1 --doc d99", "no document 'd99' in query q1: it has q1-d1"),
    ("explain test.txt model.rulerank --doc d99", "document 'd99' is in no query of the data"),
    ("explain test.txt model.rulerank --doc q1-d3 --versus q1-d3", "--doc and --versus name the same document, 'q1-d3"),
    ("explain test.txt model.rulerank --doc q1-d3 -o why.tex", "no known format for 'why.tex': use a name"),
    ("explain test.txt model.rulerank --doc q1-d3 -o why.svg", "a picture shows the model as a whole: leave out --que"),
    ("explain test.txt model.rulerank --baseline f1 -o a.pdf", "a picture shows the model as a whole: leave out --que"),
    ("explain test.txt model.rulerank --query q1 --top 0", "n, the number of documents to show, must be"),
    ("explain test.txt model.rulerank --query q1 --baseline fame", "baseline ranking: there is no feature 'fame'"),
    ("export stable.rulerank --to solr-ltr", "this StableRules cannot be exported: StableRules is not additive"),
    ("export linear.rulerank", "give either --to TARGET (xgboost, "),
    ("export linear.rulerank --to vesper", "unknown target 'vesper'; choose from xgboost, lightgbm, onnx, opensearch-"),
    ("rank bad.csv model.rulerank -o out.txt", "error: bad.csv:"),
    ("train bad.csv -o new.rulerank", "error: bad.csv:"),
    ("convert bad.csv out.parquet", "error: bad.csv:"),
    ("evaluate bad.csv --feature a", "error: bad.csv:"),
    ("sample bad.csv -n 2 -o out.csv", "error: bad.csv:"),
    ("fuse one.run bad.csv -o out.run", "error: bad.csv:"),
    ("evaluate ungraded.csv --feature x", "ungraded.csv: no document has a grade"),
    ("serve model.rulerank", "model.rulerank has a ranker without texts: add --texts FILE"),
    ("serve model.rulerank --texts text.rulerank --features-only", "--texts and --features-only exclude each other"),
    ("serve none.rulerank --features-only", "none.rulerank: there is no such file"),
    ("serve model.rulerank --texts model.rulerank", "model.rulerank: expected the index from `rulerank features DOCS "),
    ("serve model.rulerank --features-only --host 0.0.0.0", "--host 0.0.0.0 opens the page to other machines"),
]
FILES = {
    "q9.json": '{"hits": {"hits": [{"_id": "a"}]}}',
    "none.txt": "? qid:1 1:0.5\n? qid:1 1:0.25\n",
    "bare.txt": "1 qid:q1 1:0.5\n",
    "blank.csv": "qid,docid,grade\n",
    "ungraded.csv": "qid,docid,grade,x\na,d,,1\n",
    "other.csv": "qid,docid,grade\nq1,d9,1\n",
    "same.csv": "qid,docid,grade\nq1,q1-d1,1\nq1,q1-d2,1\n",
    "relevance.csv": "qid,relevance,a\n1,0,0.5\n1,1,0.7\n",
    "short.txt": "1\n2\n3\n",
    "bad.run": "q1 Q0 d1 1\n",
    "bad.csv": "qid,grade,a\n1,x,2\n",
    "ids.csv": "qid,grade,a\n1,0,0.5\n1,1,0.7\n",
}


@pytest.fixture(scope="module")
def at_fault(all_files, tmp_path_factory):
    """The files of the examples, and some to make mistakes with; no line below may change them."""
    folder = tmp_path_factory.mktemp("mistakes")
    for path in all_files.iterdir():
        (folder / path.name).symlink_to(path)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "clicked").mkdir()
    (folder / "clicked" / "0.parquet").write_bytes((all_files / "pool-with-clicks.parquet").read_bytes())
    data = rr.datasets.make_ranking(n_queries=3, docs_per_query=4)
    rr.StableRules().fit(data).save(folder / "stable.rulerank")
    return folder


@pytest.mark.parametrize(("line", "message"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_a_mistake_is_one_line_and_leaves_no_file(run, at_fault, monkeypatch, line, message):
    monkeypatch.chdir(at_fault)
    before = sorted(path.name for path in at_fault.iterdir())
    done = run(*shlex.split(line))
    assert (done.code, done.out) == (2, "")
    *_, last = done.err.splitlines()  # before it: which feature was taken for the baseline, and warnings
    assert last.startswith("error: ")
    assert message in last
    assert "Traceback" not in done.err
    after = sorted(path.name for path in at_fault.iterdir() if not path.name.startswith(("labels.db", "report")))
    assert after == [name for name in before if not name.startswith(("labels.db", "report"))]


OLD_NAMES = [
    ("world w.txt", "No such command 'world'. Did you mean 'make-data'?"),
    ("curve train.txt", "No such command 'curve'. Did you mean 'label-curve'?"),
    ("trian train.txt", "No such command 'trian'."),
    ("train train.txt -o m --today f1", "No such option: --today (Possible options: --baseline)"),
    ("judge pool.csv --judge ann", "No such option: --judge (Possible options: --rater)"),
    ("train train.txt -o m --judge ann", "No such option: --judge (Possible options: --raters)"),
    ("train train.txt -o m --max-size 1", "No such option: --max-size (Possible options: --set max_size=...)"),
    ("evaluate test.txt scores.txt --csv", "No such option: --csv (Possible options: -o FILE.csv)"),
    ("make-data w.txt --queries many", "Invalid value for '--queries'"),
]


@pytest.mark.parametrize(("words", "message"), OLD_NAMES)
def test_an_old_name_gets_the_usual_error_with_the_new_one(run, words, message):
    done = run(*words.split())
    assert done.code == 2
    assert message in done.err
