"""LLM labels corrected by human ones, as the formulas are written: plain loops, Student's t from scipy.stats."""

from math import log2, sqrt

from scipy import stats


def corrected_mean(y, f, f_all):
    """Value, low and high of the mean of y: n human-judged queries, N with LLM labels."""
    n, mean_y, mean_f, mean_all = len(y), sum(y) / len(y), sum(f) / len(f), sum(f_all) / len(f_all)
    s_ff = sum((b - mean_f) ** 2 for b in f)
    s_fy = sum((b - mean_f) * (a - mean_y) for a, b in zip(y, f, strict=True))
    slope = min(1.0, max(0.0, s_fy / s_ff))
    errors = sum((a - mean_y - slope * (b - mean_f)) ** 2 for a, b in zip(y, f, strict=True))
    var_y = sum((a - mean_y) ** 2 for a in y) / (n - 1)
    var_all = sum((b - mean_all) ** 2 for b in f_all) / (len(f_all) - 1)
    residual = max(errors / (n - 2), (errors + var_y) / (n - 1))
    variance = residual * (1 / n + (mean_all - mean_f) ** 2 / s_ff) + slope**2 * var_all / len(f_all)
    value, half = mean_y + slope * (mean_all - mean_f), stats.t.ppf(0.975, n - 2) * sqrt(variance)
    return value, value - half, value + half


def chances(new, old):
    """How likely each document of one query is sampled: by how much its discount differs, ranks from best to worst."""

    def discount(scores, doc):
        rank = 1 + sum(score > scores[doc] for score in scores)
        return 1 / log2(1 + rank) if rank <= 10 else 0.0

    sizes = [abs(discount(new, doc) - discount(old, doc)) for doc in range(len(new))]
    return [size / sum(sizes) if sum(sizes) else 0.0 for size in sizes]


def agreement(human, llm, query):
    """Share of documents with the same grade, and its 95 % interval by the delta method over queries."""
    queries = sorted(set(query))
    same = [sum(a == b for a, b, q in zip(human, llm, query, strict=True) if q == one) for one in queries]
    size = [query.count(one) for one in queries]
    share, n = sum(same) / sum(size), len(queries)
    error = sqrt(n / (n - 1) * sum((a - share * b) ** 2 for a, b in zip(same, size, strict=True))) / sum(size)
    half = stats.t.ppf(0.975, n - 1) * error
    return share, share - half, share + half
