"""Workloads: a TOML file for each says what it runs, needs, prepares and measures."""

from runoff.workloads.definition import LOADS, WORKLOADS, Catalogue, Definition, Parameter, Source
from runoff.workloads.work import Work, parse_loads, parse_works

__all__ = [
    "LOADS",
    "WORKLOADS",
    "Catalogue",
    "Definition",
    "Parameter",
    "Source",
    "Work",
    "parse_loads",
    "parse_works",
]
