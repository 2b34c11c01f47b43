"""Options that commands share: what a plan holds, and how a campaign is carried out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from runoff.errors import UsageError

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Decorator = Callable[[_Function], _Function]


def _together(*options: _Decorator[Any]) -> _Decorator[Any]:
    """One decorator for several, in the order of the help."""

    def decorate(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _load_blocks(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, int]:
    """``LABEL=N``; a label may hold equals signs and commas itself."""
    counts = {}
    for text in given:
        label, _, count = text.rpartition("=")
        if not label or not count.isdecimal():
            raise UsageError(f"--load-blocks {text}: a load and a number must be given, e.g. io=4")
        counts[label] = int(count)
    return counts


machine_options = _together(
    click.option(
        "--on", type=click.Choice(["host", "lab"]), help="Engine: this machine, or a real kernel in QEMU.  [lab]"
    ),
    click.option(
        "--clock", type=click.Choice(["real", "virtual"]), help="Lab's clock; virtual is repeatable, 1 CPU.  [real]"
    ),
    click.option("--cpus", type=int, metavar="N", help="CPUs of the lab's guest.  [2; 1 in contest]"),
    click.option(
        "--memory", "memory_mb", type=int, metavar="MB", help="Memory of the lab's guest.  [1024; 256 in contest]"
    ),
    click.option(
        "--disk", "disk_mb", type=int, metavar="MB", help="Disk of the lab's guest, or of arms with +io=.  [4 x memory]"
    ),
    click.option(
        "--place",
        type=click.Path(resolve_path=True),
        metavar="DIR",
        help="Work in DIR on the host: arms with +io= switch the elevator of its disk.  [/tmp, or disks made for +io=]",
    ),
    click.option(
        "--disk-model", metavar="MODEL", help="Disk of arms with +io=, e.g. scsi10k or ide2003:rpm=5400.  [ide2003]"
    ),
    click.option(
        "--swap", "swap_mb", type=int, metavar="MB", help="Swap of the lab's guest.  [2 x memory if a load wants some]"
    ),
    click.option(
        "--kernel", metavar="KERNEL", help="Kernel of the lab; runoff kernel list.  [newest that takes schedulers]"
    ),
    click.option(
        "--package",
        "packages",
        multiple=True,
        metavar="NAME",
        help="Debian package to add to the lab's image; may be repeated.",
    ),
    click.option(
        "--probe",
        "probes",
        multiple=True,
        metavar="PROBE",
        help="Observe why: a name of `runoff list probes`, or all; may be repeated.",
    ),
)

order_options = _together(
    click.option(
        "--load-blocks",
        multiple=True,
        metavar="LOAD=N",
        callback=_load_blocks,
        help="A load takes part in the first N blocks only, e.g. io=2; may be repeated.",
    ),
    click.option("--warmup", type=int, metavar="N", help="Blocks before the first, kept but not judged.  [0]"),
    click.option("--seed", type=int, metavar="N", help="Draws the order; the same seed, the same order.  [1]"),
    click.option("--plan-only", is_flag=True, help="Print the plan as a file for `runoff run` and stop."),
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on standard output.")
jobs_option = click.option(
    "-j",
    "jobs",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="Samples side by side; virtual clock only.  [1]",
)
output_options = _together(
    click.option("--out", type=click.Path(path_type=Path), help="Directory of the campaign.  [results/DATE-TIME]"),
    json_option,
    jobs_option,
)


def given(values: dict[str, Any]) -> dict[str, Any]:
    """Options without those that were left out: a plan has defaults of its own."""
    return {key: value for key, value in values.items() if value not in (None, (), {}, False)}
