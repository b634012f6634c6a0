"""The estimator protocol of scikit-learn, without importing scikit-learn, which takes longer than most commands.

`Estimator` has the parameters, the text form and the copy of an estimator. Everything else that scikit-learn looks for
(tags, metadata routing, `set_output`, the HTML view) comes from scikit-learn's own base classes, at the moment when
somebody asks for it.
"""

from __future__ import annotations

import inspect
import sys
import types
from copy import deepcopy
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

T = TypeVar("T")
ON_DEMAND = ("set_", "get_metadata_routing", "get_feature_names_out", "_repr_mimebundle_")  # people ask for them, too
FLOATS = [np.dtype(np.float32), np.dtype(np.float64)]  # values of other types become the first
SHOWN = 700  # characters of an estimator's text form


class Estimator:
    """An estimator with parameters that `__init__` stores under their names.

    >>> class Cutter(Estimator):
    ...     def __init__(self, n_bins=10, side="left"): self.n_bins, self.side = n_bins, side
    >>> Cutter(side="right").set_params(n_bins=3)
    Cutter(n_bins=3, side='right')
    >>> Cutter(n_bins=3).get_params()
    {'n_bins': 3, 'side': 'left'}
    >>> clone(Cutter(n_bins=3))
    Cutter(n_bins=3)
    """

    # scikit-learn's base classes, whose methods are borrowed: names in sklearn.base
    sklearn_bases: ClassVar[tuple[str, ...]] = ("BaseEstimator",)
    # what scikit-learn routes to a method: True, or False for an argument that it must not route
    routed: ClassVar[dict[str, dict[str, bool]]] = {}

    n_features_in_: int
    feature_names_in_: Any  # array of the names, where fit was given names

    @classmethod
    def _get_param_names(cls) -> list[str]:
        given = inspect.signature(cls.__init__).parameters.values()
        return sorted(one.name for one in given if one.name != "self" and one.kind is not one.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; deep: also those of estimators among them, as name__parameter."""
        params = {}
        for name in self._get_param_names():
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{key}": own for key, own in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; name__parameter sets one of an estimator among them."""
        known, inner = self._get_param_names(), dict[str, dict[str, Any]]()
        for key, value in params.items():
            name, nested, rest = key.partition("__")
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
            if nested:
                inner.setdefault(name, {})[rest] = value
            else:
                setattr(self, name, value)
        for name, own in inner.items():
            getattr(self, name).set_params(**own)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        params = self.get_params(deep=False).items()
        changed = ", ".join(f"{name}={own!r}" for name, own in params if repr(own) != repr(defaults[name].default))
        text = f"{type(self).__name__}({changed})"
        return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]}...{text[-SHOWN // 2 :]}"

    def __sklearn_clone__(self) -> Self:
        made = type(self)(**{name: clone(own) for name, own in self.get_params(deep=False).items()})
        asked = ("_metadata_request", "_sklearn_output_config")  # what scikit-learn is to route and to return
        vars(made).update({name: deepcopy(own) for name, own in vars(self).items() if name in asked})
        return made

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "params_")

    def __getattr__(self, name: str) -> Any:
        """Borrow what scikit-learn's base classes have and this class has not."""
        asked_by_sklearn = name.startswith("_") and not name.startswith("__") and "sklearn.base" in sys.modules
        if name.startswith(ON_DEMAND) or asked_by_sklearn:
            ours, full = type(self).__mro__, _with_sklearn(cast(Any, type(self)))
            for base in full.__mro__:
                if base not in ours and name in vars(base):
                    found = vars(base)[name]
                    return found.__get__(self, full) if hasattr(found, "__get__") else found
        return object.__getattribute__(self, name)  # raises the usual error, or that of a property


@cache
def _with_sklearn(owner: Any) -> type:
    """Return a class of the same name that inherits from scikit-learn's base classes, too: the one to borrow from."""
    import sklearn.base
    from sklearn.utils.metadata_routing import UNUSED

    requests = {
        f"__metadata_request__{method}": {key: True if asked else UNUSED for key, asked in keys.items()}
        for method, keys in owner.routed.items()
    }
    bases = tuple(getattr(sklearn.base, name) for name in owner.sklearn_bases)
    return types.new_class(owner.__name__, (owner, *bases), exec_body=lambda own: own.update(requests))


def clone(estimator: T) -> T:
    """Return an unfitted copy with the same parameters, of an estimator of any library; other values are copied."""
    if isinstance(estimator, Estimator):
        return cast(T, estimator.__sklearn_clone__())
    if hasattr(estimator, "get_params") and not isinstance(estimator, type):
        from sklearn.base import clone as clone_of_sklearn

        return cast(T, clone_of_sklearn(estimator))
    return deepcopy(estimator)


def check_is_fitted(estimator: Estimator) -> None:
    """Raise scikit-learn's NotFittedError unless the estimator is fitted.

    >>> check_is_fitted(Estimator())
    Traceback (most recent call last):
    sklearn.exceptions.NotFittedError: This Estimator instance is not fitted yet. Call 'fit' before you use it.
    """
    if not estimator.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' before you use it."
        )


def validate(
    estimator: Any, X: Any, *, reset: bool, least: int = 1, order: str | None = None, dtypes: Any = FLOATS
) -> Any:
    """Return X as a float32 or float64 matrix, infinities and NaN included, and note or compare its columns.

    reset: note the number and names of the columns (in `fit`); else they must be those noted.
    An array that is right already is returned as it is. Everything else goes through scikit-learn's own validation.
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and X.shape[0] >= least and X.shape[1]:
        if reset:
            estimator.n_features_in_ = X.shape[1]
            vars(estimator).pop("feature_names_in_", None)
        if X.shape[1] == estimator.n_features_in_ and "feature_names_in_" not in vars(estimator):
            return np.ascontiguousarray(X) if order == "C" else X
    from sklearn.utils.validation import validate_data

    return validate_data(
        estimator, X, reset=reset, dtype=dtypes, order=order, ensure_all_finite=False, ensure_min_samples=least
    )


def in_asked_container(estimator: Any, values: Any, X: Any) -> Any:
    """Return what `transform` found in the container that `set_output` asked for: an array, unless it was called."""
    if "sklearn.base" not in sys.modules:
        return values
    from sklearn.utils._set_output import _wrap_data_with_container

    return _wrap_data_with_container("transform", values, X, estimator)
