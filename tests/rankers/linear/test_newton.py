import numpy as np
import pytest
from scipy.special import expit

from rulerank.rankers.linear.newton import Point, minimise


def bowl(matrix, centre):
    """Half of (x - centre)' matrix (x - centre)."""

    def function(x):
        return Point(0.5 * (x - centre) @ matrix @ (x - centre), matrix @ (x - centre), matrix)

    return function


def softplus(slopes, offsets):
    """Sum of log(1 + exp(slope.x + offset)): convex, and not a parabola."""

    def function(x):
        margin = slopes @ x + offsets
        chance = expit(margin)
        return Point(
            float(np.logaddexp(0, margin).sum()), slopes.T @ chance, (slopes.T * chance * (1 - chance)) @ slopes
        )

    return function


def test_steps_that_overshoot_are_halved():
    steep = softplus(np.array([[40.0], [-1.0]]), np.array([-30.0, 30.0]))  # nearly straight at 0, then a wall
    asked = []
    found = minimise(lambda x: (asked.append(x), steep(x))[1], 1)
    assert len(asked) > found.n_iter + 1
    assert found.converged
    assert 0.5 * found.gradient_norm**2 * found.covariance[0, 0] < 1e-14 * found.value  # what is left to gain
    assert found.value <= min(steep(x).value for x in np.linspace(-2, 4, 6_001)[:, None]) + 1e-9


def test_a_flat_direction_is_left_alone():
    matrix = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])  # only x0 + x1 counts
    found = minimise(bowl(matrix, np.array([4.0, 0.0, 1.0])), 3)
    assert found.x == pytest.approx([2.0, 2.0, 1.0])
    assert found.flat.tolist() == [True, True, False]
    assert found.covariance[2, 2] == pytest.approx(0.5)


def test_a_minimum_at_infinity_is_called_so():
    found = minimise(softplus(np.array([[-1.0]]), np.zeros(1)), 1)
    assert found.diverging
    assert found.x[0] > 10
