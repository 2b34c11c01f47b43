"""Connecting letters: arms that share one are not separated (Piepho 2004, insert and absorb)."""

from collections.abc import Iterable, Sequence
from string import ascii_lowercase


def connect(arms: Sequence[str], separated: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return letters for ``arms``, which are sorted so that the first gets ``a``.

    Each column starts as all arms and is split at every separated pair it contains; a column inside
    another says nothing and is absorbed. After 26 columns letters are doubled (aa, bb).
    """
    columns = [frozenset(arms)]
    for first, second in separated:
        split = []
        for column in columns:
            if first in column and second in column:
                split += [column - {first}, column - {second}]
            else:
                split.append(column)
        columns = _absorb(split)
    place = {arm: index for index, arm in enumerate(arms)}
    columns.sort(key=lambda column: sorted(place[arm] for arm in column))
    return {arm: "".join(_letter(i) for i, column in enumerate(columns) if arm in column) for arm in arms}


def _absorb(columns: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    distinct = list(dict.fromkeys(columns))
    return [column for column in distinct if not any(column < other for other in distinct)]


def _letter(index: int) -> str:
    return ascii_lowercase[index % 26] * (index // 26 + 1)
