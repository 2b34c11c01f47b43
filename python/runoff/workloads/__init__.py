"""Workloads: one TOML file each says what it runs, needs, prepares and measures."""

from runoff.workloads.definition import Definition, Parameter, find, names
from runoff.workloads.work import STANDARD_METRICS, Work, parse_works

__all__ = ["STANDARD_METRICS", "Definition", "Parameter", "Work", "find", "names", "parse_works"]
