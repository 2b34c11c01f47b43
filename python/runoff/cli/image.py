"""`runoff image`: the lab's root file systems."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from runoff import workloads
from runoff.cli.cache_view import EXAMPLE, View, progress
from runoff.cli.groups import Group
from runoff.cli.output import echo
from runoff.engines.lab import image, mirror


def _document(made: image.Image) -> Mapping[str, Any]:
    return {**asdict(made), "path": str(made.path)}


def _line(made: image.Image) -> str:
    content = [*made.recipe.packages, *(f"{source} (source)" for source in made.recipe.sources)]
    return f"{made.name}  {made.size_bytes >> 20} MiB  {made.origin or ', '.join(content) or 'essential packages'}"


_VIEW = View(_document, _line)


@click.group("image", cls=Group, epilog=f"{EXAMPLE}runoff image build --work hackbench\n  runoff image list")
def command() -> None:
    """Build, list and remove the root file systems of the lab's guests."""


@command.command(
    "build",
    short_help="Make an image with Debian packages.",
    epilog=f"{EXAMPLE}runoff image build --work hackbench\n  runoff image build rt-tests gcc make",
)
@click.argument("packages", metavar="[PACKAGE]...", nargs=-1)
@click.option("--work", "works", metavar="NAME", multiple=True, help="Add what this workload needs; may be repeated.")
@click.option("--load", "loads", metavar="NAME", multiple=True, help="Add what this load needs; may be repeated.")
@click.option("--source", "sources", metavar="NAME", multiple=True, help="Source package to unpack in /usr/src/NAME.")
@click.option("--mirror", "mirror_url", metavar="URL", help=f"Debian archive to use (also {mirror.VARIABLE}).")
@click.option("--json", "as_json", is_flag=True, help="Print the image as one JSON document.")
def build(
    packages: tuple[str, ...],
    works: tuple[str, ...],
    loads: tuple[str, ...],
    sources: tuple[str, ...],
    mirror_url: str | None,
    as_json: bool,
) -> None:
    """Make an image with these Debian PACKAGEs and what workloads and loads need, unless the cache has it."""
    definitions = [workloads.WORKLOADS.find(work) for work in works] + [workloads.LOADS.find(load) for load in loads]
    wanted = image.derive_recipe(definitions, packages, sources)
    _VIEW.one(image.ensure(wanted, progress, mirror_url), as_json)


@command.command("add", epilog=f"{EXAMPLE}runoff image add rootfs.tar.xz")
@click.argument("tarball", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the image as one JSON document.")
def add(tarball: Path, as_json: bool) -> None:
    """Make an image from a TARBALL of a root file system."""
    _VIEW.one(image.add(tarball, progress), as_json)


@command.command("list", epilog=f"{EXAMPLE}runoff image list --json")
@click.option("--json", "as_json", is_flag=True, help="Print all of them as one JSON document.")
def list_images(as_json: bool) -> None:
    """List the images in the cache."""
    _VIEW.all(
        image.list_stored(),
        as_json,
        "none yet: runoff image build PACKAGE..., or the first run in the lab makes what it needs",
    )


@command.command("remove", epilog=f"{EXAMPLE}runoff image remove 1f3a")
@click.argument("name")
def remove(name: str) -> None:
    """Delete an image from the cache."""
    echo(f"removed {image.remove(name).name}")
