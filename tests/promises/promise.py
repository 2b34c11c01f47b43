"""What a promise is, and the words in which the table says where it holds: groups of doors, files of tests, reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from doors import BEGINNING, DOORS, FILES, GOING_ON, SCREENS

Doors = Sequence[str]

JOINING = ("import", "library import_files", "merge", "library merge")
"""Begin campaigns of samples that are there."""
TAKING = tuple(door for door in BEGINNING if door not in JOINING)
"""Begin campaigns whose samples runoff takes."""
BY_ONE_LOOP = tuple(door for door in TAKING if door not in ("compare", "run"))
"""Take their samples by what `compare` and `run` call."""
READING = (*SCREENS, *FILES)
CALLS: Doors = tuple(door for door in DOORS if door.startswith("library "))
LAB = ("kernel", "image", "qemu", "scx", "cache")
LISTS = ("inspect", "doctor", "list", "noise list", "published", "completion")
CONTROLS = ("attach", "set", "stats")
RUNNING = (*TAKING, *GOING_ON)


@dataclass(frozen=True)
class Promise:
    """One promise: what is promised, on which page, the tests that hold it and the doors that it does not concern."""

    title: str
    says: str
    page: str
    held: Mapping[str, Doors]
    apart: Mapping[str, Doors]


def all_but(*others: Doors) -> Doors:
    """Every door that is in none of these."""
    named = {door for doors in others for door in doors}
    return [door for door in DOORS if door not in named]


CAMPAIGN, CLUSTER, HOUSE, LAB_UNIT = "unit/campaign/", "unit/cluster/", "unit/house/", "unit/lab/"
READERS, BEGINNERS, WORDS = "promises/test_readers.py::", "promises/test_beginners.py::", "promises/test_words.py::"
PLACE, DIRECTORY = f"{CAMPAIGN}test_hostile_place.py::", f"{CAMPAIGN}test_hostile_directory.py::"
KEPT = f"{CAMPAIGN}test_self_contained.py::"
OUTPUT = f"{HOUSE}test_output.py::"
REBOOTS = "lab/test_reboots.py::"
INSTRUMENT = "host/test_host_instrument.py::"
SCHED_EXT, DEFAULT = "host/test_host_sched_ext.py::", "host/test_host_default.py::"

NO_CAMPAIGN = "has no campaign"
NO_SAMPLE = "takes no sample"
NOTHING_TO_READ = "reads no file of a campaign"
WRITES_NOTHING = "writes no file"
