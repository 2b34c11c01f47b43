"""Workloads: a TOML file for each says what it runs, needs, prepares and measures."""

from runoff.workloads.definition import LOADS, WORKLOADS, Catalogue, Definition, MetricDefinition, Parameter, Source
from runoff.workloads.own_files import OwnFile, StoredFile
from runoff.workloads.parse import parse_loads, parse_works
from runoff.workloads.work import Work

__all__ = [
    "LOADS",
    "WORKLOADS",
    "Catalogue",
    "Definition",
    "MetricDefinition",
    "OwnFile",
    "Parameter",
    "Source",
    "StoredFile",
    "Work",
    "parse_loads",
    "parse_works",
]
