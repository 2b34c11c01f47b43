"""What ``runoff inspect`` prints for people."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runoff.cli.inspection_memory import Machine, describe_memory
from runoff.cli.parameter_lines import render_parameter

_WIDTH = 80
_VERDICTS = {
    "loads": "loads",
    "loads_without": "loads, without some of what newer kernels have",
    "does_not_load": "does not load",
}
_SIZES = ("instructions", "with_calls", "loops", "kernel_calls")
Found = Mapping[str, Any]


def describe(found: Found, machine: Machine) -> Iterator[str]:
    """Yield the lines about one object, at most 80 columns wide but for long names."""
    for table in found["tables"]:
        yield from _describe_table(table)
    if found["programs"]:
        yield ""
        yield from _draw_programs("other programs", [(each["section"], each) for each in found["programs"]])
    yield ""
    yield from describe_memory(found, machine)
    yield from _describe_parameters(found)
    yield from _describe_constants(found["constants"])
    yield from _describe_kernels(found["kernels"])


def _describe_table(table: Found) -> Iterator[str]:
    flags = f", flags {' '.join(table['flags'])}" if table["flags"] else ""
    settings = "".join(f", {name} {number}" for name, number in table["settings"])
    yield from _wrap(f"{table['name'] or 'without a name'}: struct {table['of']}{flags}{settings}")
    yield ""
    yield from _draw_programs("callback", [(each["member"], each) for each in table["callbacks"]])


def _draw_programs(title: str, programs: Sequence[tuple[str, Found]]) -> Iterator[str]:
    rows = [(title, *(name.replace("_", " ") for name in _SIZES))]
    rows += [(name, *(f"{each[size]:,}" for size in _SIZES)) for name, each in programs]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for name, *numbers in rows:
        cells = (number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *cells])


def _describe_parameters(found: Found) -> Iterator[str]:
    if found["parameters"] or found["bad_parameters"]:
        yield ""
        yield "parameters:"
    for each in found["parameters"]:
        yield from render_parameter(
            each["name"], each["default"], each["may_be"], each["sentence"], _WIDTH, is_fixed=not each["runtime"]
        )
    for sentence in found["bad_parameters"]:
        yield from _wrap(sentence, indent=2)


def _describe_constants(constants: Sequence[Found]) -> Iterator[str]:
    if not constants:
        return
    yield ""
    named = (f"{each['name']} ({each['type']}{_default(each)})" for each in constants)
    yield from _wrap(f"constants that its loader may set: {', '.join(named)}")


def _default(constant: Found) -> str:
    return "" if constant["default"] is None else f" = {constant['default']}"


def _describe_kernels(kernels: Sequence[Found]) -> Iterator[str]:
    yield ""
    for answer in kernels:
        by_hand = " *" if answer["is_by_hand"] else ""
        yield f"Linux {answer['kernel']}{by_hand}: {_VERDICTS[answer['verdict']]}"
        for lack in answer["needs"]:
            yield from _wrap(f"needs {_describe_lack(lack)}", indent=2)
        for lack in answer["depends"]:
            yield from _wrap(f"needs with other constants than the compiler's: {_describe_lack(lack)}", indent=2)
        for sentence in answer["wrong"]:
            yield from _wrap(f"asks what makes no sense: {sentence}", indent=2)
        if answer["unknown"]:
            yield from _wrap(f"not known here: {', '.join(answer['unknown'])}", indent=2)
    yield from _describe_newer(kernels)
    if any(answer["is_by_hand"] for answer in kernels):
        yield ""
        yield "* described by hand, after the published source"


def _describe_newer(kernels: Sequence[Found]) -> Iterator[str]:
    """Yield once what older kernels lack, by the kernel that has it first."""
    newer: dict[str, dict[str, None]] = {}
    for lack in (lack for answer in kernels for lack in answer["without"]):
        newer.setdefault(lack["since"], {})[lack["what"]] = None
    if newer:
        yield ""
        yield "what it uses where a kernel has it:"
    for since in sorted(newer, key=lambda name: [int(part) for part in name.split(".")]):
        yield from _wrap(f"since {since}: {', '.join(newer[since])}", indent=2)


def _describe_lack(lack: Found) -> str:
    when = ""
    if lack["since"]:
        when = f", which is there since {lack['since']}"
    elif lack["gone_since"]:
        when = f", which is gone since {lack['gone_since']}"
    place = f", in {lack['function']}" if lack["function"] else ""
    line = f" ({lack['file'].rpartition('/')[2]}:{lack['line']})" if lack["file"] else ""
    return f"{lack['what']}{when}{place}{line}"


def _wrap(text: str, indent: int = 0) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2), break_on_hyphens=False
    )
