"""Answers of search engines with features, as they send them."""


def hit(docid, score, *features, **more):
    """A document as OpenSearch returns it with ext.ltr_log."""
    logged = [{"name": name} if value is None else {"name": name, "value": value} for name, value in features]
    fields = {"_ltrlog": [{"log_entry1": logged}]}
    return {"_index": "shop", "_id": docid, "_score": score, "fields": fields, "matched_queries": ["logged"]} | more


def elastic(*hits):
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    total = {"value": len(hits), "relation": "eq"}
    found = {"total": total, "max_score": 9.5, "hits": list(hits)}
    return {"took": 2, "timed_out": False, "_shards": shards, "hits": found}


def solr(*docs, start=0, q="green tent"):
    header = {"status": 0, "QTime": 1, "params": {"q": q, "fl": "id,score,[features]"}}
    return {"responseHeader": header, "response": {"numFound": 9, "start": start, "maxScore": 9.5, "docs": list(docs)}}


def doc(docid, score, features, **more):
    return {"id": docid, "score": score, "[features]": features} | more


OLD_TENT = {"text": "Old tent", "sku": "7", "stock": 3}
TENTS = elastic(
    hit("t1", 9.5, ("title", 9.5), ("body", None), ("price", 120.0), _source={"text": "Green tent", "title": "T1"}),
    hit("t2", 4.25, ("title", None), ("body", 2.5), ("price", 80.0), _source=OLD_TENT),
)
