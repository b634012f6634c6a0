"""Embedders: each kind against vectors worked out by hand, and a server that misbehaves."""

import json
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import rulerank as rr
from rulerank._util import loops
from rulerank.errors import DataError, EmbeddingError, MissingExtraError
from rulerank.text.embedding import KEY, Lsa, Server, check_embedder, open_embedder
from rulerank.text.vectors import Meaning

WORDS = ["[UNK]", "red", "car", "fruit", "salad"]
ROWS = np.array([[9, 9, 9], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], dtype=np.float32)
SECRET = "sk-very-secret"


def tokenizer():
    """Return a tokenizer of whole words."""
    tokenizers = pytest.importorskip("tokenizers", reason="static and ONNX embedders need tokenizers")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made


def static_folder(folder, tensors):
    safetensors = pytest.importorskip("safetensors.numpy", reason="static embedders need safetensors")
    tokenizer().save(str(folder / "tokenizer.json"))
    safetensors.save_file(tensors, folder / "model.safetensors")
    return open_embedder(f"static:{folder}")


def test_static_adds_up_the_vectors_of_known_tokens(tmp_path):
    embed = static_folder(tmp_path, {"embeddings": ROWS})
    assert embed(["Red car", "unheard of", "car car fruit", ""]).tolist() == [[1, 1, 0], [0] * 3, [0, 2, 1], [0] * 3]
    assert embed.version == tmp_path.name
    meaning = Meaning.opened(f"static:{tmp_path}")
    assert meaning.rows(["car car", "", "red"]).tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]


def test_static_reads_the_weights_and_the_mapping_of_model2vec(tmp_path):
    tensors = {"embeddings": ROWS[1:].astype(np.float16), "mapping": np.array([0, 0, 1, 2, 3])}
    embed = static_folder(tmp_path, tensors | {"weights": np.array([1, 0.5, 2, 1, 1], dtype=np.float32)})
    assert embed(["red car"]).tolist() == [[0.5, 2, 0]]


def test_static_reads_the_names_of_wordllama(tmp_path):
    embed = static_folder(tmp_path, {"embedding.weight": ROWS})
    (tmp_path / "tokenizer.json").rename(tmp_path / "l2_tokenizer_config.json")
    assert open_embedder(f"static:{tmp_path}")(["fruit"]).tolist() == embed(["fruit"]).tolist() == [[0, 0, 1]]


def test_the_static_default_is_the_package_wordllama_and_does_not_import_it():
    pytest.importorskip("tokenizers", reason="static embedders need tokenizers")
    pytest.importorskip("safetensors", reason="static embedders need safetensors")
    if not any(path for path in sys.path if (__import__("pathlib").Path(path) / "wordllama" / "weights").is_dir()):
        pytest.skip("the weights of wordllama are not installed")
    meaning = Meaning.opened("static")
    assert "wordllama" not in sys.modules
    assert (meaning.version.split()[0], meaning.size) == ("wordllama", 256)
    car, vehicle, soup = meaning.rows(["car", "vehicle", "soup"]).astype(float)
    assert car @ vehicle > car @ soup + 0.2


def test_a_folder_without_the_files_is_named(tmp_path):
    pytest.importorskip("tokenizers", reason="static and ONNX embedders need tokenizers")
    pytest.importorskip("safetensors", reason="static embedders need safetensors")
    with pytest.raises(DataError, match=r"expected one file \*\.safetensors in .*, got no file"):
        open_embedder(f"static:{tmp_path}")
    for name in "ab":
        (tmp_path / f"{name}.safetensors").touch()
    with pytest.raises(DataError, match=r"expected one file \*\.safetensors in .*, got 2 files"):
        open_embedder(f"static:{tmp_path}")
    pytest.importorskip("onnxruntime", reason="ONNX embedders need onnxruntime")
    with pytest.raises(DataError, match=r"there is no model\.onnx in"):
        open_embedder(f"onnx:{tmp_path}")


def test_tensors_of_other_models_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"expected token vectors of wordllama or model2vec, got layer\.0"):
        static_folder(tmp_path, {"layer.0": ROWS})


