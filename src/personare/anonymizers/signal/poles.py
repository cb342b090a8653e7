"""The poles of many short frames of speech at once: LPC polynomials split into pairs of poles.

A(z) = z^p + a_1 z^(p-1) + ... + a_p is split into real factors z^2 + u z + v: two complex poles or two real ones.

Real poles are bracketed by the signs of A on a grid of [-1, 1] and refined by guarded Newton steps. The complex poles
of the upper half plane are found together by the Ehrlich-Aberth iteration [aberth1973], each root repelled by all the
others and by their mirror images, which converges cubically. Frames that do not settle (double real poles between two
grid points), or whose factors do not multiply out, are solved as eigenvalues of the companion matrix.

Every number is made by elementwise real arithmetic on one frame's own values, and a frame leaves the iteration when it
has settled: its poles are the same bits whatever other frames are in the batch. Streaming relies on that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_GRID = np.cos(np.linspace(np.pi, 0.0, 66))  # denser towards -1 and 1, where real poles live; 0 is not on it
_STARTING_RADIUS = 0.9
_MAX_STEPS = 18
_SMALL = 20_000
_MULTIPLIES_OUT = 1e-10  # largest error of a product of factors, relative to the largest coefficient
_SETTLED = 1e-6  # a cubic step this small leaves an error below float64


def pole_pairs(a: Floats) -> tuple[Floats, Floats]:
    """Split polynomials into quadratic factors z^2 + u z + v.

    Parameters
    ----------
    a : [p + 1, frames], ``a[0] == 1``, all roots inside the unit circle.

    Returns
    -------
    u, v : [ceil(p / 2), frames]; an odd p is completed by a pole at zero.

    >>> u, v = pole_pairs(np.array([[1.0], [-1.0], [0.5]]))
    >>> u.round(12).tolist(), v.round(12).tolist()
    ([[-1.0]], [[0.5]])
    """
    u, v = np.zeros((len(a) // 2, a.shape[1])), np.zeros((len(a) // 2, a.shape[1]))
    degrees = len(a) - 1 - (a[::-1] != 0).argmax(axis=0)  # trailing zeros are poles at zero: nothing to find
    for degree in np.unique(degrees[degrees > 0]):
        columns = np.flatnonzero(degrees == degree)
        some_u, some_v = _full_degree(a[: degree + 1, columns])
        u[: len(some_u), columns], v[: len(some_v), columns] = some_u, some_v
    return u, v


def _full_degree(a: Floats) -> tuple[Floats, Floats]:
    """Split polynomials whose last coefficient is not zero, those with equally many real roots together."""
    u, v = np.zeros((len(a) // 2, a.shape[1])), np.zeros((len(a) // 2, a.shape[1]))
    owner, root = _real_roots(a)
    counts = np.bincount(owner, minlength=a.shape[1])
    for count in np.unique(counts):
        columns = np.flatnonzero(counts == count)
        reals = root[counts[owner] == count].reshape(len(columns), count).T
        if (len(a) - 1 - count) % 2 == 0:
            x, y = _upper_roots(a[:, columns], reals)
            u[:, columns], v[:, columns] = _as_factors(x, y, reals)
    with np.errstate(all="ignore"):
        error = np.abs(expand(u, v)[: len(a)] - a).max(axis=0)
    for column in np.flatnonzero(~(error < _MULTIPLIES_OUT * np.abs(a).max(axis=0))):
        u[:, column], v[:, column] = _by_eigenvalues(a[:, column])
    return u, v


def expand(u: Floats, v: Floats) -> Floats:
    """Multiply factors z^2 + u z + v [pairs, frames] out to polynomials [2 pairs + 1, frames].

    >>> expand(np.array([[-1.0], [0.0]]), np.array([[0.5], [0.25]])).ravel().tolist()
    [1.0, -1.0, 0.75, -0.25, 0.125]
    """
    a = np.zeros((2 * len(u) + 1, u.shape[1]))
    a[0] = 1.0
    # neighbours on the circle multiplied first would swell to numbers that must cancel later: take them far apart
    order = np.argsort((np.arange(len(u)) * 0.6180339887498949) % 1.0)
    for done, i in enumerate(order):
        known = a[: 2 * done + 1].copy()
        a[1 : 2 * done + 2] += u[i] * known
        a[2 : 2 * done + 3] += v[i] * known
    return a


def _as_factors(x: Floats, y: Floats, reals: Floats) -> tuple[Floats, Floats]:
    """Join complex roots x ± iy [m, frames] and real ones [r, frames], two by two, to factors."""
    if len(reals) % 2:
        reals = np.concatenate([reals, np.zeros_like(reals[:1])])
    left, right = reals[0::2], reals[1::2]
    return np.concatenate([-2 * x, -(left + right)]), np.concatenate([x * x + y * y, left * right])


def _real_roots(a: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Find the real roots in [-1, 1]: the frame each belongs to (ascending) and its value."""
    positive = np.zeros((len(_GRID), a.shape[1])) + 1.0
    for k in range(1, len(a)):
        positive *= _GRID[:, None]
        positive += a[k]
    signs = positive > 0
    owner, left = np.nonzero((signs[1:] != signs[:-1]).T)
    low, high, low_sign = _GRID[left], _GRID[left + 1], signs[left, owner]
    x = 0.5 * (low + high)
    going = np.arange(len(x))
    for _ in range(_MAX_STEPS):
        x[going], low[going], high[going], step = _guarded_newton(
            a[:, owner[going]], x[going], low[going], high[going], low_sign[going]
        )
        going = going[np.abs(step) > _SETTLED]
        if not len(going):
            break
    return owner, x


