"""What is printed adds up: the numbers of every text are read and added, for every ranker."""

import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from contract_checks import obvious_synthetic
from rulerank.explain.explanation import Explanation
from rulerank.render.document import Bar, Page, Section, Table, in_digits, summed, units
from test_contract import MIXTURES, RANKERS

NUMBER = r"-?[\d]+\.\d+"
SIGNED = r"[+-]\d+\.\d+"


def noisy_synthetic(seed):
    """Nine features, of which many have a part: some of a list are left out. Values may be missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 9)).round(2)
    X[rng.random(X.shape) < 0.05] = np.nan
    score = np.nan_to_num(X) @ rng.normal(size=9) + rng.normal(size=120)
    return X, np.digitize(score, [0.5, 2.0]), np.repeat(np.arange(10), 12)


FITTED = {}


def fitted(name, seed):
    if (name, seed) not in FITTED:
        X, y, qid = noisy_synthetic(seed)
        FITTED[name, seed] = {**RANKERS, **MIXTURES}[name]().fit(X, y, qid=qid), X[:12]
    return FITTED[name, seed]


def parts_of(lines, between=": "):
    """The numbers that lines begin with."""
    found = [re.match(rf"({SIGNED}){between}", line) for line in lines]
    return [Decimal(one[1]) for one in found if one]


def tables(page: Page):
    blocks = [part for block in page.blocks for part in (block.parts if isinstance(block, Section) else [block])]
    return [block for block in blocks if isinstance(block, Table)]


def bars_of(table: Table):
    return [Decimal(str(cell)) for row in table.rows for cell in row if isinstance(cell, Bar)]


EXPLAINED = [*RANKERS, *MIXTURES]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", EXPLAINED)
def test_the_printed_parts_of_a_score_add_up_to_the_printed_score(name, seed):
    ranker, own = fitted(name, seed)
    for row in range(4):
        why = ranker.explain(own, row)
        for n in (1, 3, 5, 100):
            lead, *lines = why.lines(n)
            score = Decimal(re.match(rf"row {row + 1} scores ({NUMBER})[.:]", lead)[1])
            base = re.search(rf"It starts from ({NUMBER}),", lead)
            start = Decimal(base[1]) if base else Decimal(0)
            assert start + sum(parts_of(lines)) == score
            assert len(parts_of(lines)) == len(lines) <= n + 1
            assert float(score) == pytest.approx(why.score, abs=0.51 * 10.0**-why.digits)
            moved = re.search(rf"(raise|lower)s? it by ({NUMBER})\.", lead)
            assert not moved or start + (Decimal(moved[2]) if moved[1] == "raise" else -Decimal(moved[2])) == score
        check_page(why)


def check_page(why: Explanation):
    page = why.page()
    score = Decimal(re.search(rf"scores ({NUMBER})$", page.title)[1])
    features, *others = tables(page)
    note = re.match(rf"(?:({NUMBER}) and )?these add up to ({NUMBER})[;.]", features.note)
    start = Decimal(note[1] or 0)
    assert Decimal(note[2]) == score == start + sum(bars_of(features))
    for table in others:
        if table.title == "The strongest rules":
            assert start + sum(bars_of(table)) == score


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", EXPLAINED)
def test_the_printed_parts_of_a_difference_add_up_to_the_printed_difference(name, seed):
    ranker, own = fitted(name, seed)
    for row in range(4):
        versus = ranker.explain(own, row, versus=row + 5)
        for n in (1, 3, 5, 100):
            lead, *lines = versus.lines(n)
            said = re.match(rf"row \d+ scores ({NUMBER}) and row \d+ ({NUMBER}): a difference of ({NUMBER})\.", lead)
            high, low, difference = map(Decimal, said.groups()) if said else (0, 0, 0)
            assert said or versus.tied
            assert high - low == difference == sum(parts_of(lines, " from "))
            assert len(parts_of(lines, " from ")) <= n + 1
        by_feature, *_ = tables(versus.page())
        assert f"These add up to the difference, {difference}." in by_feature.note or versus.tied
        assert sum(bars_of(by_feature)) == difference


@pytest.mark.parametrize("name", EXPLAINED)
def test_the_cards_of_a_ranking_add_up(name):
    ranker, own = fitted(name, 0)
    data = rr.Dataset(own, np.zeros(len(own), dtype=int), np.zeros(len(own)))
    page = ranker.explain_query(data, baseline="f1", n=12).page()
    whole, *_ = tables(page)
    cards = [block for block in page.blocks if isinstance(block, Section)]
    assert len(cards) == 12
    for row, card in zip(whole.rows, cards, strict=True):
        table = next(part for part in card.parts if isinstance(part, Table))
        mean, score = map(Decimal, re.match(rf"With ({NUMBER}),.* these add up to ({NUMBER})\.", table.note).groups())
        assert mean + sum(bars_of(table)) == score == Decimal(str(row[-2])) == mean + Decimal(str(row[-1]))
        moved = [line for part in card.parts if not isinstance(part, Table) for line in part.sentences]
        for line in moved:
            said = re.match(rf"The difference of the two scores is ({NUMBER}), made up of (.*)\.$", line)
            if said:
                assert sum(map(Decimal, re.findall(rf"({SIGNED}) from", said[2]))) == Decimal(said[1])
    assert any(block.title == "Why it moved" for card in cards for block in card.parts)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=12), st.integers(1, 6))
def test_no_printed_part_is_further_from_the_truth_than_one_in_its_last_digit(parts, digits):
    total = units(sum(parts), digits)
    printed = [Decimal(str(bar)) for bar in summed(parts, total, digits)]
    assert sum(printed) == Decimal(in_digits(total, digits))
    for part, own in zip(parts, printed, strict=True):
        assert abs(Decimal(part) - own) < Decimal(10) ** -digits * Decimal("1.01")


def test_a_sum_that_is_wrong_is_not_made_right():
    assert [str(bar) for bar in summed([0.1, 0.2], units(0.9, 1), 1)] == ["+0.2", "+0.3"]


def test_the_baseline_ranking_is_named_where_it_is_the_largest_part():
    data, name, seen = rr.Dataset(*noisy_synthetic(3)), "baseline ranking f1", 0
    ranker = rr.Anchored(baseline="f1").fit(data[:24])
    for query in range(10):
        versus = ranker.explain(data[data.qid == query], 0, versus=1)
        assert versus.base_difference == 0
        if max(versus.features, key=lambda gap: gap.adds).feature == name:
            seen += 1
            assert f"is ahead mostly because of {name} (" in versus.page().lead[1]
            assert any(f" from {name}: " in line for line in versus.lines())
    assert seen > 3
    assert ranker.overview(data).features[0].feature == name
    assert f">{name}</td>" in ranker.explain_query(data, 0, baseline="f1").to_html()


def test_a_member_that_starts_from_a_baseline_ranking_adds_up_too():
    X, y, qid = obvious_synthetic(seed=2)
    members = {"few": rr.Anchored(baseline=0), "rules": rr.GlobalRules()}
    ranker = rr.Competence(members).fit(X, y, qid=qid)
    own = X[qid == qid[0]]
    why = ranker.explain(own, 0)
    assert why.base + sum(share.adds for share in why.features) == pytest.approx(why.score, abs=1e-9)
    assert "baseline ranking of members" in {share.feature for share in why.features}
    check_page(why)
    assert ranker.feature_importances_.shape == (X.shape[1],)
