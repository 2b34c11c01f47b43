"""The noise of machines, stored for later reports and plans.

One JSON file for each machine, engine, clock, workload and load, in the user's data directory (``XDG_DATA_HOME``). The
machine is what the agent saw of it: of the host under --on host, of the guest in the lab.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError

from runoff.analysis.build import build_report
from runoff.analysis.noise import Noise, identify_machine
from runoff.analysis.values import Report
from runoff.errors import MissingError, UsageError
from runoff.files import make_directories, write_whole
from runoff.reading import read_named
from runoff.results import Results
from runoff.validation import describe_mistake

DEFAULT_ARM = "default"
MOST_RUNS = 20
"""Most runs of one place that are kept; older ones are forgotten, as machines change."""


def build_report_with_noise(results: Results, **options: Any) -> Report:
    """Return ``build_report(results, **options)`` with what is stored about the noise of a machine like its own."""
    return build_report(results, noise=tuple(find_noise(results)), **options)


def noise_directory() -> Path:
    """Return the directory that noise is stored in."""
    return platformdirs.user_data_path("runoff") / "noise"


def noise_path(machine: dict[str, str], engine: str, clock: str, arm: str, workload: str, load: str) -> Path:
    """Return the place of one noise: readable first, and of the whole key a digest."""
    perturbed = ["runoff.noise/2"] if clock == "virtual" else []
    key = json.dumps([machine, engine, clock, arm, workload, load, *perturbed], sort_keys=True)
    readable = re.sub(r"[^A-Za-z0-9]+", "-", workload)[:40].strip("-") or "work"
    return noise_directory() / f"{engine}-{clock}-{readable}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"


def save_noise(noise: Noise) -> Path:
    """Add to what is kept of the same place. Raises UsageError for a damaged file, MissingError if it cannot write."""
    place = noise_path(noise.machine, noise.engine, noise.clock, noise.arm, noise.workload, noise.load)
    earlier = read_noise(place).runs if place.exists() else ()
    taken = {run.taken for run in noise.runs}
    runs = (*(run for run in earlier if run.taken not in taken), *noise.runs)[-MOST_RUNS:]
    text = noise.model_copy(update={"runs": runs}).model_dump_json(by_alias=True, indent=1)
    try:
        make_directories(place.parent)
        write_whole(place, f"{text}\n".encode())
    except OSError as error:
        raise MissingError(
            f"cannot keep the noise in {place}: {error.strerror}; set XDG_DATA_HOME to a place"
        ) from None
    return place


def read_noise(place: Path) -> Noise:
    """Return one file. Raises UsageError in a sentence."""
    try:
        return Noise.model_validate_json(read_named(place))
    except OSError as error:
        raise UsageError(f"cannot read the noise in {place}: {error.strerror}") from None
    except ValidationError as error:
        raise UsageError(
            f"{place} holds no noise ({describe_mistake(error)}): remove it, and measure again", hint=("noise",)
        ) from None


def list_noise() -> Iterator[tuple[Path, Noise | UsageError]]:
    """Yield all files by name, each as noise or as what is wrong with it."""
    for place in sorted(noise_directory().glob("*.json")):
        try:
            yield place, read_noise(place)
        except UsageError as error:
            yield place, error


def find_noise(results: Results, arm: str = DEFAULT_ARM) -> Iterator[Noise | UsageError]:
    """Yield what is kept of the places of a campaign, on a machine like its own."""
    machine = identify_machine(results)
    for workload in results.workloads:
        for load in results.loads:
            place = noise_path(machine, results.engine, results.clock, arm, workload, load)
            if _is_there(place):
                try:
                    yield read_noise(place)
                except UsageError as error:
                    yield error


def _is_there(place: Path) -> bool:
    """Return whether the file exists; False if this user cannot look."""
    try:
        return place.exists()
    except OSError:
        return False