def _guarded_newton(
    a: Floats,
    x: Floats,
    low: Floats,
    high: Floats,
    low_sign: NDArray[np.bool_],
) -> tuple[Floats, Floats, Floats, Floats]:
    """Take one Newton step, or halve the bracket where Newton would leave it."""
    value, slope = np.ones_like(x), np.zeros_like(x)
    for k in range(1, len(a)):
        slope = slope * x + value
        value = value * x + a[k]
    same = (value > 0) == low_sign
    low, high = np.where(same, x, low), np.where(same, high, x)
    newton = x - value / np.where(slope == 0, np.inf, slope)
    inside = (newton >= low) & (newton <= high) & (slope != 0)
    new = np.where(inside, newton, 0.5 * (low + high))
    return new, low, high, new - x


def _upper_roots(a: Floats, reals: Floats) -> tuple[Floats, Floats]:
    """Find the roots x + iy, y > 0, [m, frames], given the real ones [r, frames]."""
    pairs = (len(a) - 1 - len(reals)) // 2
    angles = (np.arange(pairs) + 0.5) * (np.pi / max(pairs, 1))
    x = np.repeat(_STARTING_RADIUS * np.cos(angles)[:, None], a.shape[1], axis=1)
    y = np.repeat(_STARTING_RADIUS * np.sin(angles)[:, None], a.shape[1], axis=1)
    going = np.arange(a.shape[1])
    found_x, found_y = x.copy(), y.copy()
    for _ in range(_MAX_STEPS if pairs else 0):
        with np.errstate(all="ignore"):  # what runs away does not multiply out, and is caught there
            step_x, step_y = _aberth_step(a, x, y, reals)
            x, y = x - step_x, y - step_y
            left = ~((step_x * step_x + step_y * step_y).max(axis=0) < _SETTLED**2)
        found_x[:, going], found_y[:, going] = x, y
        if left.all():
            continue
        going, x, y, a, reals = going[left], x[:, left], y[:, left], a[:, left], reals[:, left]
        if not len(going):
            break
    return found_x, found_y


def _aberth_step(a: Floats, x: Floats, y: Floats, reals: Floats) -> tuple[Floats, Floats]:
    """Give the Ehrlich-Aberth correction w = N / (1 - N T), N = A / A', T = sum of 1 / (z - other root)."""
    value_x, value_y, slope_x, slope_y = _horner(a, x, y)
    repulsion_x, repulsion_y = _repulsion(x, y, reals)
    # w = A / (A' - A T): one division
    below_x = slope_x - (value_x * repulsion_x - value_y * repulsion_y)
    below_y = slope_y - (value_x * repulsion_y + value_y * repulsion_x)
    scale = 1.0 / (below_x * below_x + below_y * below_y)
    return (value_x * below_x + value_y * below_y) * scale, (value_y * below_x - value_x * below_y) * scale


