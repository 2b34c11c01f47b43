"""Options that commands share: what a plan holds, and how a campaign is carried out."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import click
import cloup
from click.core import ParameterSource

from runoff.campaign.loop.execution import Execution
from runoff.cli.completions import COMPLETE
from runoff.cli.types import collect_pairs, load_blocks, parse_mode, parse_named_arm, parse_share
from runoff.errors import UsageError
from runoff.plan.option import Key, Kind, read_keys
from runoff.plan.settings import Settings

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Decorator = Callable[[_Function], _Function]


def _group(title: str, keys: str) -> dict[str, cloup.OptionGroup]:
    group = cloup.OptionGroup(title)
    return dict.fromkeys(keys.split(), group)


GROUPS = {
    **_group("What is compared", "names modes workloads loads probes blocks seed margin rare"),
    **_group("Where", "on clock cpus topology memory_mb swap_mb kernel packages"),
    **_group("Disk", "disk_mb disk_model place"),
    **_group("More about blocks", "until most_blocks load_blocks warmup flush quantum sensitivity"),
}
"""The sections of a command's help, by the key of a plan."""
_CARRYING_OUT = cloup.OptionGroup("How it is carried out")
RESULT = cloup.OptionGroup("Result")


def _combine(*options: _Decorator[Any]) -> _Decorator[Any]:
    """Return one decorator for several, in the order of the help."""

    def decorate(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def plan_options(*names: str, required: bool = False, **defaults: str) -> _Decorator[Any]:
    """Return the options of these keys of a plan, in this order.

    ``defaults`` says what happens without an option where a command has a default of its own.
    """
    keys = {key.name: key for key in read_keys(Settings)}
    return _combine(*(_plan_option(keys[name], defaults.get(name, keys[name].default), required) for name in names))


def _plan_option(key: Key, default: str, required: bool) -> _Decorator[Any]:
    flags = [key.option.flag, key.name] + (["-n"] if key.name == "names" else [])
    repeat = "; may be repeated." if key.kind in ("texts", "pairs") else "."
    help_text = key.option.help.removesuffix(".") + repeat + (f"  [{default}]" if default else "")
    more: dict[str, Any] = {"metavar": key.option.metavar or None, "type": _TYPES.get(key.kind), "required": required}
    match key.kind:
        case "choice":
            more |= {"type": click.Choice(key.choices), "metavar": None}
        case "flag":
            more["is_flag"] = True
        case "texts":
            more["multiple"] = True
        case "pairs":
            more |= {"multiple": True, "callback": collect_pairs, "type": _PAIRS[key.name]}
    if key.name == "place":
        more["type"] = click.Path(resolve_path=True)
    more["shell_complete"] = COMPLETE.get(key.name)
    return cloup.option(*flags, help=help_text, group=GROUPS[key.name], **more)


_TYPES: dict[Kind, Any] = {"number": int, "share": parse_share}
_PAIRS: dict[str, Callable[[str], tuple[str, Any]]] = {
    "names": parse_named_arm,
    "modes": parse_mode,
    "load_blocks": load_blocks,
}

arm_arguments = _combine(
    click.argument("arms", nargs=-1, metavar="ARM ARM...", shell_complete=COMPLETE["arms"]),
    plan_options("names", "modes"),
)

LAB_KEYS = (
    "on", "clock", "cpus", "topology", "quantum", "memory_mb", "disk_mb", "place", "disk_model", "swap_mb", "kernel",
    "packages",
)  # fmt: skip
"""Where samples are taken, and on what machine."""

plan_only_option = cloup.option(
    "--plan-only",
    is_flag=True,
    help="Print the plan as a file for `runoff run`, and take no sample.",
    group=_CARRYING_OUT,
)

json_option = cloup.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on standard output.", group=RESULT
)
verbose_option = cloup.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Print the method, the machine and what else only the page has, too.",
    group=RESULT,
)
jobs_option = cloup.option(
    "-j",
    "jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Run N samples in parallel (virtual clock only).  [1]",
    group=_CARRYING_OUT,
)
cluster_option = cloup.option(
    "--cluster",
    group=_CARRYING_OUT,
    metavar="ADDRESS",
    help="Take samples on a cluster: local:N, tls://HOST:PORT or Dask's scheduler file (docs/cluster.md).",
)
keep_going_option = cloup.option(
    "--keep-going",
    is_flag=True,
    help="Continue even if every sample of the first block is void for the same reason.",
    group=_CARRYING_OUT,
)
take_over_option = cloup.option(
    "--take-over",
    is_flag=True,
    help="On the host: stop the service that has a scheduler in charge, such as scx_loader, and start it again at the "
    "end.",
    group=_CARRYING_OUT,
)
reboot_option = cloup.option(
    "--reboot",
    is_flag=True,
    help="Boot the kernels that arms on the host name, and go on after each boot by itself.",
    group=_CARRYING_OUT,
)
trust_option = cloup.option(
    "--trust-directory",
    is_flag=True,
    help="As root, use a directory that other users could write or replace; what it has kept runs as root.",
    group=_CARRYING_OUT,
)
notify_option = cloup.option(
    "--notify",
    group=RESULT,
    metavar="CMD",
    help="Run this shell command at the end; RUNOFF_DIRECTORY, RUNOFF_EXIT_CODE and RUNOFF_MESSAGE tell it the result.",
)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a campaign is carried out, and what is printed of it."""

    out: Path | None
    as_json: bool
    execution: Execution
    notify: str | None
    verbose: bool


def make_execution(
    jobs: int | None,
    cluster: str | None,
    *,
    trust_directory: bool = False,
    keep_going: bool = False,
    take_over: bool = False,
    reboot: bool = False,
) -> Execution:
    """Return how a campaign is carried out. Raises UsageError for options that exclude each other."""
    if jobs is not None and cluster is not None:
        raise UsageError("give -j or --cluster: a cluster takes as many samples at a time as it has CPUs for")
    if take_over and cluster is not None:
        raise UsageError("--take-over is for this machine: the machines of a cluster boot guests")
    again = {"--keep-going": keep_going, "--take-over": take_over, "--trust-directory": trust_directory}
    after_boot = ("--reboot", *(flag for flag, is_given in again.items() if is_given))
    return Execution(
        jobs=jobs or 1,
        keep_going=keep_going,
        takes_over=take_over,
        reboot=after_boot if reboot else None,
        trusts_directory=trust_directory,
        cluster=cluster,
    )


def keep_notify(execution: Execution, notify: str | None) -> Execution:
    """Return the same execution, in which the user's command is known after each boot."""
    if execution.reboot is None or notify is None:
        return execution
    return replace(execution, reboot=(*execution.reboot, "--notify", notify))


