"""Kinds of values that options take and click does not have: functions of an option's text, for its ``type``."""

import re
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import click

_Value = TypeVar("_Value")

OUTPUT_FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
"""A file to write: see ``runoff.cli.output.write_file``."""


def load_blocks(text: str) -> tuple[str, int]:
    """Parse ``LABEL=N``; the label may contain equals signs and commas."""
    found = re.fullmatch(r"(.+)=([0-9]+)", text, re.DOTALL)
    if found is None:
        raise click.BadParameter(f"{text}: a load and a number must be given, e.g. io=4")
    return found[1], int(found[2])


def parse_named_arm(text: str) -> tuple[str, str]:
    """Parse ``NAME=ARM``; the arm may contain equals signs."""
    name, separator, arm = text.partition("=")
    if not separator or not name or not arm:
        raise click.BadParameter(f"{text}: a name and an arm must be given, e.g. fast=bfs:rr_interval_ms=3")
    return name, arm


def parse_mode(text: str) -> tuple[str, str]:
    """Parse ``PROGRAM:MODE=OPTIONS``; a mode may be one without options."""
    mode, separator, options = text.partition("=")
    if not separator or ":" not in mode:
        raise click.BadParameter(f"{text}: a mode and its options must be given, e.g. scx_lavd:gaming=--performance")
    return mode, options


def parse_share(text: str) -> float:
    """Parse ``2%`` or ``0.02`` as 0.02."""
    found = re.fullmatch(r"([0-9]{0,9}\.?[0-9]{1,400})( ?%)?", text)
    if found is None:
        raise click.BadParameter(f"{text}: a share is written as 2% or as 0.02")
    share = float(Decimal(found[1]) / (100 if found[2] else 1))
    if share > 1 and not found[2]:
        raise click.BadParameter(f"{text}: it is more than the whole; {text} percent is written as {text}%")
    return share


def parse_size_mb(text: str) -> int:
    """Parse ``512M`` or ``4G``; return MiB."""
    found = re.fullmatch(r"([1-9][0-9]*)([MG])", text)
    if found is None:
        raise click.BadParameter(f"{text}: a size is a whole number of MiB or GiB, such as 512M or 4G")
    return int(found[1]) * {"M": 1, "G": 1024}[found[2]]


def collect_pairs(
    context: click.Context, parameter: click.Parameter, pairs: tuple[tuple[str, _Value], ...]
) -> dict[str, _Value]:
    """Return the pairs of a repeated option as one table."""
    table = dict(pairs)
    if len(table) < len(pairs):
        labels = [label for label, _ in pairs]
        twice = next(label for label in labels if labels.count(label) > 1)
        raise click.BadParameter(f"{twice!r} is given twice", context, parameter)
    return table
