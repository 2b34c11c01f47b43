"""Fixtures of the lab's tests: the kernel and the image that `make test` has made, and the command itself."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from copies import Copies, MakeCopies

from runoff.engines.lab import image, kernel
from runoff.engines.lab.emulator import store as emulator
from runoff.errors import MissingError
from runoff.workloads import WORKLOADS

REPOSITORY = Path(__file__).parents[2]


NO_TIME = ("clocksource", "unstable", "skew", "detected stall", "self-detected stall", "soft lockup", "hung task")
"""Words of a kernel that does not trust its clocks, or on which something stands still."""


@pytest.fixture(autouse=True)
def guests_trust_their_clocks(tmp_path: Path) -> Iterator[None]:
    """Checks the consoles of campaigns' guests; ``Copies`` check everything that their kernels print."""
    yield
    for command in tmp_path.rglob("qemu.txt"):
        said = command.with_name("console.txt").read_text(errors="replace")
        assert not [words for words in NO_TIME if words in said], said


def _absent(reason: str) -> None:
    """`make test` has prepared everything, so there a missing piece is a failure."""
    if os.environ.get("RUNOFF_REQUIRE_LAB"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def absent() -> Callable[[str], None]:
    """A function to call with what is missing."""
    return _absent


@pytest.fixture(scope="session")
def lab_kernel() -> kernel.Kernel:
    try:
        return kernel.find_default()
    except MissingError as missing:
        _absent(str(missing))
        raise


@pytest.fixture(scope="session")
def lab_image() -> image.Image:
    """The demo's image; it is not built here, because that needs the network."""
    found = image.find_cached(image.derive_recipe([WORKLOADS.find("hackbench"), WORKLOADS.find("counters")]))
    if found is None:
        _absent("the image of the demo is not in the cache: make image")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def own_qemu() -> emulator.Emulator:
    """It is not built here, because that takes minutes."""
    found = emulator.find_current()
    if found is None:
        _absent("runoff's QEMU is not in the cache: make qemu")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def test_objects() -> Path:
    """Directory of the objects of tests/objects."""
    directory = Path(os.environ.get("RUNOFF_TEST_OBJECTS", REPOSITORY / "build/test-objects"))
    if not (directory / "staller.bpf.o").exists():
        _absent("the test objects are not built: make setup")
    return directory


@pytest.fixture(scope="session")
def copies(
    tmp_path_factory: pytest.TempPathFactory, lab_kernel: kernel.Kernel, own_qemu: emulator.Emulator
) -> MakeCopies:
    """A function to call with the options of the guest, which are those of ``Copies``."""

    def make(used: kernel.Kernel | None = None, **options: Any) -> Copies:
        return Copies(tmp_path_factory.mktemp("copies"), used or lab_kernel, own_qemu, **options)

    return make
