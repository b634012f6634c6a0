"""What voted for one score, for every kind of ranker: rankers make ballots, `explain` reads them.

A `Ballot` (`ballot.py`, with the loops of `kernels.py`) holds the cells of one document, what each adds, and what is
left without some of them. A `Case` (`case.py`) is a ballot with words, which a ranker's `case` returns: `rule_cases.py`
makes it of rules, `query_cases.py` of training queries, `mixture_cases.py` of members, `linear_cases.py` of weights,
`table_cases.py` of tables. `BinForm`, `LinearForm` and `TableForm` are whole models as functions, for explanations that
try things out.
"""

from rulerank.ballots.ballot import Ballot
from rulerank.ballots.case import Case, GradeVote, MakesCases, MemberVote, QueryVote
from rulerank.ballots.linear_cases import LinearForm
from rulerank.ballots.rule_cases import BinForm
from rulerank.ballots.table_cases import TableForm

__all__ = ["Ballot", "BinForm", "Case", "GradeVote", "LinearForm", "MakesCases", "MemberVote", "QueryVote", "TableForm"]
