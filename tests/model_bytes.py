"""The bytes of a model file: taken apart, changed, put together again."""

import hashlib
import json

import numpy as np

import rulerank as rr
from rulerank.io.files import MODEL_MAGIC as MAGIC
from rulerank.model_file import HEADER, VERSION

DATA = rr.datasets.make_ranking(n_queries=6, docs_per_query=12, n_features=12)


def saved(tmp_path, **params):
    ranker = rr.GlobalRules(**params).fit(DATA)
    path = tmp_path / "model.rulerank"
    ranker.save(path)
    return ranker, path


def seal(manifest, arrays=b"", version=VERSION):
    """Put a file together whose outside is in order."""
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    head = HEADER.pack(MAGIC, version, len(text), HEADER.size + len(text) + len(arrays) + 32) + text + arrays
    return head + hashlib.sha256(head).digest()


def opened(path):
    """Return the manifest and the arrays' bytes of a file."""
    content = path.read_bytes()
    start = HEADER.size + HEADER.unpack_from(content)[2]
    return json.loads(content[HEADER.size : start]), content[start:-32]


def change(path, place, value):
    """Change one value of a file's state, or the values of an array, and seal it again."""
    manifest, arrays = opened(path)
    *way, last = place.split(".")
    holder = manifest["state"]
    for key in way:
        holder = holder[key]
    if not callable(value):
        holder[last] = value
        path.write_bytes(seal(manifest, arrays))
        return
    number = holder[last]["$array"]
    parts, start = [], 0
    for one in manifest["arrays"]:
        array = np.frombuffer(arrays, one["dtype"], int(np.prod(one["shape"])), start).reshape(one["shape"]).copy()
        parts.append(array)
        start += array.nbytes
    parts[number] = np.ascontiguousarray(value(parts[number]))
    manifest["arrays"][number] = {"dtype": parts[number].dtype.str, "shape": parts[number].shape}
    path.write_bytes(seal(manifest, b"".join(array.tobytes() for array in parts)))


def put(value, place=0):
    def into(array):
        array.flat[place] = value
        return array

    return into
