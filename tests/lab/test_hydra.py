"""HYDRA's policies are exchanged under load, and nothing is lost by it (specs/schedulers/hydra.md section 5)."""

from pathlib import Path
from typing import Any

import hogs
import pytest
from hogs import Hogs

from runoff.engines.lab import guest, image, kernel, qemu
from runoff.engines.outcome import Taken

pytestmark = [pytest.mark.lab, pytest.mark.slow]

CHANGING_SECONDS = 30.0
CHANGES = 100
MOST_PROMOTIONS = 56
"""From the worst level to the best."""
MODES = ("sc", "pb", "eb")

STEADY = {mode: Hogs("hydra", (0, 0, 0), {"mode": mode}, 5) for mode in MODES}

WATCHDOG_EVERY_MS = 500
WATCHDOG = {
    mode: Hogs("hydra", (0,) * 20, {"mode": mode}, 12, (f"--sleeper-ms={WATCHDOG_EVERY_MS}",)) for mode in ("pb", "eb")
}
"""The report of August 2004: a process that looks at the clock now and then beside 20 hogs, all of nice 0."""


def switching(script: str, seconds: float, nice: tuple[int, ...]) -> dict[str, Any]:
    """A sample of hogs during which a shell changes modes."""
    steady = Hogs("hydra", nice, {"mode": "sc"}, seconds)
    request = steady.request
    levels = ",".join(map(str, nice))
    command = f"runoff-agent hogs --nice={levels} --seconds={seconds} & hogs=$!; {script} wait"
    counted = [{"metric": "changes", "pattern": "changes ([0-9]+)"}] if "changes" in script else []
    extract = [*request["workload"]["extract"], *counted]
    workload = {**request["workload"], "extract": extract, "root": guest.IMAGE_ROOT, "command": ["sh", "-c", command]}
    return {**request, "id": f"switching {script}", "workload": workload}


def change(mode: str) -> str:
    return f"runoff-agent set hydra mode={mode} >&2 || exit 1;"


ROUND = " ".join(f"{change(mode)} n=$((n+1)); sleep 0.1;" for mode in MODES)
OVER_AND_OVER = f"renice -n -20 $$ >&2; n=0; while kill -0 $hogs 2>/dev/null; do {ROUND} done; echo changes $n;"
"""Whoever changes the mode comes first, or starting programs beside the hogs would take most of the time."""

TO_EB = f"sleep 2; {change('pb')} sleep 2; {change('eb')}"


@pytest.fixture(scope="module")
def measured(
    tmp_path_factory: pytest.TempPathFactory, lab_kernel: kernel.Kernel, lab_image: image.Image
) -> dict[str, hogs.Got]:
    folder = tmp_path_factory.mktemp("hydra")
    samples = {hogs_.id: hogs_.request for hogs_ in (*STEADY.values(), *WATCHDOG.values())}
    samples["over and over"] = switching(OVER_AND_OVER, CHANGING_SECONDS, (0, 0, 0))
    samples["to eb"] = switching(TO_EB, 24, (0, 10))
    machine = qemu.Machine(
        kernel=lab_kernel.vmlinux,
        initramfs=folder / "initramfs",
        console=folder / "console.txt",
        cpus=1,
        memory_mb=512,
        clock="virtual",
        accelerator="tcg",
        image=lab_image.path,
    )
    orders = guest.Orders(seed=1, requests=list(samples.values()))
    running = guest.boot(folder, machine, lab_kernel, guest.Cargo(), orders, hogs.LIMIT_S)
    found = {}
    try:
        for name, request in samples.items():
            outcome = running.agent.take(request, lambda _phase: None, hogs.LIMIT_S)
            assert isinstance(outcome, Taken), outcome
            found[name] = hogs.Got(Hogs("hydra", _nice(request)), dict(outcome.metrics))
    finally:
        running.close()
    assert "WARNING" not in Path(machine.console).read_text(errors="replace")
    return found


def _nice(request: dict[str, Any]) -> tuple[int, ...]:
    hogs_found = [each["metric"] for each in request["workload"]["extract"] if each["metric"].startswith("cpu_s")]
    return (0,) * len(hogs_found)


def test_a_hundred_changes_cost_nothing_and_lose_nobody(measured: dict[str, hogs.Got]) -> None:
    changed = measured["over and over"]
    assert changed.metrics["changes"] >= CHANGES
    # The program that changes the mode runs too, so it is all that runs which has to add up.
    steady = [measured[STEADY[mode].id].metrics["cpu_pct"] for mode in MODES]
    assert changed.metrics["cpu_pct"] >= 0.98 * sum(steady) / len(steady), (changed.metrics, steady)
    shares = changed.shares_pct
    assert min(shares) > sum(shares) / len(shares) / 2, shares
    assert max(changed.gaps_ms) <= MOST_PROMOTIONS * 255 + (len(changed.hogs.nice) + 1) * 104, changed.gaps_ms


def test_shares_reach_those_of_the_new_mode(measured: dict[str, hogs.Got]) -> None:
    """2 s of sc (66.7/33.3), 2 s of pb (about 95/5), 20 s of eb (65/35): had one stayed, the sum would be far off."""
    better, worse = measured["to eb"].shares_pct
    expected = (2 * 66.7 + 2 * 95 + 20 * 65) / 24
    assert 100 * better / (better + worse) == pytest.approx(expected, abs=4)


@pytest.mark.parametrize("mode", WATCHDOG)
def test_the_watchdog_beside_twenty_hogs_still_sees_gaps_of_seconds(mode: str, measured: dict[str, hogs.Got]) -> None:
    gap_us = 1000 * WATCHDOG_EVERY_MS + measured[WATCHDOG[mode].id].metrics["max_us"]
    assert gap_us > 1_250_000