def _horner(a: Floats, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Evaluate A and A' at z = x + iy through real divisions by z^2 + u z + v (half the work of complex Horner)."""
    u, v = -2 * x, x * x + y * y
    before, last = np.zeros_like(x), np.ones_like(x)  # quotient coefficients b_(k-2), b_(k-1)
    first, second = np.zeros_like(x), np.zeros_like(x)  # the same recursion on the quotient, for the derivative
    product = np.empty_like(x)
    for k in range(1, len(a) - 1):
        # second <- last - u second - v first, then last <- a_k - u last - v before; in place, as this is the hot loop
        first *= v
        first += np.multiply(u, second, out=product)
        first, second = second, np.subtract(last, first, out=first)
        before *= v
        before += np.multiply(u, last, out=product)
        before, last = last, np.subtract(a[k], before, out=before)
    # A(z) = r1 z + r0, quotient S(z) = s1 z + s0 modulo the factor; A'(z) = (2z + u) S(z) + r1 and 2z + u = 2iy
    remainder_1, remainder_0 = last, a[-1] - v * before
    quotient_1, quotient_0 = first, second + u * first
    value_x, value_y = remainder_1 * x + remainder_0, remainder_1 * y
    slope_x, slope_y = remainder_1 - 2 * y * (quotient_1 * y), 2 * y * (quotient_1 * x + quotient_0)
    return value_x, value_y, slope_x, slope_y


def _repulsion(x: Floats, y: Floats, reals: Floats) -> tuple[Floats, Floats]:
    """Sum 1 / (z - z_j) over the mirror image of z, the real roots, and the other pairs: (2z + u) / (z^2 + u z + v)."""
    total_x, total_y = np.zeros_like(x), -0.5 / y
    for real in reals:
        gap = x - real
        scale = 1.0 / (gap * gap + y * y)
        total_x += gap * scale
        total_y -= y * scale
    point = x, y, 2 * x, 2 * y, x * x - y * y
    ring_u, ring_v = np.concatenate([-2 * x] * 2), np.concatenate([x * x + y * y] * 2)
    count = len(x)
    if count * x.size <= _SMALL:  # a live stream: few numbers, so few calls count; the sums run in the same order
        others = np.arange(1, count)[:, None] + np.arange(count)
        terms_x, terms_y = _repulsion_terms(point, ring_u[others], ring_v[others])
        return np.add.reduce([total_x, *terms_x], axis=0), np.add.reduce([total_y, *terms_y], axis=0)
    for shift in range(1, count):
        term_x, term_y = _repulsion_terms(point, ring_u[shift : shift + count], ring_v[shift : shift + count])
        total_x += term_x
        total_y += term_y
    return total_x, total_y


def _repulsion_terms(point: tuple[Floats, ...], u: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Evaluate (2z + u) / (z^2 + u z + v) at z = x + iy, given x, y, 2x, 2y and the real part of z^2."""
    x, y, x2, above_y, square_x = point
    above_x = x2 + u
    below_x = u * x
    below_x += square_x
    below_x += v
    below_y = y * above_x
    scale = below_x * below_x
    scale += below_y * below_y
    np.divide(1.0, scale, out=scale)
    term_x, term_y = above_x * below_x, above_y * below_x
    term_x += above_y * below_y
    term_y -= np.multiply(above_x, below_y, out=below_y)
    term_x *= scale
    term_y *= scale
    return term_x, term_y


def _by_eigenvalues(a: Floats) -> tuple[Floats, Floats]:
    """Factor one polynomial [p + 1] by the eigenvalues of its companion matrix."""
    companion = np.eye(len(a) - 1, k=-1)
    companion[0] = -a[1:]
    roots = np.linalg.eigvals(companion)
    x, y = roots.real.astype(np.float64), roots.imag.astype(np.float64)
    return _as_factors(x[y > 0], y[y > 0], np.sort(x[y == 0]))
