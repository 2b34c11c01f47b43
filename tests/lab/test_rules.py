"""Rules of single schedulers on one CPU, each by the smallest scene in which its opposite would show."""

import perl
import pytest
from copies import Copies, MakeCopies
from hogs import SLOW_CPU
from scenes import ON_FOR_EVER, Scene, play

from runoff.engines.lab import image

pytestmark = [pytest.mark.lab]


@pytest.fixture(scope="module")
def one_cpu(copies: MakeCopies) -> Copies:
    return copies()


@pytest.fixture(scope="module")
def slow_cpu(copies: MakeCopies) -> Copies:
    return copies(instruction_shift=SLOW_CPU)


def test_bfs_an_idle_task_that_waited_for_a_program_is_an_idle_task_again(one_cpu: Copies) -> None:
    """A task is lifted until it has run, because others may wait for what it waited for; not for good."""
    scene = Scene(
        scripts=(f"idle: policy idle, vfork, {ON_FOR_EVER}", f"hog: sleep 200, {ON_FOR_EVER}"),
        wanted=("idle", "hog"),
        seconds=2,
    )
    seen = play(one_cpu, "bfs", scene)
    assert seen["idle.cpu_s"] < 0.25
    assert seen["hog.cpu_s"] > 1.7


@pytest.mark.parametrize("computed_ms", [300, 1500])
def test_o1_a_task_that_computed_is_interactive_again_when_it_sleeps(computed_ms: int, slow_cpu: Copies) -> None:
    """The credit falls each time that it leaves the CPU with nothing left, not with every tick."""
    scene = Scene(
        scripts=(
            f"hogs*3: sleep {computed_ms}, {ON_FOR_EVER}",
            f"editor: busy {computed_ms}, repeat, sleep 200, run 120",
        ),
        wanted=("editor",),
        seconds=8,
    )
    seen = play(slow_cpu, "o1", scene)
    assert seen["editor.run_mean_ms"] < 160
    assert seen["editor.late_mean_ms"] < 5


@pytest.mark.parametrize("scheduler", ["eevdf", "default"])
def test_a_task_that_yields_alone_owes_nothing(scheduler: str, one_cpu: Copies) -> None:
    scene = Scene(
        scripts=(f"yielder: yield 2000, {ON_FOR_EVER}", f"newcomer: sleep 2000, {ON_FOR_EVER}"),
        wanted=("yielder", "newcomer"),
        seconds=4,
    )
    seen = play(one_cpu, scheduler, scene)
    assert seen["yielder.longest_gap_ms"] < 20
    assert seen["newcomer.longest_gap_ms"] < 20


@pytest.mark.parametrize(
    ("scheduler", "parameters", "sleep_ms"),
    [
        # In the middle of the hog's slice of 100 ms: one whose slice has just ended is behind all that are active.
        ("o1", {}, 250),
        ("o1", {"era": "2.6.20"}, 250),
        ("zaphod", {}, 300),
        ("staircase", {}, 300),
        ("hydra", {}, 300),
        # After a longer sleep its deadline would be the earlier one with any nice value.
        ("bfs", {}, 100),
    ],
    ids=str,
)
def test_a_task_that_becomes_nicer_makes_way_at_once(
    scheduler: str, parameters: dict[str, str], sleep_ms: int, one_cpu: Copies
) -> None:
    scene = Scene(
        scripts=(f"hog: {ON_FOR_EVER}", f"nicer: sleep {sleep_ms}, nice 19, run 1"),
        wanted=("nicer",),
        seconds=2,
        parameters=parameters,
    )
    # The other one goes on while it is still being made nicer.
    assert play(one_cpu, scheduler, scene)["nicer.longest_gap_ms"] > 1


@pytest.mark.parametrize(
    ("scheduler", "parameters"), [("zaphod", {"base_promotion_interval": "10000"}), ("cfs", {})], ids=["zaphod", "cfs"]
)
def test_a_task_that_has_starved_gets_a_tick_and_not_a_slice(
    scheduler: str, parameters: dict[str, str], slow_cpu: Copies
) -> None:
    """All better ones wait for it. Without the turn it would wait for minutes, and the kernel end the scheduler."""
    scene = Scene(
        scripts=(f"hog: nice -20, sleep 50, {ON_FOR_EVER}", f"worse: nice 19, sleep 100, {ON_FOR_EVER}"),
        wanted=("worse",),
        seconds=18,
        parameters=parameters,
    )
    assert play(slow_cpu, scheduler, scene)["worse.cpu_s"] < 0.03


NAPPER = r"""
pipe R, W;
if (!fork) { close W; 1 while sysread R, $_, 1; exit }
if (!fork) { compute(3); exit }
my @late;
for (1 .. 120) {
    my $due = now() + 0.01;
    select undef, undef, undef, 0.01;
    push @late, now() - $due;
    compute(0.0003);
    syswrite W, "x" if $ARGV[0];
}
printf "late %d us\n", 1e6 * (sort { $a <=> $b } @late[-40 .. -1])[20];
close W;
wait; wait;
"""
"""A program to run next to a hog; with an argument that is not 0 it wakes another task after each nap."""


def test_cfs_lets_a_task_that_wakes_others_soon_preempt_sooner(copies: MakeCopies, lab_image: image.Image) -> None:
    """Without wake-ups of others a task preempts only if it is behind by a second."""
    guest = copies(root=lab_image)

    def late_us(wakes: bool) -> float:
        era = {"era": "2.6.31", "wakeup_granularity_us": "1000000"}
        return perl.run(guest, NAPPER, str(int(wakes)), scheduler="cfs", **era)

    assert late_us(True) < 1000
    assert late_us(False) > 1000


@pytest.mark.parametrize(("policy", "least", "most"), [("normal", 0.6, 1.3), ("batch", 0.0, 0.3)])
def test_cfs_up_to_2_6_32_a_batch_task_that_yields_goes_behind_all_others(
    policy: str, least: float, most: float, slow_cpu: Copies
) -> None:
    scene = Scene(
        scripts=(f"yielder: policy {policy}, yield 3000", f"hogs*2: {ON_FOR_EVER}"),
        wanted=("yielder",),
        seconds=3,
        parameters={"era": "2.6.24"},
    )
    assert least < play(slow_cpu, "cfs", scene)["yielder.cpu_s"] < most
