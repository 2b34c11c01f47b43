"""``runoff disk``: block devices of this machine with the times of a disk of 2003, behind an elevator."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from runoff.cli import types
from runoff.cli.cache_view import EXAMPLE
from runoff.cli.groups import Group
from runoff.cli.output import echo
from runoff.engines import ublk
from runoff.engines.questions import describe_elevators
from runoff.errors import MissingError
from runoff.installed import name_command_for_root
from runoff.plan.elevators import check_model, parse_elevator


@click.group(
    "disk",
    cls=Group,
    epilog=f"{EXAMPLE}sudo runoff disk add --elevator anticipatory --size 4G\n  sudo runoff disk remove /dev/ublkb0",
)
def command() -> None:
    """Make, list and remove disks with an elevator and the timing of a disk of 2003."""


@command.command(
    "add",
    epilog=f"{EXAMPLE}sudo runoff disk add --elevator anticipatory:antic_expire_ms=8 --size 4G\n"
    "  sudo runoff disk add --elevator bfq --model ide2003:rpm=5400 --size 512M --file /var/tmp/disk",
)
@click.option(
    "--elevator", required=True, metavar="ELEVATOR", help="One of `runoff list elevators`, as NAME:KEY=VALUE,..."
)
@click.option("--model", default="ide2003", metavar="MODEL", help="The disk's times, as NAME:KEY=VALUE,...  [ide2003]")
@click.option(
    "--size",
    "size_mb",
    type=types.parse_size_mb,
    metavar="SIZE",
    help="Size of the disk, e.g. 4G or 512M.  [all of the model]",
)
@click.option("--file", type=click.Path(path_type=Path), help="New file for the data of the disk.  [memory]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def add(elevator: str, model: str, size_mb: int | None, file: Path | None, as_json: bool) -> None:
    """Make a disk. It stays until it is removed or the machine stops."""
    wanted = parse_elevator(elevator, describe_elevators, f"--elevator {elevator}")
    check_model(model, size_mb or 1, describe_elevators)
    _require_root("making a disk")
    made = ublk.add(wanted, model, size_mb, file)
    if as_json:
        echo(json.dumps(made, indent=2))
        return
    device = made["device"]
    echo(f"{device}  {elevator} on {model}, requests told apart by: {made['identity']}")
    echo(f"next: mkfs.ext4 {device} && mount {device} /mnt", err=True)
    echo(f"when it is unmounted again: runoff disk remove {device}", err=True)


@command.command("list", epilog=f"{EXAMPLE}sudo runoff disk list --json")
@click.option("--json", "as_json", is_flag=True, help="Print all of them as one JSON document.")
def list_disks(as_json: bool) -> None:
    """List the disks of runoff on this machine, and what uses each."""
    found = ublk.list_disks()
    if as_json:
        echo(json.dumps(found, indent=2))
        return
    for each in found:
        echo(_line(each))
    if not found:
        echo("none: runoff disk add makes one", err=True)


@command.command("remove", epilog=f"{EXAMPLE}sudo runoff disk remove /dev/ublkb0")
@click.argument("device")
@click.option("--force", is_flag=True, help="Remove it even while it is in use: its users get I/O errors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def remove(device: str, force: bool, as_json: bool) -> None:
    """Remove DEVICE, a disk of `runoff disk list`, and show what it did. Its data are lost.

    With --file the file stays.
    """
    _require_root("removing a disk")
    removed = ublk.remove(device, force=force)
    if as_json:
        echo(json.dumps(removed, indent=2))
        return
    echo(f"removed {removed['device']}: {_counted(removed['counts'])}")
    if removed["disk"] is not None and removed["disk"]["file"] is not None:
        echo(f"its data are in {removed['disk']['file']}", err=True)


def _require_root(what: str) -> None:
    if os.geteuid() != 0:
        raise MissingError(f"{what} needs root: {name_command_for_root()} disk ...")


def _line(each: Mapping[str, Any]) -> str:
    disk, users = each["disk"], each["users"]
    parts = [_what(disk) if disk is not None else "its server has not said what it is"]
    parts += [f"server {each['server']}" if each["server"] is not None else "its server is gone"]
    parts += [f"mounted on {place}" for place in users["mounted_on"]]
    parts += [f"open in process {opener['pid']} ({opener['name']})" for opener in users["open_in"]]
    parts += ["used as swap space or below another device"] if users["claimed"] else []
    return f"{each['device']}  {', '.join(parts)}"


def _what(disk: Mapping[str, Any]) -> str:
    pairs = ",".join(f"{key}={value}" for key, value in disk["parameters"].items())
    elevator = f"{disk['elevator']}:{pairs}" if pairs else disk["elevator"]
    return f"{elevator} on {disk['model']}, {disk['size_mb']} MiB in {disk['file'] or 'memory'}"


def _counted(counts: Mapping[str, int] | None) -> str:
    if counts is None:
        return "its server was gone, and with it what it had counted"
    late_pct = 100 * counts["late"] / max(counts["served"], 1)
    return (
        f"{counts['requests']} requests, served as {counts['served']}, {counts['sectors_read'] / 2048:.1f} MiB read, "
        f"{counts['sectors_written'] / 2048:.1f} MiB written, busy for {counts['busy_ns'] / 1e9:.2f} s, "
        f"{late_pct:.1f} % late"
    )
