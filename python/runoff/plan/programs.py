"""Programs that attach a scheduler: ``exec:COMMAND``, ``scx_NAME[-VERSION][:MODE]`` and ``scx:NAME[:MODE]``."""

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from runoff.arm_text import ArmText, split_arm, split_words
from runoff.errors import UsageError
from runoff.text import suggest

DescribeModes = Callable[[str], Mapping[str, str]]
"""Returns the modes of a program: the options of each, as a shell takes them."""

COMMAND = "exec:"
"""What an arm begins with that has a whole command line."""

_NAMED = re.compile(r"scx[_:](?:scx_)?(?P<name>[a-z0-9_]+)(?P<version>-[0-9][\w.]*)?(?P<rest>:.*)?")


def is_program(text: str) -> bool:
    """Return whether an arm's text is that of a program."""
    return text.strip().startswith((COMMAND, "scx_", "scx:"))


def parse_command(label: str) -> tuple[dict[str, Any], ArmText]:
    """Return the scheduler of ``exec:COMMAND``, and what else the arm has. Raises UsageError."""
    try:
        words = shlex.split(label.removeprefix(COMMAND))
    except ValueError as error:
        raise UsageError(f"arm {label!r}: {error}") from None
    words, parts = split_words(words, label)
    if not words:
        raise UsageError(f"arm {label!r}: a program must follow, e.g. exec:scx_bpfland")
    return {"kind": "program", "argv": words}, parts


def parse_named(text: str, label: str, modes: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the scheduler of ``scx_bpfland:powersave`` or the like; None if the name is not one of a program.

    ``modes`` has the options by program and mode, as in ``scx_bpfland:powersave``; a mode that is not there has none.
    Raises UsageError.
    """
    found = _match(text, label)
    if found is None:
        return None
    program, mode = found
    options = modes.get(_name_mode(program, mode), "") if mode else ""
    return {"kind": "program", "argv": [program, *split_options(options, f"arm {label!r}")]}


def fill_modes(texts: Mapping[str, str], given: Mapping[str, str], describe: DescribeModes | None) -> dict[str, str]:
    """Return the options of each mode that arms have: as ``given``, else as ``describe`` has them.

    ``texts`` are the arms' texts by their labels. Raises UsageError for a mode that there is not, and for one that is
    given for no arm.
    """
    filled = {}
    for label, text in texts.items():
        if text.startswith(COMMAND) or not is_program(text):
            continue
        found = _match(split_arm(text).scheduler, label)
        if found is None or not found[1]:
            continue
        program, mode = found
        name = _name_mode(program, mode)
        if name in given:
            filled[name] = shlex.join(split_options(given[name], f"mode {name!r}"))
        elif describe is not None:
            known = describe(_strip_version(program))
            if mode not in known:
                raise UsageError(
                    f"arm {label!r}: {_strip_version(program)} has no mode {mode!r}{suggest(mode, known)}; options of "
                    f"your own are an arm as {shlex.quote(f'{COMMAND}{program} --options')}, or a mode as --mode "
                    f"{name}=--options"
                )
            filled[name] = known[mode]
    if describe is not None and (unused := [name for name in given if name not in filled]):
        raise UsageError(f"modes: no arm has the mode {unused[0]!r}: leave it out")
    return filled


def split_options(text: str, where: str) -> list[str]:
    """Return the words of a program's options. Raises UsageError; ``where`` starts the sentence."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None


def _match(text: str, label: str) -> tuple[str, str] | None:
    """Return program and mode; an empty mode where none is named."""
    found = _NAMED.fullmatch(text)
    if found is None:
        if text == "scx" or text.startswith(("scx:", "scx_")):
            raise UsageError(f"arm {label!r}: a program of the scx project is named as in scx_lavd or scx_lavd:gaming")
        return None
    program, rest = f"scx_{found['name']}{found['version'] or ''}", found["rest"]
    if rest is None:
        return program, ""
    if not re.fullmatch(r":[a-z][\w-]*", rest):
        raise UsageError(
            f"arm {label!r}: a mode such as gaming must follow {program}: and not parameters; a program's own options "
            f"are given as {shlex.quote(f'{COMMAND}{program} --options')}"
        )
    return program, rest[1:]


def _name_mode(program: str, mode: str) -> str:
    return f"{_strip_version(program)}:{mode}"


def _strip_version(program: str) -> str:
    return program.partition("-")[0]
