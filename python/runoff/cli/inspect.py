"""``runoff inspect``: what a compiled scheduler holds, and which kernels take it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from runoff.cli import inspection_lines
from runoff.cli.inspection_memory import Machine, count_bytes
from runoff.cli.output import echo
from runoff.engines import sim
from runoff.engines.agent import find_agent
from runoff.engines.programs.find import find_program
from runoff.engines.questions import describe_schedulers
from runoff.errors import UsageError
from runoff.plan.programs import COMMAND, is_program, parse_command, parse_named
from runoff.text import escape_for_json, suggest

EXAMPLES = """\b
Examples:
  runoff inspect ./my.bpf.o
  runoff inspect bfs --kernel 6.18 --kernel 7.3
  runoff inspect exec:scx_lavd --json"""
_REFUSED = 1


@click.command(epilog=EXAMPLES)
@click.argument("scheduler")
@click.option("--kernel", "kernels", multiple=True, metavar="VERSION", help="Show this kernel alone; repeat it.")
@click.option(
    "--cpus",
    type=click.IntRange(1, 8192),
    default=8,
    metavar="N",
    show_default=True,
    help="CPUs that memory is counted for.",
)
@click.option(
    "--tasks",
    type=click.IntRange(0, 1 << 22),
    default=1000,
    show_default=True,
    help="Tasks that memory is counted for.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all that is known as one JSON document.")
def command(scheduler: str, kernels: tuple[str, ...], cpus: int, tasks: int, as_json: bool) -> int:
    """Show what a compiled scheduler holds, and which kernels take it.

    SCHEDULER is an object file (contains "/"), one of `runoff list schedulers`, scx_NAME, or exec:PROGRAM. Nothing
    is loaded: it needs no root and no kernel with sched_ext. It does not verify, which only a kernel can.
    Exit code 1: one of the kernels does not take it.
    """
    wanted = _check_kernels(kernels)
    machine = Machine(cpus, tasks)
    found = [_add_memory(_choose(each, wanted), machine) for each in _find(scheduler)]
    if as_json:
        echo(escape_for_json(json.dumps(found, indent=2)))
    else:
        for number, each in enumerate(found):
            echo("\n" * (number > 0) + "\n".join(inspection_lines.describe(each, machine)))
    refused = any(answer["verdict"] == "does_not_load" for each in found for answer in each["kernels"])
    return _REFUSED if refused else 0


def _check_kernels(kernels: Sequence[str]) -> Sequence[str]:
    known = [each["name"] for each in sim.list_kernels()]
    for kernel in kernels:
        if kernel not in known:
            raise UsageError(
                f"no kernel {kernel!r} is described here{suggest(kernel, known)}; there are {', '.join(known)}"
            )
    return kernels or known


def _choose(found: Mapping[str, Any], kernels: Sequence[str]) -> Mapping[str, Any]:
    """Without the kernels that were not asked for."""
    return {**found, "kernels": [answer for answer in found["kernels"] if answer["kernel"] in kernels]}


def _add_memory(found: Mapping[str, Any], machine: Machine) -> Mapping[str, Any]:
    return {**found, "memory": {**machine._asdict(), "most_bytes": count_bytes(found, machine)}}


def _find(scheduler: str) -> Sequence[Mapping[str, Any]]:
    if is_program(scheduler):
        return sim.inspect(find_program(_parse_program(scheduler)))
    if "/" in scheduler:
        return sim.inspect(Path(scheduler))
    known = describe_schedulers()
    if scheduler in known:
        return list(_pick(sim.inspect(find_agent()), scheduler))
    raise UsageError(
        f"unknown scheduler {scheduler!r}{suggest(scheduler, known)}; there are {', '.join(known)}, programs "
        "(scx_NAME, exec:PROGRAM) and object files (contain '/')"
    )


def _parse_program(text: str) -> str:
    """Return the program of an arm such as ``exec:./scx_mine -v`` or ``scx_lavd``. Raises UsageError."""
    named = None if text.startswith(COMMAND) else parse_named(text, text, {})
    found = named or parse_command(text)[0]
    return str(found["argv"][0])


def _pick(found: Sequence[Mapping[str, Any]], name: str) -> Iterator[Mapping[str, Any]]:
    """Return the schedulers of the agent that have this name."""
    return (each for each in found if any(table["name"] == name for table in each["tables"]))
