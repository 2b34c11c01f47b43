"""Settings of arms, such as ``+sched.base_slice_ns=20ms``: checked against the agent's catalogue, and made plain."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from runoff.engine_kinds import SettingScope
from runoff.errors import UsageError
from runoff.text import suggest

CONTROLLERS: Mapping[str, str] = {"weight": "cpu", "quota": "cpu", "cpuset": "cpuset"}
"""The controller of control groups that a setting needs."""

DescribeSettings = Callable[[], Sequence[Mapping[str, Any]]]
"""Yields the settings that there are (crates/settings/src/catalogue.rs)."""

FAMILY = "NAME"
"""The end of the name of a family: ``sysctl.NAME``."""

_LONGEST_LINE = 512
_OWN_WORDS = (
    "clocksource", "console", "earlycon", "init", "initrd", "kaslr", "loglevel", "maxcpus", "mem", "nokaslr", "nosmp",
    "nr_cpus", "oops", "panic", "quiet", "random.trust_cpu", "rdinit", "root", "tsc",
)  # fmt: skip
"""Words of the kernel's command line that make the guest another machine, or keep its agent from working."""

_SWITCH = {"on": "on", "1": "on", "yes": "on", "true": "on", "off": "off", "0": "off", "no": "off", "false": "off"}

_NUMBER = re.compile(r"(?P<number>[+-]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?)(?P<unit>ns|us|ms|s)?")
_SECONDS = {"ns": Decimal("1e-9"), "us": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1)}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with its value; two spellings of one value are equal."""

    name: str
    value: str
    scope: SettingScope = field(default="machine", compare=False)

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def parse_settings(
    pairs: Sequence[tuple[str, str]], describe: DescribeSettings | None, where: str
) -> tuple[Setting, ...]:
    """Return settings in their order. Raises UsageError; ``where`` starts the sentence.

    Without ``describe`` their names are not checked.
    """
    found: list[Setting] = []
    described = describe() if pairs and describe is not None else None
    for name, text in pairs:
        if not text:
            raise UsageError(f"{where}: a value must follow +{name}=")
        if any(each.name == name for each in found):
            raise UsageError(f"{where}: {name} is given twice")
        about: Mapping[str, Any] = {"values": "any", "scope": "machine", "range": None}
        if described is not None:
            about = _find(name, described, where)
        found.append(Setting(name, _make_plain(name, text, about, where), about["scope"]))
    return tuple(found)


def _find(name: str, described: Sequence[Mapping[str, Any]], where: str) -> Mapping[str, Any]:
    for each in described:
        family = each["name"].removesuffix(FAMILY)
        if name == each["name"] or (family != each["name"] and name.startswith(family) and name != family):
            return each
    raise UsageError(f"{where}: there is no setting {name!r}{_guess(name, described)}")


def _guess(name: str, described: Sequence[Mapping[str, Any]]) -> str:
    """Return the end of a sentence about an unknown name: a member of a family is often given without it."""
    members = [here["name"] for each in described for here in each["here"]]
    for member in members:
        if member.rpartition(".")[2] == name or member.partition(".")[2] == name:
            return f"; did you mean {member!r}?"
    return suggest(name, [each["name"] for each in described])


def _make_plain(name: str, text: str, about: Mapping[str, Any], where: str) -> str:
    match about["values"]:
        case "switch":
            if text.lower() not in _SWITCH:
                raise UsageError(f"{where}: {name} is on or off, not {text!r}")
            return _SWITCH[text.lower()]
        case "range":
            least, most = about["range"]
            return _require_range(name, _make_number_plain(name, text, where), least, most, where)
        case "quota":
            return _make_quota_plain(text, where)
        case "policy":
            return _make_policy_plain(text, where)
        case "words":
            return _make_words_plain(name, text, where)
        case "cpus":
            return _make_cpus_plain(name, text, where)
        case _:
            return _make_number_plain(name, text, where)


def _require_range(name: str, text: str, least: int, most: int, where: str) -> str:
    if not re.fullmatch("-?[0-9]+", text) or not least <= int(text) <= most:
        raise UsageError(f"{where}: {name} is {least} to {most}, not {text!r}")
    return text


def _make_quota_plain(text: str, where: str) -> str:
    """Return ``50%`` or ``max``; ``0.5`` of a CPU is 50 %."""
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,4})?)(%?)", text)
    percent = Decimal(found[1]) * (1 if found[2] else 100) if found else Decimal(0)
    if text != "max" and (percent < 1 or percent != percent.to_integral_value()):
        raise UsageError(
            f"{where}: quota is a share of one CPU in whole percent such as 50% or 250%, or max, not {text!r}"
        )
    return "max" if text == "max" else f"{int(percent)}%"


def _make_policy_plain(text: str, where: str) -> str:
    """Return ``batch``, ``fifo:50`` or the like."""
    found = re.fullmatch(r"(other|normal|batch|idle)|(fifo|rr)(?::([1-9][0-9]?))?", text.lower())
    if found is None:
        raise UsageError(
            f"{where}: policy is normal, batch, idle, fifo or rr, the last two with a priority of 1 to 99 as in "
            f"fifo:50, not {text!r}"
        )
    if found[2]:
        return f"{found[2]}:{found[3] or 1}"
    return "normal" if found[1] == "other" else found[1]


def _make_words_plain(name: str, text: str, where: str) -> str:
    words = text.split()
    if len(text) > _LONGEST_LINE or not re.fullmatch(r"[!#-~ ]+", text):
        raise UsageError(f"{where}: {name} is up to {_LONGEST_LINE} letters of ASCII without quotes, not {text!r}")
    if own := [word for word in words if word.partition("=")[0] in _OWN_WORDS]:
        raise UsageError(f"{where}: {own[0]} is what runoff itself boots a guest with or without: leave it out")
    return " ".join(words)


def _make_cpus_plain(name: str, text: str, where: str) -> str:
    """Return CPUs as the kernel lists them: ``0-2,5``."""
    cpus: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part.strip())
        if found is None or int(found[1]) > int(found[2] or found[1]):
            raise UsageError(f"{where}: {name} is a list of CPUs such as 0-3,8, not {text!r}")
        cpus.update(range(int(found[1]), int(found[2] or found[1]) + 1))
    firsts = sorted(cpu for cpu in cpus if cpu - 1 not in cpus)
    lasts = sorted(cpu for cpu in cpus if cpu + 1 not in cpus)
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(firsts, lasts, strict=True))


def _make_number_plain(name: str, text: str, where: str) -> str:
    """Return a number as the kernel takes it; other text stays. ``20ms`` is for names that end in a unit of time."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return " ".join(text.split())
    try:
        number = Decimal(found["number"].replace("_", ""))
    except InvalidOperation:
        return text
    if found["unit"]:
        own = next((unit for unit in _SECONDS if name.endswith(f"_{unit}")), None)
        if own is None:
            raise UsageError(f"{where}: {name} does not say in which unit it is: give {text!r} as a number")
        number = number * _SECONDS[found["unit"]] / _SECONDS[own]
    if number != number.to_integral_value():
        raise UsageError(f"{where}: {name} takes whole numbers, not {text!r}")
    return str(int(number))
