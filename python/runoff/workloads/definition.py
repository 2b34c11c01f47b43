"""The TOML file of a workload or load as a validated object. docs/workloads/README.md describes the keys."""

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from runoff.errors import UsageError
from runoff.reading import parse_toml, read_text
from runoff.results import Direction
from runoff.text import suggest
from runoff.validation import Checked, describe_mistake
from runoff.workloads.own_files import StoredFile


class Parameter(Checked):
    """A parameter that the user may choose: ``name:key=value``."""

    about: str
    default: str
    minimum: int | None = None
    maximum: int | None = None
    """With both limits the value is a whole number, and ``1..4`` means one workload for each value."""
    choices: dict[str, list[str]] | None = Field(None, min_length=1)
    """The words that replace ``{parameter}`` in a command, by value; in TOML also a list of values that replace it
    themselves."""
    controllers: dict[str, list[str]] = Field(default_factory=dict)
    """Controllers of control groups that the work needs only with this value, by value."""
    lab_only: list[str] = Field(default_factory=list)
    """Values with which the work changes its machine, so that it may run in a guest only."""
    letters: list[str] = Field(default_factory=list)
    """Options of the program that the workload is known by which take its value, such as ``-g``."""
    flags: dict[str, str] = Field(default_factory=dict)
    """Options of that program which stand for a value, such as ``-T``."""
    own_file: bool = False
    """Whether a value other than the default is the path of a file of the user's, which travels with the work."""
    words: bool = False
    """Whether it is all text after the workload's name, split as by a shell."""

    @field_validator("choices", mode="before")
    @classmethod
    def _read_list(cls, choices: object) -> object:
        is_list = isinstance(choices, list) and all(isinstance(each, str) for each in choices)
        return {each: [each] for each in choices} if is_list else choices  # type: ignore[attr-defined]

    @model_validator(mode="after")
    def _choices_have_what_is_named(self) -> Self:
        if self.choices is not None and self.default not in self.choices:
            raise ValueError(f"the default {self.default!r} is not one of its choices")
        for key, values in (
            ("controllers", self.controllers), ("lab_only", self.lab_only), ("flags", self.flags.values())
        ):  # fmt: skip
            for value in values:
                if value not in (self.choices or {}):
                    raise ValueError(f"{key}: {value!r} is not one of its choices")
        return self


class MetricDefinition(Checked):
    """A number in what the program prints."""

    pattern: str | None = None
    """A regular expression; its first group is the number, a group named ``unit`` the number's unit."""
    query: str | None = Field(None, alias="json")
    """A JMESPath query that leads to the number in each JSON document of the output."""
    csv: str | None = None
    """The name of a column in each table of the output."""
    row: str | None = None
    """With ``csv``: only the rows that have this text in another column."""
    stream: Literal["stdout", "stderr"] = "stdout"
    unit: str
    direction: Direction
    title: str = ""
    """Empty means the metric's name."""
    about: str = ""
    """What it says, for readers who do not know it."""
    headline: bool = True
    which: Literal["only", "first", "last", "sum", "mean", "max", "min"] = "only"
    """The number to use if there are several; ``only`` means that all must be the same."""
    separated: bool = False
    """Whether commas, colons, points and blanks next to the number separate it from others and are not part of it."""
    thousands: str | None = Field(None, min_length=1, max_length=1)
    """What stands between each three digits of a large number."""
    only: dict[str, list[str]] = Field(default_factory=dict)
    """Values of parameters with which the program prints it; if empty it always does."""

    @model_validator(mode="after")
    def _is_found_in_one_way(self) -> Self:
        if len(self.find) != 1:
            raise ValueError("there must be one of pattern, json and csv")
        if self.row is not None and self.csv is None:
            raise ValueError("row names the row of a table, so it goes with csv")
        return self

    @property
    def find(self) -> dict[str, str]:
        """The agent's ``Find`` message: the one of ``pattern``, ``json`` and ``csv`` that is given."""
        ways = {"pattern": self.pattern, "json": self.query, "csv": self.csv}
        return {way: sought for way, sought in ways.items() if sought is not None}


class Server(Checked):
    """A program that answers the measured one: it runs from before its start to after its end, in the same directory,
    and is ended by SIGTERM."""

    command: list[str] = Field(min_length=1)
    ready: list[str] = Field(min_length=1)
    """A command that succeeds as soon as the server answers; it is run until it does."""


_LONGEST_SCENE = 30_000
"""It is one word of a command line, which may have 128 KiB in UTF-8."""


