"""``runoff cache``: what the lab keeps on the disk."""

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from runoff.cli.groups import Group
from runoff.cli.options import json_option
from runoff.cli.output import echo

if TYPE_CHECKING:
    from runoff.engines.lab.holdings import Holding

_MIB = 1 << 20


@click.group("cache", cls=Group, epilog="\b\nExamples:\n  runoff cache list\n  runoff cache prune --days 30")
def command() -> None:
    """Show what the lab keeps, and remove what it does not need.

    The lab keeps kernels, images, its QEMU, and guests that have booted: every sample under the virtual clock begins
    in a copy of one.
    """


@command.command("list", epilog="\b\nExample:\n  runoff cache list --json")
@json_option
def list_(as_json: bool) -> None:
    """List what is kept, with its size and when it was last used."""
    from runoff.engines.lab import cache
    from runoff.engines.lab.holdings import list_holdings

    found = list_holdings()
    if as_json:
        echo(json.dumps([_document(each) for each in found], indent=2))
        return
    _print(found)
    echo(f"{_total(found)} in {cache.root()}")


@command.command("prune", epilog="\b\nExamples:\n  runoff cache prune\n  runoff cache prune --days 0 --dry-run")
@click.option(
    "--days", type=click.IntRange(0), default=7, show_default=True, metavar="N", help="Keep what was used in N days."
)
@click.option("--everything", is_flag=True, help="Remove kernels, images and QEMU too.")
@click.option("--dry-run", is_flag=True, help="Show what would go, and remove nothing.")
@json_option
def prune(days: int, everything: bool, dry_run: bool, as_json: bool) -> None:
    """Remove guests that were not used for some days, and what only another version of runoff can use.

    A guest that is needed again is made again, which takes some seconds. What another runoff uses is spared.
    """
    from runoff.engines.lab import holdings

    gone = holdings.prune(days, everything=everything, is_dry=dry_run)
    if as_json:
        echo(json.dumps([_document(each) for each in gone], indent=2))
        return
    _print(gone)
    echo(f"{_total(gone)} {'would be' if dry_run else 'were'} removed")


def _print(found: "Sequence[Holding]") -> None:
    names = max((len(each.name) for each in found), default=0)
    for each in found:
        note = "" if each.is_needed else "  can go"
        echo(f"{each.kind:<13}  {each.name:<{names}}  {each.size_bytes / _MIB:6.0f} MiB  {_describe_age(each)}{note}")


def _describe_age(holding: "Holding") -> str:
    days = (time.time() - holding.used_s) / 86400
    return f"{days:3.0f} days" if days >= 1 else "  today "


def _total(found: "Sequence[Holding]") -> str:
    return f"{sum(each.size_bytes for each in found) / _MIB:.0f} MiB"


def _document(holding: "Holding") -> dict[str, Any]:
    return {
        "kind": holding.kind,
        "name": holding.name,
        "path": str(holding.path),
        "size_bytes": holding.size_bytes,
        "used": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(holding.used_s)),
        "needed": holding.is_needed,
    }
