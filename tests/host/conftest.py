"""Tests marked ``sched_ext`` run where the kernel has it: here, or all together in one guest."""

import os
from collections.abc import Iterator
from pathlib import Path

import command
import guest
import pytest

HERE = Path("/sys/kernel/sched_ext").is_dir() and os.geteuid() == 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whichever is the first waits for all in a guest; as root they need a world of their own."""
    for item in items:
        if os.geteuid() == 0 and "RUNOFF_ALONE" not in os.environ:
            item.add_marker(pytest.mark.skip(reason="as root this runs in a world of its own: tests/alone pytest"))
        if not HERE and item.get_closest_marker("sched_ext"):
            item.add_marker(pytest.mark.timeout(guest.GUESTS * guest.LIMIT_S))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Instead of the test's body, look at what became of it in the guest."""
    if HERE or pyfuncitem.get_closest_marker("sched_ext") is None:
        return None
    results = pyfuncitem.config.stash.get(_RESULTS, None)
    if results is None:
        results = pyfuncitem.config.stash[_RESULTS] = _in_guest(pyfuncitem)
    if isinstance(results, guest.Unavailable):
        _absent(str(results))
    elif failure := results[pyfuncitem.nodeid]:
        pytest.fail(f"in the guest:\n{failure}", pytrace=False)
    return True


def _absent(reason: str) -> None:
    """`make test-all` has prepared everything, so there a missing piece is a failure."""
    if os.environ.get("RUNOFF_REQUIRE_LAB"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


_RESULTS: pytest.StashKey[dict[str, str] | guest.Unavailable] = pytest.StashKey()


def _in_guest(first: pytest.Function) -> dict[str, str] | guest.Unavailable:
    """All tests of the session that need sched_ext; an exception says why they did not run."""
    chosen = [item.nodeid for item in first.session.items if item.get_closest_marker("sched_ext")]
    folder = first.config._tmp_path_factory.mktemp("guest")
    try:
        return guest.run(chosen, folder)
    except guest.Unavailable as error:
        return error


@pytest.fixture(autouse=True)
def nothing_stays_in_charge() -> Iterator[None]:
    """A scheduler that a failed test has attached would be in charge of all that follow."""
    yield
    if HERE:
        command.end_started()


@pytest.fixture(scope="session")
def test_objects() -> Path:
    """Directory of the objects of tests/objects."""
    directory = Path(os.environ.get("RUNOFF_TEST_OBJECTS", guest.REPOSITORY / "build/test-objects"))
    if not (directory / "staller.bpf.o").exists():
        _absent("the test objects are not built: make setup")
    return directory