class Definition(Checked):
    """A workload, or a load that runs beside one."""

    title: str
    description: str
    programs: list[str] = Field(default_factory=list)
    """Programs that must be on the host before the first sample."""
    packages: list[str] = Field(default_factory=list)
    """Debian packages with these programs, for the lab's image and for the advice on the host."""
    sources: list[str] = Field(default_factory=list)
    """Debian source packages that the image holds below /usr/src."""
    setup: list[list[str]] = Field(default_factory=list)
    """Commands that are run once inside the image while it is built."""
    modules: list[str] = Field(default_factory=list)
    """Kernel modules that must be there: the lab loads them, the host must have them."""
    controllers: list[str] = Field(default_factory=list)
    """Controllers of control groups for groups of its own: a guest switches them on, the host must have them on."""
    needs: list[str] = Field(default_factory=list)
    """Paths that must exist on the host."""
    ports: list[str] = Field(default_factory=list)
    """Ports of the loopback network that nothing else on the host may have."""
    files: list[str] = Field(default_factory=list)
    """The user's own, as paths from the folder of the TOML file: they are in the working directory of each sample."""
    prepare: list[list[str]] = Field(default_factory=list)
    """Commands that are run before each sample, outside the measured time, in an empty directory."""
    command: list[str] = Field(default_factory=list)
    server: Server | None = None
    scene: str = ""
    """What is done instead of a command, in the language of docs/scenes.md, which gives metrics of its own."""
    judged: list[str] | None = None
    """The metrics of the scene that judge arms; None stands for each actor's lateness and what it has done."""
    environment: dict[str, str] = Field(default_factory=dict)
    timeout_s: float = Field(default=600, gt=0, le=86_400)
    elapsed_headline: bool = False
    """Whether the elapsed time is judged too; for programs that do not measure themselves."""
    ready: str | None = None
    """For a load, a regular expression for the output that says that it is ready."""
    disk: bool = False
    """Whether it writes much, so that its directory must be on a disk, not in memory."""
    swap: bool = False
    """Whether it needs swap space."""
    rehearse: bool = False
    """For a load: nothing runs during the work; instead the work has run once just before and is not flushed."""
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    metrics: dict[str, MetricDefinition] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _runs_something(self) -> Self:
        if [bool(self.command), bool(self.scene), self.rehearse].count(True) != 1:
            raise ValueError("there must be a command, or a scene, or else rehearse = true, and only one of them")
        if len(self.scene) > _LONGEST_SCENE or "\0" in self.scene:
            raise ValueError(f"a scene has at most {_LONGEST_SCENE} characters, and none of them is NUL")
        if self.server is not None and not self.command:
            raise ValueError("a server answers a command, and there is none")
        if self.judged is not None and not self.scene:
            raise ValueError("judged names metrics of a scene; others have headline = true")
        return self

    @property
    def commands(self) -> list[list[str]]:
        """All command lines in the order in which they are run first."""
        server = [] if self.server is None else [self.server.command, self.server.ready]
        return [argv for argv in (*self.prepare, *server, self.command) if argv]


@dataclass(frozen=True, slots=True)
class Source:
    """A definition as it was written."""

    name: str
    """The name of a definition that comes with runoff, or the path of a user's TOML file."""
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The definitions that come with runoff, and access to those of the user."""

    package: str
    """The package with the TOML files."""
    noun: str
    stored: Mapping[str, str] | None = None
    """Texts by name, to be read instead of files."""
    stored_files: Mapping[str, StoredFile] | None = None
    """What a campaign knows of the users' own files, by key, to be used instead of these."""

    def names(self) -> list[str]:
        """Return the names of the definitions that come with runoff."""
        folder = resources.files(self.package)
        return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))

    def find(self, name: str) -> Definition:
        """Return a definition by its name, or by the path of a user's TOML file. Raises UsageError."""
        return self.parse(self.read(name))

    def read(self, name: str) -> Source:
        """Return the text of a definition. Raises UsageError."""
        if self.stored is not None:
            if name not in self.stored:
                raise UsageError(f"the {self.noun} {name} is not stored in the campaign: begin a new campaign")
            return Source(name, self.stored[name])
        if name.endswith(".toml"):
            return Source(name, self._read(Path(name)))
        if name not in self.names():
            if "," in name:
                option = {"workload": "--work", "load": "--load"}[self.noun]
                each = " ".join(f"{option} {part}" for part in name.split(","))
                raise UsageError(f"unknown {self.noun} {name!r}; each needs an option of its own: {each}")
            guess = suggest(name, self.names())
            if self.noun == "workload" and (" " in name or shutil.which(name)):
                guess = f"; a command line of yours is a workload as 'command:{name}'"
            raise UsageError(f"unknown {self.noun} {name!r}{guess}; or give the path of a .toml file")
        return Source(name, resources.files(self.package).joinpath(f"{name}.toml").read_bytes().decode())

    def _read(self, path: Path) -> str:
        try:
            return read_text(path)
        except OSError as error:
            raise UsageError(f"cannot read the {self.noun} {path}: {error.strerror}") from None
        except ValueError as error:
            raise UsageError(f"cannot read the {self.noun} {path}: {error}") from None

    def parse(self, source: Source) -> Definition:
        """Parse a definition. Raises UsageError that names the file and the key."""
        where = f"{self.noun} {source.name}"
        try:
            definition = Definition.model_validate(parse_toml(source.text))
        except ValidationError as error:
            raise UsageError(f"{where}: {describe_mistake(error)}{_suggest_key(error)}") from None
        except ValueError as error:
            raise UsageError(f"{where} is not TOML: {error}") from None
        if definition.scene and self.noun == "load":
            raise UsageError(
                f"{where}: a load goes on until it is stopped, and a scene ends: add its actors to a workload's scene"
            )
        if definition.server and self.noun == "load":
            raise UsageError(f"{where}: a load has no server: start it in the load's own command")
        for name, metric in definition.metrics.items():
            for key in metric.only:
                if key not in definition.parameters:
                    raise UsageError(f"{where}: metrics.{name}.only: there is no parameter {key!r}")
        return definition


_TABLES: Mapping[str, type[Checked]] = {"metrics": MetricDefinition, "parameters": Parameter}
"""The tables of a definition that have tables by names of their own."""


def _suggest_key(error: ValidationError) -> str:
    """Return which keys there are, if the mistake is one that there is not."""
    first = error.errors()[0]
    if first["type"] != "extra_forbidden":
        return ""
    *tables, key = map(str, first["loc"])
    model = _TABLES[tables[0]] if tables else Definition
    names = [field.alias or name for name, field in model.model_fields.items()]
    return suggest(key, names)


WORKLOADS = Catalogue("runoff.workloads", "workload")
LOADS = Catalogue("runoff.loads", "load")
