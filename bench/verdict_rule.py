"""The rule of `runoff.statistics` for many tables at once, and what it is compared with.

It is written a second time, for arrays, so that ten thousand tables take a second. A test holds it to the first.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special
from verdict_scenarios import Array, Tables

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answers for each table and arm but the baseline; intervals are of log ratios, or of differences where values
    are not positive."""

    low: Array
    high: Array
    separated: Array
    """+ or - by the table alone."""
    same: Array
    p: Array
    """p of one comparison by itself, 1 where nothing is tested."""
    within: Array
    """It would be the same with blocks enough."""

    @property
    def half(self) -> Array:
        return (self.high - self.low) / 2


def judge(tables: Tables, margin: float = 0.02, rare: float = 0.05, alpha: float = 0.05) -> Judgement:
    """As ``runoff.statistics.analyse`` does, for a metric of which less is better."""
    base, arm = tables.values[:, :, :1], tables.values[:, :, 1:]
    logs = np.nanmin(np.concatenate([np.broadcast_to(base, arm.shape), arm], axis=1), axis=1) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        d = np.where(logs[:, None, :], np.log(arm) - np.log(base), arm - base)
    scale = np.where(logs, 1.0, np.nanmax(np.abs(tables.values), axis=(1, 2))[:, None])
    n, mean, sd = _moments(d, scale)
    sd = np.where(n < 5, np.fmax(sd, _pool_sd(sd, logs)), sd) + 0 * sd
    worth = _informative(d, n, mean, sd)
    level = -np.expm1(np.log1p(-alpha) / arm.shape[2])
    half = special.stdtrit(worth - 1, 1 - level / 2) * sd / np.sqrt(worth)
    p_signs = np.minimum(1.0, 2.0 ** (1 - n))
    unknown = (sd == 0) & (mean != 0) & (p_signs > level)
    half = np.where(unknown | _is_confounded(tables, logs), np.inf, half)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * special.stdtr(worth - 1, -np.abs(mean) / (sd / np.sqrt(worth)))
    p = np.where(sd > 0, p, np.where(mean == 0, 1.0, p_signs))
    low, high = mean - half, mean + half
    if arm.shape[2] == 1:
        low, high = _signs(d, n, low, high, level)
        p = np.maximum(p, _p_of_signs(d, n))
    p = np.where(np.isinf(half), 1.0, p)
    step = _step(base, arm, logs)
    within = logs & (low - step >= np.log1p(-margin)) & (high + step <= np.log1p(margin))
    within &= _is_mean_within(base, arm, worth, level, margin - step)
    within |= ~logs & (mean == 0) & (sd == 0) & np.isfinite(step)
    enough = n >= max(10, np.ceil(np.log(0.1) / np.log1p(-rare) - 1e-9))
    separated = ((low > 0) | (high < 0)) & ~within
    return Judgement(low, high, separated, within & enough, p, within)


def judge_campaigns(judged: Judgement, tables: int, alpha: float = 0.05) -> Array:
    """Return for each campaign of several tables whether any arm is better or worse in one, by Holm over all."""
    each = judged.p.reshape(-1, tables * judged.p.shape[1])
    ranked = np.sort(each, axis=1)
    left = each.shape[1] - np.arange(each.shape[1])
    adjusted = np.maximum.accumulate(-np.expm1(left * np.log1p(-np.minimum(ranked, 1 - 1e-15))), axis=1)
    passed = np.sum(adjusted <= alpha, axis=1, keepdims=True)
    stands = np.argsort(np.argsort(each, axis=1, kind="stable"), axis=1) < passed
    return (stands & judged.separated.reshape(each.shape)).any(axis=1)


def _moments(d: Array, scale: Array) -> tuple[Array, Array, Array]:
    n = np.sum(~np.isnan(d), axis=1).astype(float)
    mean, sd = np.nanmean(d, axis=1), np.nanstd(d, axis=1, ddof=1)
    constant = np.nanmax(d, axis=1) - np.nanmin(d, axis=1) <= ROUNDING * scale
    mean = np.where(constant & (np.abs(mean) <= ROUNDING * scale), 0.0, mean)
    return n, mean, np.where(constant, 0.0, sd)


