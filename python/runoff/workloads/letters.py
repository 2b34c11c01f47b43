"""Options of the program that a workload is known by, such as ``hackbench -g 24 -T``, as its parameters."""

import shlex
from collections.abc import Collection, Iterator, Sequence

from runoff.errors import UsageError
from runoff.workloads.definition import Definition


def translate(text: str, name: str, definition: Definition, where: str) -> dict[str, str]:
    """Return the parameters that options stand for. Raises UsageError for an option that is none of them."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
    letters = {letter: key for key, parameter in definition.parameters.items() for letter in parameter.letters}
    flags = {
        flag: (key, value)
        for key, parameter in definition.parameters.items()
        for flag, value in parameter.flags.items()
    }
    given: dict[str, str] = {}
    for option, value in _pair(words, letters):
        if option in flags and value is None:
            key, chosen = flags[option]
        elif option in letters and value:
            key, chosen = letters[option], value
        else:
            raise UsageError(f"{where}: {_explain(option, value, name, definition, [*letters, *flags])}")
        if key in given:
            raise UsageError(f"{where}: {key} is given twice")
        given[key] = chosen
    return given


def _pair(words: Sequence[str], letters: Collection[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each option with its value, written as ``-g 24``, ``-g24`` or ``--groups=24``."""
    rest = iter(words)
    for word in rest:
        if word.startswith("--"):
            option, equals, value = word.partition("=")
        else:
            option, equals, value = word[:2], "", word[2:]
        if option in letters and not equals and not value:
            yield option, next(rest, "")
        else:
            yield (option, value) if equals or value else (word, None)


def _explain(option: str, value: str | None, name: str, definition: Definition, known: Sequence[str]) -> str:
    parameters = ",".join(f"{key}={parameter.default}" for key, parameter in definition.parameters.items())
    own = f"its parameters are written as {name}:{parameters}"
    if not known:
        return f"{name} has no options of a program, and {option!r} is none of its parameters; {own}"
    if option in known:
        wrong = f"{option} needs a value" if not value else f"{option} takes no value"
    else:
        wrong = f"{option!r} is none of the options that are known here, which are {', '.join(known)}"
    return f"{wrong}; {own}"