def execution_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a ``Execution``, which it gets as its argument ``execution``."""

    @functools.wraps(function)
    def call(*args: Any, **values: Any) -> Any:
        names = ("jobs", "cluster", "keep_going", "take_over", "reboot", "trust_directory")
        return function(*args, execution=make_execution(**{name: values.pop(name) for name in names}), **values)

    add_options: _Decorator[Callable[..., Any]] = _combine(
        jobs_option, cluster_option, keep_going_option, take_over_option, reboot_option, trust_option
    )
    return add_options(call)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of ``RunOptions``, which it gets as its argument ``run``."""

    @functools.wraps(function)
    def call(*args: Any, **values: Any) -> Any:
        values["execution"] = keep_notify(values["execution"], values["notify"])
        run = RunOptions(**{field.name: values.pop(field.name) for field in fields(RunOptions)})
        return function(*args, run=run, **values)

    add_options: _Decorator[Callable[..., Any]] = _combine(
        cloup.option(
            "--out",
            type=click.Path(path_type=Path),
            help="Directory of the campaign.  [results/DATE-TIME]",
            group=RESULT,
        ),
        json_option,
        verbose_option,
        execution_options,
        notify_option,
    )
    return add_options(call)


def collect_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given on the command line: a plan has defaults of its own."""
    source = click.get_current_context().get_parameter_source
    return {key: value for key, value in values.items() if source(key) is not ParameterSource.DEFAULT}
