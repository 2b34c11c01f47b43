"""What the lab's tests share: the kernel and the image that `make test` has made, and the command itself."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runoff.engines.lab import image, kernel
from runoff.errors import MissingError
from runoff.workloads import WORKLOADS

REPOSITORY = Path(__file__).parents[2]


def _absent(reason: str) -> None:
    """`make test` has prepared everything, so there a missing piece is a failure."""
    if os.environ.get("RUNOFF_REQUIRE_LAB"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def absent() -> Callable[[str], None]:
    """To be called with what is missing."""
    return _absent


@pytest.fixture(scope="session")
def lab_kernel() -> kernel.Kernel:
    try:
        return kernel.default()
    except MissingError as missing:
        _absent(str(missing))
        raise


@pytest.fixture(scope="session")
def lab_image() -> image.Image:
    """The demo's image; it is not built here, because that needs the network."""
    found = image.cached(image.needs([WORKLOADS.find("hackbench"), WORKLOADS.find("counters")]))
    if found is None:
        _absent("the image of the demo is not in the cache: make image")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def test_objects() -> Path:
    """Directory of the objects of tests/objects."""
    directory = Path(os.environ.get("RUNOFF_TEST_OBJECTS", REPOSITORY / "build/test-objects"))
    if not (directory / "staller.bpf.o").exists():
        _absent("the test objects are not built: make setup")
    return directory
