"""The files of a plan as its campaign has stored them, so that it can go on and be read without the originals."""

from collections.abc import Mapping
from dataclasses import dataclass

from runoff.workloads import StoredFile


@dataclass(frozen=True, slots=True)
class StoredInputs:
    """Replacements for the user's files in a plan that has begun."""

    workloads: Mapping[str, str]
    """Texts of definitions, by their names in the plan."""
    loads: Mapping[str, str]
    objects: Mapping[str, str]
    """SHA-256 of object files, by their names in the arms."""
    files: Mapping[str, StoredFile]
    """What is known of the users' own files, by key."""
