"""Workloads and loads as they are written in plans."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from runoff.errors import UsageError
from runoff.results import NO_LOAD
from runoff.text import parse_assignments, suggest
from runoff.workloads.definition import LOADS, WORKLOADS, Catalogue, Definition, Parameter
from runoff.workloads.letters import translate
from runoff.workloads.own_files import OwnFile, derive_name, find_own_file, is_local, refuse_same_names
from runoff.workloads.work import Work

_SHELL_SIGNS = ("|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1", "|&")


def find_shell_signs(words: Sequence[str]) -> list[str]:
    """Return the words that mean something to a shell, and nothing to a program."""
    return [word for word in words if word in _SHELL_SIGNS or (word.endswith(";") and not word.endswith("\\;"))]


def parse_loads(text: str, cpus: int, catalogue: Catalogue = LOADS) -> list[Work | None]:
    """Parse loads, as `parse_works` does workloads. Raises UsageError."""
    if text.strip() == NO_LOAD:
        return [None]
    return list(parse_works(text, cpus, catalogue))


def parse_works(text: str, cpus: int, catalogue: Catalogue = WORKLOADS) -> list[Work]:
    """Parse ``name[:key=value,...]`` as one work, or several if a value is a range ``1..4`` or a list ``a|b``.

    The name may be the path of a TOML file; a command line that begins with ``./``, ``../``, ``~/`` or ``/`` is one of
    the workload ``command``. ``cpus`` stands for ``{cpus}``. Raises UsageError.
    """
    name, rest = _split(text.strip(), catalogue)
    where = f"{catalogue.noun} {text.strip()!r}"
    source = catalogue.read(name)
    definition = catalogue.parse(source)
    words = next((key for key, parameter in definition.parameters.items() if parameter.words), None)
    if words is not None:
        line = rest.replace("{cpus}", str(cpus))
        work = Work(text.strip(), definition, {words: line}, source, cpus)
        return [_bring(work, {word: word for word in _list_local_words(where, line, catalogue)}, where, catalogue, {})]
    given = _parse_given(rest, where, name, definition)
    for key in given:
        if key not in definition.parameters:
            raise UsageError(f"{where}: no parameter {key!r}{suggest(key, definition.parameters)}")
    found: dict[str, OwnFile] = {}
    works = [
        Work(_label(name, chosen, definition, given), definition, chosen, source, cpus)
        for chosen in _combine(definition, given, cpus, where)
    ]
    return [_bring(work, _find_files(work, where), where, catalogue, found) for work in works]


def _parse_given(text: str, where: str, name: str, definition: Definition) -> dict[str, str]:
    if text.startswith("-"):
        return translate(text, name, definition, where)
    try:
        return parse_assignments(text, where)
    except UsageError as error:
        if not definition.parameters:
            raise
        known = ",".join(f"{key}={parameter.default}" for key, parameter in definition.parameters.items())
        raise UsageError(f"{error}; its parameters are written as {name}:{known}") from None


def _combine(definition: Definition, given: Mapping[str, str], cpus: int, where: str) -> list[dict[str, str]]:
    """Return the values of each work."""
    combinations: list[dict[str, str]] = [{}]
    for key, parameter in definition.parameters.items():
        # In a default of free text a bar is a bar.
        texts = given[key].split("|") if key in given else [parameter.default.replace("{cpus}", str(cpus))]
        values = [value for each in texts for value in _values(key, each, parameter, where)]
        combinations = [{**chosen, key: value} for chosen in combinations for value in values]
    return combinations


def _split(text: str, catalogue: Catalogue) -> tuple[str, str]:
    """Return the name of a work, and what follows its colon, or its blank before an option of its program."""
    name, _, rest = text.partition(":")
    if (found := re.match(r"([\w-]+)\s+(-.*)", text, re.DOTALL)) and found[1] in catalogue.names():
        return found[1], found[2]
    is_path = is_local(text) or text.startswith("/")
    is_command = is_path and not name.endswith(".toml") and "command" in catalogue.names()
    return ("command", text) if is_command else (name, rest)


def _bring(work: Work, ways: Mapping[str, str], where: str, catalogue: Catalogue, found: dict[str, OwnFile]) -> Work:
    """Return the work with the user's files, as they were written by their ways from here.

    Those of works before it are ``found``, and read only once.
    """
    for key, written in ways.items():
        if key not in found:
            found[key] = find_own_file(key, derive_name(written), where, catalogue.stored_files)
    files = tuple(found[key] for key in ways)
    refuse_same_names(files, where)
    return replace(work, files=files)


def _find_files(work: Work, where: str) -> dict[str, str]:
    """Return the files of a definition as they were written, by their ways from here."""
    parameters = work.definition.parameters.items()
    named = [work.values[key] for key, each in parameters if each.own_file and work.values[key] != each.default]
    ways = {path: path for path in named}
    for written in work.fill(work.definition.files):
        if not written:
            raise UsageError(f"{where}: files has an empty name")
        is_elsewhere = written.startswith(("/", "~"))
        key = written if is_elsewhere else str(PurePosixPath(work.source.name).parent / written)
        ways[key] = written
    return ways


def _list_local_words(where: str, line: str, catalogue: Catalogue) -> list[str]:
    """Return the words of a command line that name files here: the program, and arguments that are there."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
    if not words:
        raise UsageError(f"{where}: a command line must follow the colon, e.g. 'command:gzip -9 file'")
    known = catalogue.stored_files
    if known is None:
        _refuse_shell(where, line)

    def is_there(word: str) -> bool:
        return Path(word).expanduser().exists() if known is None else word in known

    return [word for number, word in enumerate(words) if is_local(word) and (number == 0 or is_there(word))]