def _pool_sd(sd: Array, logs: Array) -> Array:
    """Return the SD of all arms of each table together; 0 of fewer than two, or of different kinds."""
    pooled = np.sqrt(np.nanmean(sd**2, axis=1, keepdims=True))
    alike = (np.sum(~np.isnan(sd), axis=1, keepdims=True) > 1) & (logs == logs[:, :1]).all(axis=1, keepdims=True)
    found: Array = np.where(alike, pooled, 0.0)
    return found


def _step(base: Array, arm: Array, logs: Array) -> Array:
    """The smallest gap of distinct values of both, in times of a value where there are ratios; 0 where all values are
    distinct, infinite where they are one number."""
    void = np.isnan(base) | np.isnan(arm)
    values = np.concatenate([np.where(void, np.nan, base), np.where(void, np.nan, arm)], axis=1)
    gaps = np.diff(np.sort(values, axis=1), axis=1)
    gaps = np.where(gaps <= ROUNDING * np.nanmax(np.abs(values), axis=1, keepdims=True), np.inf, gaps)
    smallest = np.nanmin(np.where(np.isnan(gaps), np.inf, gaps), axis=1)
    ties = np.isinf(gaps).any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(ties, np.where(logs, smallest * np.nanmean(1 / values, axis=1), smallest), 0.0)


