"""How a campaign is carried out, as opposed to what it is, and how its run may end."""

from dataclasses import dataclass
from enum import Enum, auto


@dataclass(frozen=True, slots=True)
class Execution:
    """Options of a run, none of which changes a sample."""

    jobs: int = 1
    """Samples side by side; more than one needs the lab's virtual clock."""
    keep_going: bool = False
    """Whether to continue though every sample of the first block is void for one reason."""
    reboot: tuple[str, ...] | None = None
    """Boot the kernels that arms name, by systemd and the bootloader, with these arguments of ``runoff resume`` after
    each boot; None means that kernels are booted by hand."""
    trusts_directory: bool = False
    """Whether root uses a directory in which other users may write."""
    takes_over: bool = False
    """Whether a service that has a scheduler in charge of this machine is stopped, and started again at the end."""
    cluster: str | None = None
    """Address of a cluster that takes the samples (docs/cluster.md); ``jobs`` is of no account then."""


class Ending(Enum):
    """How far a campaign came."""

    COMPLETE = auto()
    STOPPED = auto()
    """Because the user wanted it."""
    HOPELESS = auto()
    """The first block is void throughout, for one reason."""
    OTHER_KERNEL = auto()
    """The next samples need another kernel of this machine."""