@pytest.mark.parametrize("pooling", ["mean", "cls", "ready"])
def test_onnx_pools_as_its_folder_says(pooling, tmp_path):
    """A model that looks rows up: its mean over the text's tokens, not over the padding, or its first token."""
    onnx = pytest.importorskip("onnx", reason="makes the model")
    pytest.importorskip("onnxruntime", reason="ONNX embedders need onnxruntime")
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    make, kind = onnx.helper, onnx.TensorProto
    nodes = [make.make_node("Gather", ["rows", "input_ids"], ["last_hidden_state"])]
    outputs = [make.make_tensor_value_info("last_hidden_state", kind.FLOAT, None)]
    if pooling == "ready":
        nodes.append(make.make_node("ReduceMax", ["last_hidden_state", "axes"], ["sentence_embedding"], keepdims=0))
        outputs.append(make.make_tensor_value_info("sentence_embedding", kind.FLOAT, None))
    if pooling == "cls":
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    inputs = [make.make_tensor_value_info(n, kind.INT64, ["b", "t"]) for n in ("input_ids", "attention_mask")]
    known = [onnx.numpy_helper.from_array(ROWS, "rows"), onnx.numpy_helper.from_array(np.array([1]), "axes")]
    graph = make.make_graph(nodes, "tiny", inputs, outputs, known)
    opsets = [make.make_opsetid("", 18)]
    onnx.save(make.make_model(graph, ir_version=9, opset_imports=opsets), str(tmp_path / "model.onnx"))
    found = open_embedder(f"onnx:{tmp_path}")(["car fruit", "red"])
    wanted = {"mean": [[0, 1, 1], [1, 0, 0]], "cls": [[0, 1, 0], [1, 0, 0]], "ready": [[0, 1, 1], [9, 9, 9]]}
    assert found.tolist() == wanted[pooling]


def test_sentence_transformers_is_asked_for_what_the_name_says(monkeypatch):
    class Model:
        def __init__(self, name):
            self.name = name

        def encode(self, texts, show_progress_bar):
            return np.array([[len(text), len(self.name)] for text in texts], dtype=np.float64)

    library = types.SimpleNamespace(SentenceTransformer=Model, __version__="9.9")
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    embed = open_embedder("sentence-transformers:tiny")
    assert embed.version == "sentence-transformers 9.9"
    assert embed(["ab"]).tolist() == [[2, 4]]
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(DataError, match="not installed; install it with: pip install sentence-transformers"):
        open_embedder("sentence-transformers:tiny")


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"this needs tokenizers.*rulerank\[semantic\]"):
        open_embedder("static")


@pytest.mark.parametrize("name", ["word2vec", "onnx", "lsa:folder", "ftp://x/y", "", 3])
def test_unknown_embedders_are_refused(name):
    with pytest.raises(DataError, match="embed must be static, static:FOLDER, lsa, onnx:FOLDER"):
        check_embedder(name)


@pytest.mark.parametrize("address", ["http://me:pw@host/v1/embeddings", "https://host/v1/embeddings?api-key=1"])
def test_an_address_with_a_key_is_refused(address):
    with pytest.raises(DataError, match="must hold no key: set RULERANK_EMBED_KEY instead"):
        check_embedder(address)


def test_lsa_brings_words_together_that_share_documents(monkeypatch):
    monkeypatch.setattr(Lsa, "SIZE", 2)
    texts = ["car vehicle road", "vehicle road", "car road", "fruit salad bowl", "fruit bowl", "salad bowl"]
    features = rr.TextFeatures({"body": "text"}, language="none", embed="lsa").fit(
        rr.Documents([str(i) for i in range(6)], {"body": texts})
    )
    data = features.for_query("vehicle", ["2", "5"])
    meaning = data.X[:, data.feature_names.index("meaning(all)")]
    assert meaning[0] > 0.9  # no word in common
    assert abs(meaning[1]) < 0.1


def test_lsa_is_the_projection_of_tf_idf():
    texts = ["a a b", "b c", "a c", "c c d", "d b"]
    features = rr.TextFeatures({"body": "text"}, language="none", embed="lsa").fit(
        rr.Documents([str(i) for i in range(5)], {"body": texts})
    )
    lsa = features.collection_.meaning.embedder
    assert isinstance(lsa, Lsa)
    numbers, idf = features.collection_.vocabulary, features.collection_.weighting.idf
    row = np.zeros(len(numbers))
    row[numbers["a"]], row[numbers["b"]] = (1 + np.log(2)) * idf[numbers["a"]], idf[numbers["b"]]
    wanted = (row / np.linalg.norm(row))[lsa.kept] @ lsa.rows
    assert lsa(["a b a"])[0] == pytest.approx(wanted, rel=1e-5)


def test_lsa_of_documents_that_share_nothing_is_refused():
    with pytest.raises(DataError, match="lsa needs documents that share words"):
        rr.TextFeatures({"body": "text"}, language="none", embed="lsa").fit(rr.Documents(["1"], {"body": ["a b"]}))


