"""More blocks for a campaign that has begun: from then on it is one that was looked at."""

from pathlib import Path

from runoff.campaign import repeats
from runoff.campaign.journal.journal import Journal
from runoff.errors import UsageError
from runoff.plan import stopping
from runoff.plan.settings import Settings, parse_settings
from runoff.results import Ended


def extend(directory: Path, blocks: int) -> None:
    """Let the campaign have ``blocks`` blocks in all. Raises UsageError if it has as many already, or more.

    Block b's order depends on the seed and b alone, so that nothing changes for those that were taken.
    """
    with Journal.open(directory, write=True) as journal:
        settings = parse_settings(journal.fact("settings", {}), str(directory))
        ended: Ended | None = journal.fact("ended")
        has = ended.blocks if ended is not None else settings.blocks
        if blocks <= has:
            raise UsageError(f"{directory} is of {has} blocks already: --blocks {blocks} would add none, give more")
        changed = _lengthen(settings, blocks)
        # In this order: cut short anywhere, a campaign that was looked at is not taken for one that was not.
        if looked := _count_begun(journal):
            journal.set_fact("looks", [*journal.fact("looks", []), looked])
        journal.set_fact("settings", changed.model_dump(mode="json"))
        journal.set_fact("ended", None)
    for name in repeats.derive_settings(settings):
        if repeats.exists(directory, name):
            extend(repeats.repeat_directory(directory, name), blocks)


def _lengthen(settings: Settings, blocks: int) -> Settings:
    update: dict[str, int] = {"blocks": blocks}
    if settings.until is not None:
        update["most_blocks"] = max(blocks, stopping.find_most_blocks(settings))
    values = {**settings.model_dump(exclude_none=True), **update}
    return parse_settings(values, "--blocks")


def _count_begun(journal: Journal) -> int:
    """Return the number of blocks with at least one sample, which the user may have seen."""
    return len({row.block for row in journal.rows() if row.block >= 0})
