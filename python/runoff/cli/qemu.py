"""`runoff qemu`: the lab's own QEMU."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from runoff.cli.cache_view import EXAMPLE, View, progress
from runoff.cli.groups import Group
from runoff.cli.output import echo
from runoff.engines.lab import mirror
from runoff.engines.lab.emulator import build, store


def _document(found: store.Emulator) -> Mapping[str, Any]:
    return {"name": found.name, "current": found.is_current, **asdict(found.meta), "path": str(found.program)}


def _line(found: store.Emulator) -> str:
    return f"{found.name}  {found.meta.version}{'' if found.is_current else '  (of another runoff)'}"


_VIEW = View(_document, _line)


@click.group("qemu", cls=Group, epilog=f"{EXAMPLE}runoff qemu build\n  runoff qemu list")
def command() -> None:
    """Build, list and remove the QEMU that runs CPUs in parallel under the virtual clock."""


@command.command("build", short_help="Build QEMU into the cache.", epilog=f"{EXAMPLE}runoff qemu build")
@click.option("--mirror", "mirror_url", metavar="URL", help=f"Debian archive to use (also {mirror.VARIABLE}).")
@click.option("--tarball", type=click.Path(path_type=Path), help="The source of QEMU, instead of a download.")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON document.")
def build_qemu(mirror_url: str | None, tarball: Path | None, as_json: bool) -> None:
    """Build QEMU into the cache: three minutes on two CPUs, 800 MB of disk meanwhile."""
    _VIEW.one(build.ensure(progress, mirror=mirror_url, tarball=tarball), as_json)


@command.command("list", epilog=f"{EXAMPLE}runoff qemu list --json")
@click.option("--json", "as_json", is_flag=True, help="Print all of them as one JSON document.")
def list_qemus(as_json: bool) -> None:
    """List the builds of QEMU in the cache, the one in use first."""
    _VIEW.all(store.list_stored(), as_json, "none yet: runoff qemu build")


@command.command("remove", epilog=f"{EXAMPLE}runoff qemu remove 10.0.13-0123456789ab")
@click.argument("name")
def remove(name: str) -> None:
    """Delete a build of QEMU from the cache."""
    echo(f"removed {store.remove(name).name}")
