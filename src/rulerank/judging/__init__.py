"""People give the grades: the label store, the loop that says what to judge next, and how well raters agree."""

from importlib.util import find_spec

from rulerank.errors import MissingExtraError

if find_spec("sqlalchemy") is None:
    raise MissingExtraError("judge", "SQLAlchemy")
