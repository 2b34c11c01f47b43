"""Options that commands share: what a plan holds, and how a campaign is carried out."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from runoff.cli.types import as_table, load_blocks, named_arm, share
from runoff.results import Clock, EngineName

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Decorator = Callable[[_Function], _Function]


def _together(*options: _Decorator[Any]) -> _Decorator[Any]:
    """One decorator for several, in the order of the help."""

    def decorate(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


machine_options = _together(
    click.option(
        "--on", type=click.Choice(get_args(EngineName)), help="Engine: this machine, or a real kernel in QEMU.  [lab]"
    ),
    click.option(
        "--clock",
        type=click.Choice(get_args(Clock)),
        help="Lab's clock; virtual is repeatable.  [real in KVM, else virtual]",
    ),
    click.option("--cpus", type=int, metavar="N", help="CPUs of the lab's guest.  [2; 1 in contest]"),
    click.option(
        "--topology",
        metavar="T",
        help="How its CPUs lie, e.g. sockets=2,cores=2,threads=2,nodes=2,distance=30.  [one socket of N cores]",
    ),
    click.option(
        "--quantum", type=int, metavar="N", help="Under the virtual clock: instructions a CPU may be ahead.  [1000]"
    ),
    click.option(
        "--sensitivity",
        type=click.Choice(["quantum"]),
        help="Repeat with half and twice the quantum, and say which verdicts survive.",
    ),
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

arm_arguments = _together(
    click.argument("arms", nargs=-1, metavar="ARM ARM..."),
    click.option(
        "-n",
        "--name",
        "names",
        multiple=True,
        type=named_arm,
        metavar="NAME=ARM",
        callback=as_table,
        help="A short name for an arm, e.g. fast=bfs:rr_interval_ms=3: what tables call it; may be repeated.",
    ),
)

judging_options = _together(
    click.option(
        "--margin", type=share, metavar="SHARE", help="A change by at most this share counts as none, e.g. 1%.  [2%]"
    ),
    click.option(
        "--rare",
        type=share,
        metavar="SHARE",
        help='The share of runs that an event must hit to be seen before "same" is said.',
    ),
)

order_options = _together(
    click.option(
        "--load-blocks",
        multiple=True,
        type=load_blocks,
        metavar="LOAD=N",
        callback=as_table,
        help="A load takes part in the first N blocks only, e.g. io=2; may be repeated.",
    ),
    click.option("--warmup", type=int, metavar="N", help="Blocks before the first, kept but not judged.  [0]"),
    click.option("--seed", type=int, metavar="N", help="Draws the order; the same seed, the same order.  [drawn]"),
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
keep_going_option = click.option(
    "--keep-going", is_flag=True, help="Go on though every sample of the first block is void for one reason."
)
output_options = _together(
    click.option("--out", type=click.Path(path_type=Path), help="Directory of the campaign.  [results/DATE-TIME]"),
    json_option,
    jobs_option,
    keep_going_option,
)


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the present command's options that were not left out: a plan has defaults of its own."""
    source = click.get_current_context().get_parameter_source
    return {key: value for key, value in values.items() if source(key) is not ParameterSource.DEFAULT}
