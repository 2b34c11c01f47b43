"""Many tasks that begin at one moment: each soon has its share, and no more."""

from dataclasses import dataclass
from string import ascii_lowercase

import pytest
from copies import Copies, MakeCopies
from hogs import SLOW_CPU
from scenes import ON_FOR_EVER, Scene, play

pytestmark = [pytest.mark.lab]

CPUS = 2
EACH = 10
"""Actors of one script; a scene tells of 16 at most."""


@dataclass(frozen=True)
class Crowd:
    era: str
    size: int
    credit_ms: float
    """How far a task that has slept for long comes before one that has just run."""
    turn_ms: float

    @property
    def first_ms(self) -> float:
        """Who ran last before the others woke waits for the credit of each, and then for its turn in the next round."""
        return self.size / CPUS * (self.credit_ms + 2 * self.turn_ms)


CROWDS = [Crowd("3.6", 300, 6, 4), Crowd("2.6.31", 100, 40, 8)]


@pytest.fixture(scope="module")
def two_cpus(copies: MakeCopies) -> Copies:
    return copies(cpus=CPUS, memory_mb=1024, instruction_shift=SLOW_CPU)


@pytest.mark.parametrize("crowd", CROWDS, ids=str)
def test_each_of_a_crowd_under_cfs_has_its_share(crowd: Crowd, two_cpus: Copies) -> None:
    names = [f"hog{one}{other}" for one in ascii_lowercase for other in ascii_lowercase][: crowd.size // EACH]
    scripts = [f"{name}*{EACH}: {ON_FOR_EVER}" for name in names]
    wanted = [f"{name}{number}" for name in names for number in range(EACH)]
    seconds = 3
    seen = play(two_cpus, "cfs", Scene(scripts, wanted, seconds, {"era": crowd.era}))
    assert max(seen[f"{name}.cpu_s"] for name in wanted) < 3 * seconds * CPUS / crowd.size
    assert max(seen[f"{name}.first_ms"] for name in wanted) < crowd.first_ms
