"""Writes settings as text: the command line, or the plan file, that repeats the campaign."""

import shlex
from collections.abc import Collection
from typing import Any

from runoff.plan.option import Key, read_keys
from runoff.plan.settings import Settings
from runoff.text import escape_for_toml, format_percent

ALWAYS = {"on", "clock", "cpus", "blocks", "seed"}
"""Keys that are written even with their default values, which may differ on another machine or version."""


def render_command(settings: Settings) -> str:
    """Return the command line that takes the same campaign again."""
    words = ["runoff", "compare"]
    # After two dashes every word is an arm, whatever it begins with.
    last = ["--", *settings.arms] if any(text.startswith("-") for text in settings.arms) else []
    if not last:
        words += settings.arms
    always = ALWAYS if settings.engine.is_this_machine else ALWAYS | {"memory_mb"}
    for key in read_keys(Settings):
        value = getattr(settings, key.name)
        if (
            key.name != "arms"
            and value is not None
            and (key.name in always or value != key.field.get_default(call_default_factory=True))
        ):
            words += _write_option(key, value)
    return shlex.join([*words, *last])


def _write_option(key: Key, value: Any) -> list[str]:
    flag = key.option.flag
    match key.kind:
        case "flag":
            return [flag]
        case "texts":
            return [word for text in value for word in (flag, text)]
        case "pairs":
            return [word for name, each in value.items() for word in (flag, f"{name}={each}")]
        case "share":
            return [flag, format_percent(value)]
    return [flag, str(value)]


def render_plan(settings: Settings, left_open: Collection[str] = ()) -> str:
    """Return the plan as a TOML file that ``runoff run`` takes, without the keys that are to be ``left_open``."""
    import tomli_w

    values = settings.model_dump(mode="json", exclude={*left_open})
    # TOML has no null, and keys that a user adds after an empty table would belong to it.
    return escape_for_toml(tomli_w.dumps({key: value for key, value in values.items() if value not in (None, {})}))
