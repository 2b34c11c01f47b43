"""Every way in and out of runoff: what begins campaigns, what goes on with them, what reads them, and what touches the
machine. Most can be tried alike, by the words of a command.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

import runoff as library
from runoff.cli.main import cli
from runoff.cli.types import OUTPUT_FILE
from runoff.imports.identity import Wishes

Words = tuple[str | Path, ...]

BEGINNING = (
    "demo", "compare", "contest", "run", "sweep", "sweep --cpus", "noise", "matrix", "import", "merge",
    "published replicate", "library conduct", "library conduct_sizes", "library conduct_matrix",
    "library import_files", "library merge",
)  # fmt: skip
"""Begin a campaign in a new directory."""

COMMANDS_GOING_ON = ("resume", "resume --blocks", "resume --give-up")
GOING_ON = (*COMMANDS_GOING_ON, "library resume")

FILES = (
    "report --html", "report --csv", "report --figures", "history --html",
    "gate --junit", "gate --github-summary", "matrix --junit",
)  # fmt: skip
"""Write a file that an option names."""

SCREENS = (
    "report", "report --json", "report --markdown", "report --requests", "report A B", "history", "gate", "blocks",
    "noise keep", "library load",
)  # fmt: skip
"""Read campaigns and print."""

MACHINE = (
    "--cluster", "--reboot", "restore", "attach", "set", "stats", "disk", "kernel", "image", "qemu", "scx", "cache",
    "inspect", "doctor", "list", "noise list", "published", "completion",
)  # fmt: skip
"""Do something to the machine, or tell what there is."""

DOORS = (*BEGINNING, *GOING_ON, *SCREENS, *FILES, *MACHINE)

COVERED = {"noise show": "noise list"}
"""Commands that stand behind the door of another."""


def list_commands() -> dict[str, click.Command]:
    """Every command by its words; of a group that can be called itself, that too."""

    def walk(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group) or (words and command.invoke_without_command):
            yield " ".join(words), command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                each = command.get_command(context, name)
                assert each is not None
                yield from walk(each, (*words, name))

    return dict(walk(cli, ()))


def find_door(command: str) -> str | None:
    """The door that stands for a command: its own, another's, or that of the group that it is in."""
    first = command.split()[0]
    return next((door for door in (command, COVERED.get(command), first) if door in DOORS), None)


def list_written() -> list[str]:
    """``COMMAND --OPTION`` of every option that names a file to write."""
    return [
        f"{name} {each.opts[0]}"
        for name, command in list_commands().items()
        for each in command.params
        if each.type is OUTPUT_FILE
    ]


def write_numbers(folder: Path) -> Path:
    """Numbers of two arms, as people have them."""
    path = folder / "n.csv"
    path.write_text("a,b\n1,2\n2,3\n")
    return path


def write_plan(folder: Path) -> Path:
    path = folder / "plan.toml"
    path.write_text('arms = ["default"]\nworkloads = ["command:true"]\non = "host"\nblocks = 1\n')
    return path


ON_HOST: Words = ("--work", "command:true", "--on", "host", "--blocks", "1")

BEGIN: Mapping[str, Callable[[Path, Path], Words]] = {
    "demo": lambda folder, campaign: ("demo",),
    "compare": lambda folder, campaign: ("compare", "default", *ON_HOST),
    "contest": lambda folder, campaign: ("contest", "default", "--quick", "--on", "host"),
    "run": lambda folder, campaign: ("run", write_plan(folder)),
    "sweep": lambda folder, campaign: ("sweep", "bfs:rr_interval_ms=1..3", "--work", "hackbench", "--yes"),
    "sweep --cpus": lambda folder, campaign: ("sweep", "bfs", "--cpus", "1,2", "--work", "hackbench", "--yes"),
    "noise": lambda folder, campaign: ("noise", *ON_HOST[:-1], "2"),
    "matrix": lambda folder, campaign: ("matrix", "--kernel", "debian:9.9", "bfs"),
    "import": lambda folder, campaign: ("import", write_numbers(folder), "--unit", "s", "--better", "lower"),
    "merge": lambda folder, campaign: ("merge", campaign, f"other={folder / 'other'}"),
    "published replicate": lambda folder, campaign: ("published", "replicate", "zaphod-2004", "--quick"),
}
"""The words of a command that begins a campaign, but for --out; given a directory to write in, and a whole campaign."""

BEGIN_BY_CALL: Mapping[str, Callable[[Path, Path, Path], object]] = {
    "library conduct": lambda folder, campaign, place: library.conduct(
        library.make_settings(arms=["default"], workloads=["command:true"], on="host", blocks=1), place
    ),
    "library conduct_sizes": lambda folder, campaign, place: library.conduct_sizes(
        ["bfs"], [1, 2], place, workloads=["hackbench"], clock="virtual"
    ),
    "library conduct_matrix": lambda folder, campaign, place: library.conduct_matrix(["debian:9.9"], ["bfs"], place),
    "library import_files": lambda folder, campaign, place: library.import_files(
        [str(write_numbers(folder))], place, Wishes(better={"": "lower"}, units={"": "s"})
    ),
    "library merge": lambda folder, campaign, place: library.merge({"one": campaign, "two": folder / "other"}, place),
}
"""The call that begins a campaign; given a directory to write in, a whole campaign, and the directory to begin in."""

READ: Mapping[str, Callable[[Path, Path], Words]] = {
    "report": lambda folder, campaign: ("report", campaign, "-v"),
    "report --json": lambda folder, campaign: ("report", campaign, "--json"),
    "report --markdown": lambda folder, campaign: ("report", campaign, "--markdown"),
    "report --html": lambda folder, campaign: ("report", campaign, "--html", folder / "written"),
    "report --csv": lambda folder, campaign: ("report", campaign, "--csv", folder / "written"),
    "report --figures": lambda folder, campaign: ("report", campaign, "--figures", folder / "figures"),
    "report A B": lambda folder, campaign: ("report", f"one={campaign}", f"two={folder / 'other'}"),
    "history": lambda folder, campaign: ("history", f"one={campaign}", f"two={folder / 'other'}"),
    "history --html": lambda folder, campaign: (
        "history", f"one={campaign}", f"two={folder / 'other'}", "--html", folder / "written",
    ),
    "gate": lambda folder, campaign: ("gate", campaign),
    "gate --junit": lambda folder, campaign: ("gate", campaign, "--junit", folder / "written"),
    "gate --github-summary": lambda folder, campaign: ("gate", campaign, "--github-summary", folder / "written"),
    "blocks": lambda folder, campaign: ("blocks", campaign, "--detect", "5%"),
    "merge": lambda folder, campaign: ("merge", campaign, f"other={folder / 'other'}", "--out", folder / "merged"),
}  # fmt: skip
"""The words of a command that reads the campaign and, where it takes two, the one named other in the directory."""

ONE_FILE = tuple(door for door, words in READ.items() if Path("written") in words(Path(), Path()))
"""Doors of `READ` that write one file, which is named written."""
