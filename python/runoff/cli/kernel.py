"""`runoff kernel`: the lab's kernels."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from runoff.cli.cache_view import EXAMPLE, View, progress
from runoff.cli.groups import Group
from runoff.cli.output import echo
from runoff.engines.lab import kernel, kernel_sources, mirror


def _document(found: kernel.Kernel) -> Mapping[str, Any]:
    return {**asdict(found.meta), "path": str(found.vmlinux)}


def _yes_no(known: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[known]


def _line(found: kernel.Kernel) -> str:
    ticks = f"{found.meta.hz} Hz" if found.meta.hz else "? Hz"
    why = f"  no scheduler can be attached: {found.meta.objection}" if found.meta.objection else ""
    return f"{found.name}  sched_ext: {_yes_no(found.sched_ext)}  BTF: {_yes_no(found.btf)}  {ticks}{why}"


_VIEW = View(_document, _line)


@click.group("kernel", cls=Group, epilog=f"{EXAMPLE}runoff kernel add debian\n  runoff kernel list")
def command() -> None:
    """Add, list and remove the kernels that the lab boots."""


@command.command("add", epilog=f"{EXAMPLE}runoff kernel add debian\n  runoff kernel add debian:6.18")
@click.argument("kernel_spec", metavar="KERNEL")
@click.option("--mirror", "mirror_url", metavar="URL", help=f"Debian archive to use (also {mirror.VARIABLE}).")
@click.option("--json", "as_json", is_flag=True, help="Print the kernel as one JSON document.")
def add(kernel_spec: str, mirror_url: str | None, as_json: bool) -> None:
    """Fetch or copy a KERNEL into the cache.

    KERNEL is debian (the newest that takes schedulers), debian:VERSION, host (the one that runs here),
    or file:VMLINUZ[,modules=DIR].
    """
    added = kernel_sources.add(kernel_spec, mirror=mirror_url, progress=progress)
    _VIEW.one(added, as_json)


@command.command("list", epilog=f"{EXAMPLE}runoff kernel list --json")
@click.option("--json", "as_json", is_flag=True, help="Print all of them as one JSON document.")
def list_kernels(as_json: bool) -> None:
    """List the kernels in the cache, newest first."""
    _VIEW.all(kernel.list_stored(), as_json, "none yet: runoff kernel add debian")


@command.command("remove", epilog=f"{EXAMPLE}runoff kernel remove debian:6.18")
@click.argument("name")
def remove(name: str) -> None:
    """Delete a kernel from the cache."""
    echo(f"removed {kernel.remove(name).name}")
