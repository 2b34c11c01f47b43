"""A campaign once more with a setting changed, in a directory within its own: do its verdicts depend on it?"""

from pathlib import Path

from runoff.campaign.journal import journal
from runoff.plan.settings import Settings


def derive_settings(settings: Settings) -> dict[str, Settings]:
    """Return what is to be repeated, each by the name of what differs: ``quantum=500``."""
    if settings.sensitivity is None:
        return {}
    near = (settings.quantum // 2, 2 * settings.quantum)
    return {f"quantum={each}": settings.model_copy(update={"quantum": each, "sensitivity": None}) for each in near}


def repeat_directory(directory: Path, name: str) -> Path:
    """Return the directory of one repeat."""
    return directory / "sensitivity" / name


def exists(directory: Path, name: str) -> bool:
    """Return whether it has begun."""
    return (repeat_directory(directory, name) / journal.FILE).exists()