def _refuse_shell(where: str, line: str) -> None:
    """Raise UsageError for words that only a shell understands, unless they are quoted."""
    try:
        signs = find_shell_signs(shlex.split(line, posix=False))
    except ValueError:
        return
    if signs:
        raise UsageError(
            f"{where}: {signs[0]} is for a shell, and there is none: command:sh -c {shlex.quote(line)}; "
            "or quote it, if it is an argument"
        )


def _label(name: str, chosen: Mapping[str, str], definition: Definition, given: Mapping[str, str]) -> str:
    """Return a name that shows what was given, and defaults that are ranges."""
    parameters = definition.parameters.items()
    by_default = {key for key, parameter in parameters if parameter.maximum is not None and ".." in parameter.default}
    varied = by_default | set(given)
    short = Path(name).name.removesuffix(".toml")
    shown = ",".join(f"{key}={value}" for key, value in chosen.items() if key in varied)
    return f"{short}:{shown}" if shown else short


def _values(key: str, text: str, parameter: Parameter, where: str) -> list[str]:
    if parameter.choices is not None:
        if text not in parameter.choices:
            raise UsageError(f"{where}: {key}={text}{suggest(text, parameter.choices)}")
        return [text]
    if parameter.minimum is None or parameter.maximum is None:
        if re.fullmatch(r"[\w-]+\.\.[\w-]+", text):
            raise UsageError(f"{where}: {key} has no limits, so {text} is not a range: give a list, such as {key}=a|b")
        return [text]
    match = re.fullmatch(r"(-?[0-9]{1,30})(?:\.\.(-?[0-9]{1,30}))?", text)
    if match is None:
        raise UsageError(f"{where}: {key} must be a whole number or a range like 1..4 or 1|4, not {text!r}")
    low, high = int(match[1]), int(match[2] or match[1])
    if not parameter.minimum <= low <= high <= parameter.maximum:
        raise UsageError(f"{where}: {key}={text} is out of its range {parameter.minimum}..{parameter.maximum}")
    return [str(value) for value in range(low, high + 1)]
