"""`runoff scx`: programs of the scx project in the cache."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from runoff.cli.cache_view import EXAMPLE, View, progress
from runoff.cli.groups import Group
from runoff.cli.output import echo
from runoff.engines.programs import build, store


def _document(found: store.Build) -> Mapping[str, Any]:
    return {"name": found.name, **asdict(found.meta), "path": str(found.path)}


def _line(found: store.Build) -> str:
    return f"{found.name}  {found.path}"


_VIEW = View(_document, _line)


@click.group(
    "scx", cls=Group, epilog=f"{EXAMPLE}runoff scx add lavd\n  runoff compare default scx_lavd --work hackbench"
)
def command() -> None:
    """Build, list and remove schedulers of the scx project, which are arms by their names.

    Programs that are installed on this machine need none of this: runoff list schedulers.
    """


@command.command(
    "add",
    short_help="Build one into the cache.",
    epilog=f"{EXAMPLE}runoff scx add lavd\n  runoff scx add bpfland@1.1.4",
)
@click.argument("spec", metavar="NAME[@VERSION]")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON document.")
def add(spec: str, as_json: bool) -> None:
    """Build the program NAME from its published crate: some minutes, and 1500 MB of disk meanwhile.

    It needs cargo, clang 16 or newer (BPF_CLANG names another), and the libraries libelf and zlib.
    """
    _VIEW.one(build.add(spec, progress), as_json)


@command.command("list", epilog=f"{EXAMPLE}runoff scx list --json")
@click.option("--json", "as_json", is_flag=True, help="Print all of them as one JSON document.")
def list_programs(as_json: bool) -> None:
    """List the programs in the cache, of each the newest version first."""
    _VIEW.all(store.list_stored(), as_json, "none yet: runoff scx add lavd")


@command.command("remove", epilog=f"{EXAMPLE}runoff scx remove scx_lavd-1.1.4")
@click.argument("name")
def remove(name: str) -> None:
    """Delete one version, or all versions of a program, from the cache."""
    for each in store.remove(name):
        echo(f"removed {each.name}")
