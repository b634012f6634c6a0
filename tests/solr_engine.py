"""A real Apache Solr with its learning-to-rank module, embedded in a small Java program that the tests compile.

The jars come through Maven, which keeps them; where there is no Maven, no compiler or no network, tests skip.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

SOURCES = Path(__file__).parent / "data" / "solr"
JAVA = ["-Xmx512m", "-Dlog4j2.level=ERROR", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]


def solr_classpath(folder):
    """Return the jars of Solr and the compiled program, or skip with the reason."""
    for tool in ("mvn", "java", "javac"):
        if shutil.which(tool) is None:
            pytest.skip(f"Apache Solr comes through Maven and runs on Java: there is no {tool}")
    shutil.copy(SOURCES / "pom.xml", folder)
    resolve = ["mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath.txt"]
    done = subprocess.run(resolve, cwd=folder, capture_output=True, text=True, timeout=900)
    if done.returncode:
        pytest.skip(f"Maven could not get Apache Solr: {done.stdout[-300:]}")
    jars = (folder / "classpath.txt").read_text().strip()
    subprocess.run(["javac", "-cp", jars, "-d", folder, SOURCES / "SolrScores.java"], check=True, capture_output=True)
    return f"{folder}:{jars}"


def solr_scores(classpath, folder, models, X, names):
    """Start Solr with models (documents by name), give it rows (no field where a value is NaN), return scores."""
    conf = folder / "home" / "core" / "conf"
    conf.mkdir(parents=True)
    for name in ("solrconfig.xml", "schema.xml"):
        shutil.copy(SOURCES / name, conf)
    (folder / "home" / "solr.xml").write_text("<solr/>")
    (folder / "home" / "core" / "core.properties").write_text("name=core\n")
    value = {"class": "org.apache.solr.ltr.feature.FieldValueFeature", "store": "rulerank"}
    features = [value | {"name": name, "params": {"field": f"value_{place}"}} for place, name in enumerate(names)]
    for kind, items in (("feature", features), ("model", list(models.values()))):
        (conf / f"_schema_{kind}-store.json").write_text(json.dumps({"initArgs": {}, "managedList": items}))
    rows = [["" if np.isnan(value) else str(np.float32(value)) for value in row] for row in X]
    values = folder / "values.tsv"
    values.write_text("\n".join("\t".join(row) for row in [list(names), *rows]) + "\n")
    command = ["java", *JAVA, "-cp", classpath, "SolrScores", folder / "home", values, *models]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    scores = {name: np.full(len(X), np.nan, dtype=np.float32) for name in models}
    for line in done.stdout.splitlines():
        if line.split(" ", 1)[0] in scores:
            model, row, score = line.split()
            scores[model][int(row)] = np.float32(score)
    return scores
