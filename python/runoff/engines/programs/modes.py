"""The modes of scx_loader: the options that its configuration has for a program in each."""

import os
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from runoff.errors import UsageError
from runoff.ownership import find_other_writer
from runoff.reading import parse_toml, read_text
from runoff.validation import Checked, Words, describe_mistake

MODES = ("auto", "gaming", "lowlatency", "powersave", "server")

PLACES = (
    "/etc/scx_loader/config.toml",
    "/etc/scx_loader.toml",
    "/usr/share/scx_loader/config.toml",
    "/usr/share/scx_loader.toml",
)
"""Where scx_loader looks for its configuration; the first one that is there counts alone."""

_CHOSEN_FILE = "RUNOFF_SCX_LOADER"
"""Environment variable with a file that is read in place of those."""


class _Program(Checked, extra="ignore"):
    auto_mode: Words | None = None
    gaming_mode: Words | None = None
    lowlatency_mode: Words | None = None
    powersave_mode: Words | None = None
    server_mode: Words | None = None


class _Configuration(Checked, extra="ignore"):
    scheds: dict[str, _Program] = Field(default_factory=dict)


def describe_modes(program: str) -> Mapping[str, str]:
    """Return the options of each mode of a program, as a shell takes them.

    A mode for which the configuration has none has those that scx_loader itself has; a program that it does not know
    has no modes. Raises UsageError for a configuration that cannot be used.
    """
    configuration, built_in = _read_configuration(), _read_built_in()
    if program not in configuration.scheds and program not in built_in.scheds:
        return {}
    asked = [each.scheds.get(program, _Program()) for each in (configuration, built_in)]
    return {mode: shlex.join(_choose(asked, mode)) for mode in MODES}


def _choose(asked: list[_Program], mode: str) -> tuple[str, ...]:
    """Return the options of the first that has some for ``mode``."""
    found = (getattr(each, f"{mode}_mode") for each in asked)
    return next((options for options in found if options is not None), ())


@cache
def _read_built_in() -> _Configuration:
    text = Path(__file__).with_name("modes.toml").read_text(encoding="utf-8")
    return _Configuration.model_validate(parse_toml(text))


def _find_configuration() -> Path | None:
    """Return the file that scx_loader reads on this machine; None if it has none."""
    chosen = os.environ.get(_CHOSEN_FILE)
    places = (chosen,) if chosen is not None else PLACES
    return next((path for path in map(Path, places) if path.exists()), None)


def _read_configuration() -> _Configuration:
    path = _find_configuration()
    if path is None:
        return _Configuration()
    try:
        if os.geteuid() == 0 and (why := find_other_writer(path)) is not None:
            raise UsageError(f"{why}, who could change what root runs: see to {path}, or give the options with --mode")
        values: Any = parse_toml(read_text(path))
        return _Configuration.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{path}: {describe_mistake(error)}; give the options with --mode") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}; give the options with --mode") from None
