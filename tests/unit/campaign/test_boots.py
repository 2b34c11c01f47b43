"""Arms on several kernels of the host: each boot takes what it can, in the order that was drawn."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from answering import Answering
from campaign_rows import rows

from runoff.campaign import directory
from runoff.campaign.loop.execution import Ending, Execution
from runoff.campaign.loop.observer import SilentObserver
from runoff.campaign.loop.run import run
from runoff.engines import boots
from runoff.engines.outcome import Outcome, ValidSample
from runoff.errors import MissingError, UsageError
from runoff.plan.make import make_plan
from runoff.plan.order import draw
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings

OLD, NEW = "6.12.57+deb13-cloud-amd64", "6.18.5+deb13-cloud-amd64"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /boot with two kernels, and a file without modules."""
    for release in (OLD, NEW):
        (tmp_path / "modules" / release).mkdir(parents=True)
        (tmp_path / "boot").mkdir(exist_ok=True)
        (tmp_path / "boot" / f"vmlinuz-{release}").write_text(release)
    (tmp_path / "boot" / "vmlinuz-9.9.9").write_text("rescue")
    monkeypatch.setattr(boots, "BOOT", tmp_path / "boot")
    monkeypatch.setattr(boots, "MODULES", tmp_path / "modules")
    return tmp_path / "boot"


def boot(monkeypatch: pytest.MonkeyPatch, release: str) -> None:
    monkeypatch.setattr(boots, "read_running", lambda: release)


def take_on_kernel(_number: int) -> Outcome:
    return ValidSample({"time_s": 1.0 if boots.read_running() == OLD else 0.9}, {"object": ""})


class OfKernel(Answering):
    """Samples and fingerprint are of the kernel that runs."""

    unmixable_tables = ("kernel",)

    def __init__(self, plan: Plan) -> None:
        super().__init__(take_on_kernel)
        self._plan = plan

    def fingerprint(self) -> Mapping[str, Any]:
        return {"kernel": {"release": boots.read_running()}, "machine": {}, **boots.describe_boot(self._plan)}


def go_on(place: Path) -> Ending:
    plan, journal = directory.reopen(place)
    with journal:
        return run(plan, journal, OfKernel(plan), SilentObserver(), Execution())


@pytest.mark.usefixtures("installed")
def test_a_campaign_goes_from_boot_to_boot_in_the_drawn_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    arms = ("default@host:6.12", "default@host:6.18")
    settings = parse_settings({"arms": arms, "workloads": ["hackbench"], "on": "host", "blocks": 5, "seed": 3}, "test")
    plan = make_plan(settings)
    directory.create(tmp_path / "c", plan).close()
    wanted = [plan.arms[cell.arm].kernel for cell in plan.cells]
    booted = 0
    boot(monkeypatch, "5.10.0")
    assert go_on(tmp_path / "c") is Ending.OTHER_KERNEL
    assert not rows(tmp_path / "c")
    while True:
        kernel = wanted[len(rows(tmp_path / "c"))]
        boot(monkeypatch, boots.find_release(kernel))
        booted += 1
        ending = go_on(tmp_path / "c")
        if ending is Ending.COMPLETE:
            break
        assert ending is Ending.OTHER_KERNEL
        assert go_on(tmp_path / "c") is Ending.OTHER_KERNEL
    # Every second block takes the kernels in reverse, so the last of a block is the first of the next.
    assert booted == 6
    taken = rows(tmp_path / "c")
    assert [row["cell"] for row in taken] == [cell.id for cell in plan.cells]
    assert all((row["metrics"]["time_s"] == 1.0) == row["arm"].endswith("6.12") for row in taken)
    results = directory.read_results(tmp_path / "c")
    assert results.changes == ()
    assert set(results.fingerprint["kernels"]) == {f"host:{OLD}", f"host:{NEW}"}
    assert set(results.fingerprint["arms"]) == set(arms)
    assert results.machines == ()


@pytest.mark.usefixtures("installed")
def test_the_kernel_that_a_campaign_began_with_is_not_replaced_by_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: Path
):
    arms = ("default@host:6.12", "default@host:6.18")
    settings = parse_settings({"arms": arms, "workloads": ["hackbench"], "on": "host", "blocks": 2, "seed": 3}, "test")
    plan = make_plan(settings)
    directory.create(tmp_path / "c", plan).close()
    first = boots.find_release(plan.arms[plan.cells[0].arm].kernel or "")
    boot(monkeypatch, first)
    assert go_on(tmp_path / "c") is Ending.OTHER_KERNEL
    newer = first.replace(".5", ".99").replace("12.97", "12.99")
    (tmp_path / "modules" / newer).mkdir()
    (installed / f"vmlinuz-{newer}").write_text("newer")
    reopened, journal = directory.reopen(tmp_path / "c")
    journal.close()
    name = next(name for name in reopened.boots if boots.find_release(name) == newer)
    assert boots.find_planned(reopened, name) == first


def test_a_kernel_is_named_by_the_beginning_of_its_release(installed: Path):
    assert boots.list_installed() == [NEW, OLD]
    assert boots.find_release("host:6.12") == OLD
    assert boots.find_release(f"host:{NEW}") == NEW
    assert boots.find_release("host:6") == NEW
    for absent in ("host:6.1", "host:9.9.9", "host:7"):
        with pytest.raises(MissingError) as refused:
            boots.find_release(absent)
        assert str(refused.value).startswith(
            f"the kernel {absent} is not installed here (in {installed}: {NEW}, {OLD})"
        )


def test_an_arm_that_names_no_kernel_beside_those_that_do_is_refused():
    settings = parse_settings({"arms": ["default", "default@host:6.12"], "workloads": ["hackbench"], "on": "host"}, "t")
    with pytest.raises(UsageError, match="arm 'default' names no kernel, and others do"):
        make_plan(settings)


@pytest.mark.parametrize("works", [1, 3])
def test_a_block_takes_each_kernel_once(works: int):
    kernels = ["a", "b", "a", "c"]
    cells = draw(4, works, [6], 1, kernels=kernels)
    assert [cell.position for cell in cells] == list(range(24 * works))
    before: list[str] = []
    for block in range(6):
        own = [kernels[cell.arm] for cell in cells if cell.block == block]
        changes = [kernel for number, kernel in enumerate(own) if number == 0 or own[number - 1] != kernel]
        assert sorted(changes) == ["a", "b", "c"]
        if block % 2:
            assert changes == before[::-1]
        before = changes


def test_without_kernels_and_with_one_the_order_is_that_of_always():
    usual = draw(3, 2, [8, 4], 7, warmup=1)
    assert draw(3, 2, [8, 4], 7, warmup=1, kernels=["a"] * 3) == usual