class Misbehaving(BaseHTTPRequestHandler):
    """Answers as the server's list of plans says, one plan per request, the last one for ever."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((asked, self.headers.get("Authorization")))
        plan = self.server.plans.pop(0) if len(self.server.plans) > 1 else self.server.plans[0]
        rows = [{"index": i, "embedding": [float(len(t)), 1.0]} for i, t in enumerate(asked["input"])]
        status, headers, content = 200, {}, json.dumps({"data": rows[::-1]})
        if plan == "slow":
            self.server.released.wait(5)
        elif isinstance(plan, int):
            status, content = plan, f"no, and your key {SECRET} is shown"
            headers = {"Retry-After": "0"} if plan == 429 else {"Location": "/elsewhere"} if plan == 302 else {}
        elif plan == "nan":
            content = content.replace(" 1.0]", " NaN]")
        elif plan == "wrong size":
            content = json.dumps({"data": [{"index": i, "embedding": [1.0] * 3} for i in range(len(rows))]})
        elif plan == "too few":
            content = json.dumps({"data": rows[:-1]})
        elif plan == "other":
            content = json.dumps({"vectors": "x" * 60 + SECRET})
        elif plan == "html":
            content = "<html>"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode()[: len(content) // 2 if plan == "half" else None])

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def listening():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving)
    server.released = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def ask(listening, monkeypatch):
    """Return an embedder of a server that follows some plans."""
    monkeypatch.setattr(Server, "PAUSES", (0.0, 0.0))
    monkeypatch.setattr(Server, "TIMEOUT", 0.3)
    monkeypatch.setenv(KEY, SECRET)

    def follow(*plans):
        listening.plans, listening.asked = [*plans], []
        return open_embedder(f"http://127.0.0.1:{listening.server_port}/v1/embeddings#tiny")

    return follow


def test_a_server_is_asked_in_openai_form_with_the_key_of_the_environment(ask, listening):
    assert ask("well")(["ab", "abc"]).tolist() == [[2, 1], [3, 1]]
    assert listening.asked == [
        ({"input": ["ab", "abc"], "encoding_format": "float", "model": "tiny"}, f"Bearer {SECRET}")
    ]


@pytest.mark.parametrize("trouble", ["slow", 429, 500, 503, "half", "html"])
def test_trouble_that_passes_is_tried_again(ask, listening, trouble):
    assert ask(trouble, trouble, "well")(["ab"]).tolist() == [[2, 1]]
    assert len(listening.asked) == 3


@pytest.mark.parametrize(
    ("trouble", "message", "n_asked"),
    [
        ("slow", "timed out", 3),
        (429, "HTTP 429 Too Many Requests", 3),
        (500, "HTTP 500 Internal Server Error", 3),
        (401, "HTTP 401 Unauthorized", 1),
        (302, "HTTP 302 Found", 1),
        ("half", "expected JSON, got '{", 3),
        ("html", "expected JSON, got '<html>'", 3),
        ("other", "expected a list of embeddings, got", 1),
        ("too few", "expected 2 embeddings of one size, got 1", 1),
    ],
)
def test_trouble_that_stays_is_an_error_without_the_key(ask, listening, trouble, message, n_asked):
    with pytest.raises(EmbeddingError, match=message) as caught:
        ask(trouble)(["ab", "abc"])
    assert len(listening.asked) == n_asked
    assert SECRET[:6] not in str(caught.value)  # not even the beginning, where the text is cut
    assert "127.0.0.1" in str(caught.value)


def test_nobody_there_is_an_error(monkeypatch):
    monkeypatch.setattr(Server, "PAUSES", ())
    with pytest.raises(EmbeddingError, match=r"127\.0\.0\.1:9/v1/embeddings: .*refused.*; check the server"):
        open_embedder("http://127.0.0.1:9/v1/embeddings")(["a"])


def test_vectors_that_are_none_are_refused(ask):
    with pytest.raises(EmbeddingError, match="numbers that are not finite, such as for 'a red apple"):
        Meaning.opened(f"{ask('nan').address}#tiny")
    meaning = Meaning.opened(f"{ask('well', 'wrong size').address}#tiny")
    with pytest.raises(EmbeddingError, match="returned vectors of length 3 after length 2"):
        meaning.rows(["ab"])


def test_the_key_is_in_no_file_and_no_line(ask, tmp_path, monkeypatch, capfd, caplog):
    monkeypatch.setattr(loops, "somebody_looks", lambda: True)
    monkeypatch.setattr(loops.threading, "Timer", lambda _, show: types.SimpleNamespace(start=show, cancel=dict))
    monkeypatch.setenv("FORCE_COLOR", "1")
    caplog.set_level("DEBUG")
    documents = rr.Documents(["1", "2"], {"title": ["red car", "fruit salad"]})
    name = f"{ask('well').address}#tiny"
    rr.TextFeatures(embed=name).fit(documents, cache=tmp_path / "vectors").save(tmp_path / "text.rulerank")
    shown = capfd.readouterr()
    assert "embedding" in shown.err
    for content in (shown.out, shown.err, caplog.text, *(path.read_bytes() for path in tmp_path.iterdir())):
        assert (SECRET.encode() if isinstance(content, bytes) else SECRET) not in content