def _signs(d: Array, n: Array, low: Array, high: Array, level: float) -> tuple[Array, Array]:
    """Widened to what signs alone support at 1.2 times the level, for 8 to 14 blocks: ordered means of all subsets."""
    packed = _pack(d)[:, :, 0]
    for blocks in range(8, 15):
        which = np.nonzero(n[:, 0] == blocks)[0]
        members = ((np.arange(1, 2**blocks)[:, None] >> np.arange(blocks)) & 1).astype(float)
        out = int(1.2 * level * 2**blocks / 2 + 1e-9)
        for part in np.array_split(which, max(1, len(which) // 500)) if len(which) else ():
            means = packed[part, :blocks] @ members.T / members.sum(axis=1)
            means.partition((out - 1, means.shape[1] - out), axis=1)
            low[part, 0] = np.minimum(low[part, 0], means[:, out - 1])
            high[part, 0] = np.maximum(high[part, 0], means[:, means.shape[1] - out])
    return low, high


def _p_of_signs(d: Array, n: Array) -> Array:
    """Return what signs alone support, by the same ordered means, at 1.2 times its size; 0 for fewer or more blocks."""
    packed, p = _pack(d)[:, :, 0], np.zeros((len(d), 1))
    for blocks in range(8, 15):
        which = np.nonzero(n[:, 0] == blocks)[0]
        members = ((np.arange(1, 2**blocks)[:, None] >> np.arange(blocks)) & 1).astype(float)
        for part in np.array_split(which, max(1, len(which) // 500)) if len(which) else ():
            means = packed[part, :blocks] @ members.T / members.sum(axis=1)
            slower = np.mean(packed[part, :blocks], axis=1) > 0
            beyond = np.where(slower, np.sum(means <= 0, axis=1), np.sum(means >= 0, axis=1))
            p[part, 0] = np.minimum(1.0, 2 * (1 + beyond) / 2**blocks) / 1.2
    return p


def _pack(values: Array) -> Array:
    """NaN last, the rest in their order, along the second axis."""
    places = np.argsort(np.isnan(values), axis=1, kind="stable")
    return np.take_along_axis(values, places, axis=1)


def _informative(d: Array, n: Array, mean: Array, sd: Array) -> Array:
    centred = _pack(d) - mean[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.nansum(centred[:, 1:] * centred[:, :-1], axis=1) / np.nansum(centred**2, axis=1)
    certain = (n >= 10) & (sd > 0) & (r >= 2.326 / np.sqrt(n))
    r = np.minimum(np.where(certain, r, 0.0), 0.9)
    return np.where(certain, np.maximum(2.0, n * (1 - r) / (1 + r)), n)


def _is_mean_within(base: Array, arm: Array, worth: Array, level: float, margin: Array) -> Array:
    both = np.isnan(base) | np.isnan(arm)
    base, arm = (np.where(both, np.nan, values) for values in (np.broadcast_to(base, arm.shape), arm))
    centre = np.nanmean(base, axis=1)
    ratio = np.nanmean(arm, axis=1) / centre
    rest = (arm - ratio[:, None, :] * base) / centre[:, None, :]
    half = special.stdtrit(worth - 1, 1 - level / 2) * np.nanstd(rest, axis=1, ddof=1) / np.sqrt(worth)
    return np.abs(ratio - 1) + half <= margin + 1e-14


def _is_confounded(tables: Tables, logs: Array) -> Array:
    """Values drift from block to block, and the arm was on one side of the baseline in all."""
    base, arm = tables.values[:, :, :1], tables.values[:, :, 1:]
    void = np.isnan(base) | np.isnan(arm)
    first = np.where(void, np.nan, tables.positions[:, :, :1] < tables.positions[:, :, 1:])
    one_side = np.nanmin(first, axis=1) == np.nanmax(first, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        level = _pack(np.where(logs[:, None, :], np.log(arm) + np.log(base), arm + base))
    confounded = np.zeros(one_side.shape, dtype=bool)
    table, which = np.nonzero(one_side)
    if not len(table):
        return confounded
    series = level[table, :, which]
    i, j = np.triu_indices(series.shape[1], 1)
    signs = np.sign(series[:, j] - series[:, i])
    n = np.sum(~np.isnan(series), axis=1)
    score = np.nansum(signs, axis=1)
    variance = n * (n - 1) * (2 * n + 5) / 18
    p = 2 * special.ndtr(-np.maximum(0.0, np.abs(score) - 1) / np.sqrt(np.maximum(variance, 1)))
    confounded[table, which] = (n >= 3) & ((np.abs(score) == n * (n - 1) / 2) | (p < 0.05))
    return confounded


def judge_two_way(tables: Tables, alpha: float = 0.05) -> Array:
    """Return half-width of a difference of logs by arms and blocks as factors, one SD, Tukey; of each table."""
    from scipy import stats

    logs = np.log(tables.values)
    _, n, k = logs.shape
    rest = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=2, keepdims=True) + logs.mean((1, 2), keepdims=True)
    df = (n - 1) * (k - 1)
    critical = stats.studentized_range.ppf(1 - alpha, k, df) / np.sqrt(2)
    return np.asarray(critical * np.sqrt(np.sum(rest**2, axis=(1, 2)) / df) * np.sqrt(2 / n))


def judge_one_spread(tables: Tables, alpha: float = 0.05) -> Array:
    """Return which arms Tukey-Kramer separates from the baseline: arms as the only factor, one SD for all of them."""
    from scipy import stats

    n = np.sum(~np.isnan(tables.values), axis=1).astype(float)
    df = n.sum(axis=1) - n.shape[1]
    squares = np.nansum((tables.values - np.nanmean(tables.values, axis=1, keepdims=True)) ** 2, axis=(1, 2))
    critical = stats.studentized_range.ppf(1 - alpha, n.shape[1], df[0]) / np.sqrt(2)
    error = np.sqrt(squares / df)[:, None] * np.sqrt(1 / n[:, :1] + 1 / n[:, 1:])
    means = np.nanmean(tables.values, axis=1)
    return np.asarray(np.abs(means[:, 1:] - means[:, :1]) > critical * error)


def judge_unblocked(tables: Tables, alpha: float = 0.05) -> Array:
    """Return half-widths by Welch's t at Sidak's level: each pair with its own spreads, blind to blocks."""
    logs = np.log(tables.values)
    n, k = logs.shape[1:]
    v = np.var(logs, axis=1, ddof=1) / n
    both = v[:, :1] + v[:, 1:]
    df = both**2 / (v[:, :1] ** 2 + v[:, 1:] ** 2) * (n - 1)
    level = -np.expm1(np.log1p(-alpha) / (k - 1))
    return np.asarray(special.stdtrit(df, 1 - level / 2) * np.sqrt(both))


def pooled_power(k: int, n: int, effect: float, alpha: float = 0.05) -> float:
    """Theory without blocks: Tukey's pairs with one SD, ``effect`` in SDs of a run (noncentral t)."""
    from scipy import stats

    df = k * (n - 1)
    critical = stats.studentized_range.ppf(1 - alpha, k, df) / np.sqrt(2)
    return float(stats.nct.sf(critical, df, effect * np.sqrt(n / 2)))
