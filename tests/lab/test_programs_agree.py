"""What programs come to on the machine of crates/bpfvm is what they come to on a real kernel."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from copies import MakeCopies
from hogs import Hogs

from runoff.engines import sim
from runoff.engines.lab import guest, kernel
from runoff.engines.outcome import ValidSample
from runoff.errors import MissingError

pytestmark = [pytest.mark.lab]

DRAWN = int(os.environ.get("DRAWN_PROGRAMS") or 40)
EXAMPLES = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "x86_64-unknown-linux-gnu/release/examples"
OBJECTS = ("functions", "values")


def version(name: str) -> str:
    return ".".join(name.removeprefix("debian:").split(".")[:2])


def kernels() -> list[str]:
    """Return the kernels of the lab that are described, the newest first."""
    try:
        described = [each["name"] for each in sim.list_kernels()]
    except MissingError:
        return []
    return [each.name for each in kernel.list_stored() if each.sched_ext and version(each.name) in described]


KERNELS = kernels()
PLACES = [pytest.param(each, marks=[pytest.mark.core] * (each == KERNELS[0])) for each in KERNELS]


def example(name: str) -> Path:
    found = EXAMPLES / name
    assert found.exists(), f"{found} is not built: cargo test builds it"
    return found


def run_here(program: Path, named: str) -> Mapping[str, float]:
    """What each program of an object returns on the machine, with the answers of a kernel."""
    done = subprocess.run([example("programs"), program, named], check=True, capture_output=True, text=True)
    pairs = (line.partition("=") for line in done.stdout.splitlines())
    return {name: float(value) for name, _, value in pairs}


def asked(*words: str, names: Sequence[str]) -> dict[str, Any]:
    """A sample that runs programs in the kernel, of which each prints a number by its name."""
    request = Hogs("default", ()).request
    extract = [{"metric": name, "find": {"pattern": rf"(?m)^{name}=(\d+)$"}} for name in names]
    work = {**request["workload"], "command": ["/run_programs", *words], "extract": extract, "timeout_s": 3000}
    return {**request, "id": words[-1], "workload": work}


@pytest.mark.parametrize("name", PLACES)
def test_a_kernel_and_the_machine_agree(name: str, copies: MakeCopies, test_objects: Path, tmp_path: Path) -> None:
    """By functions of the kernel that compiled programs use, and by drawn programs of single instructions."""
    # The emulated kernel takes minutes for thousands.
    count = DRAWN if name == KERNELS[0] else min(DRAWN, 60)
    carried = {f"/{each}": test_objects / f"{each}.bpf.o" for each in OBJECTS}
    expected = [run_here(each, version(name)) for each in carried.values()]
    requests = [asked(place, names=list(values)) for place, values in zip(carried, expected, strict=True)]
    with (tmp_path / "drawn").open("w") as lines:
        subprocess.run([example("draw"), str(count)], check=True, stdout=lines)
    expected.append({"same": count, "other": 0, "refused": 0})
    requests.append(asked("--drawn", "/drawn", names=list(expected[-1])))
    cargo = guest.Cargo(
        programs={"/run_programs": example("run_programs")}, files={**carried, "/drawn": tmp_path / "drawn"}
    )
    outcomes, _ = copies(kernel.find(name), cpus=4, cargo=cargo).session(requests)
    for outcome, values in zip(outcomes, expected, strict=True):
        assert isinstance(outcome, ValidSample), outcome
        assert {name: outcome.metrics[name] for name in values} == values
