"""How a campaign's run may end."""

from enum import Enum, auto


class Ending(Enum):
    """How far a campaign came."""

    COMPLETE = auto()
    STOPPED = auto()
    """Because the user wanted it."""
    HOPELESS = auto()
    """The first block is void throughout, for one reason."""
    OTHER_KERNEL = auto()
    """The next samples need another kernel of this machine."""
