"""The TOML file of a workload or load as a validated object. docs/workloads/README.md describes the keys."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from runoff.errors import UsageError
from runoff.results import Direction
from runoff.text import suggest
from runoff.validation import Checked, describe_mistake


class Parameter(Checked):
    """Something the user may choose: ``name:key=value``."""

    about: str
    default: str
    minimum: int | None = None
    maximum: int | None = None
    """Both given: a whole number; ``1..4`` then means one workload for each value."""
    choices: dict[str, list[str]] | None = None
    """The words that take the place of ``{parameter}`` in a command, by value."""
    words: bool = False
    """All text behind the workload's name, split like a shell does."""


class MetricDefinition(Checked):
    """A number in the program's standard output."""

    pattern: str
    """Its first group is the number, a group named ``unit`` the number's unit."""
    unit: str
    direction: Direction
    title: str
    headline: bool = True
    which: Literal["first", "last", "sum"] | None = None
    """Of several matches; without it all of them must have the same number."""
    separated: bool = False
    """Commas, colons and points beside the number separate it from others, and are not part of it."""
    only: dict[str, list[str]] = Field(default_factory=dict)
    """Values of parameters with which the program prints it; with all of them if empty."""


class Definition(Checked):
    """A workload, or a load that runs beside one."""

    title: str
    description: str
    programs: list[str] = Field(default_factory=list)
    """Looked for before the first sample on the host."""
    packages: list[str] = Field(default_factory=list)
    """Debian packages with these programs, for the lab's image and for the advice on the host."""
    sources: list[str] = Field(default_factory=list)
    """Debian source packages that the image holds below /usr/src."""
    setup: list[list[str]] = Field(default_factory=list)
    """Run once while the image is built, inside it."""
    files: list[str] = Field(default_factory=list)
    """Paths that must exist on the host."""
    prepare: list[list[str]] = Field(default_factory=list)
    """Run before each sample, outside the measured time, in an empty directory."""
    command: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    timeout_s: float = Field(default=600, gt=0, le=86_400)
    elapsed_headline: bool = False
    """Judge the elapsed time too; for programs that do not measure themselves."""
    ready: str | None = None
    """Of a load: a regular expression for the output that says that it is prepared."""
    disk: bool = False
    """It writes much: its directory must be on a disk, not in memory."""
    swap: bool = False
    """It needs swap space."""
    rehearse: bool = False
    """Of a load: nothing runs beside the work, which instead has run once just before and is not flushed."""
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    metrics: dict[str, MetricDefinition] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _runs_something(self) -> Self:
        if bool(self.command) == self.rehearse:
            raise ValueError("there must be a command, or else rehearse = true")
        return self


@dataclass(frozen=True, slots=True)
class Source:
    """A definition as it was written."""

    name: str
    """Of one that comes with runoff, or the path of a user's TOML file."""
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The definitions that come with runoff, and how to get at those of the user."""

    package: str
    """Where the TOML files are."""
    noun: str
    stored: Mapping[str, str] | None = None
    """Texts by name, if these and no files are to be read."""

    def names(self) -> list[str]:
        """Return the names of the definitions that come with runoff."""
        folder = resources.files(self.package)
        return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))

    def find(self, name: str) -> Definition:
        """Return a definition by its name, or by the path of a user's TOML file. Raises UsageError."""
        return self.parse(self.read(name))

    def read(self, name: str) -> Source:
        """Return the text of one. Raises UsageError."""
        if self.stored is not None:
            if name not in self.stored:
                raise UsageError(f"the {self.noun} {name} is not stored in the campaign: begin a new campaign")
            return Source(name, self.stored[name])
        if name.endswith(".toml"):
            return Source(name, self._read(Path(name)))
        if name not in self.names():
            guess = suggest(name, self.names())
            raise UsageError(f"unknown {self.noun} {name!r}{guess}; or give the path of a .toml file")
        return Source(name, resources.files(self.package).joinpath(f"{name}.toml").read_bytes().decode())

    def _read(self, path: Path) -> str:
        try:
            return path.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the {self.noun} {path}: {error}") from None

    def parse(self, source: Source) -> Definition:
        """Parse a definition. Raises UsageError that names the file and the key."""
        where = f"{self.noun} {source.name}"
        try:
            definition = Definition.model_validate(tomllib.loads(source.text))
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"{where} is not TOML: {error}") from None
        except ValidationError as error:
            raise UsageError(f"{where}: {describe_mistake(error)}") from None
        for name, metric in definition.metrics.items():
            for key in metric.only:
                if key not in definition.parameters:
                    raise UsageError(f"{where}: metrics.{name}.only: there is no parameter {key!r}")
        return definition


WORKLOADS = Catalogue("runoff.workloads", "workload")
LOADS = Catalogue("runoff.loads", "load")
