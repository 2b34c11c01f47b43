"""How a campaign's run may end."""

from enum import Enum, auto


class Ending(Enum):
    """How far a campaign came."""

    COMPLETE = auto()
    STOPPED = auto()
    """Because the user wanted it."""
    HOPELESS = auto()
    """Its first block is void throughout, for one reason."""
