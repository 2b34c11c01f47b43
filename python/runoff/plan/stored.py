"""What a campaign has stored of the files that its plan names, so that it can go on and be read without them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredInputs:
    """What takes the place of the user's files in a plan that has begun."""

    workloads: Mapping[str, str]
    """Texts of definitions by the names that the plan has for them."""
    loads: Mapping[str, str]
    objects: Mapping[str, str]
    """SHA-256 of object files by the names that the arms have for them."""
