"""Time under the virtual clock: whether CPUs work in parallel, and what a virtual second costs this machine.

Free are the counters, which the scheduler places; pinned are hogs of `runoff-agent scene`, one or two bound to a CPU.
"""

import figures
import progress

BLOCKS = 3
FREE = {1.0: 0.015, 2.0: 0.03}
"""What counters on CPUs of their own, and two to a CPU, may miss the ideal by."""
PINNED = 0.005
MOST_WALL_S = 3.8
"""For each virtual second of a busy CPU."""
MOST_OF_IDLE = 1.10
"""What a virtual second of one busy CPU may cost more where seven idle beside it."""
COUNT = 20_000_000


def compare(cpus: int, *works: str, blocks: int = BLOCKS) -> progress.Campaign:
    chosen = [word for work in works for word in ("--work", work)]
    return progress.compare("default", *chosen, "--clock", "virtual", "--cpus", str(cpus), "--blocks", str(blocks))


def find_means(campaign: progress.Campaign, metric: str) -> dict[str, float]:
    """By workload."""
    values: dict[str, list[float]] = {}
    for sample in campaign.report["samples"]:
        values.setdefault(sample["workload"], []).append(sample["metrics"][metric])
    return {work: sum(each) / len(each) for work, each in values.items()}


def show_free(cpus: int) -> None:
    works = {count: f"counters:n={count},count={COUNT},passes=2" for count in (1, cpus, 2 * cpus)}
    found = find_means(compare(cpus, *works.values()), "time_s")
    for count, work in works.items():
        ideal = max(1.0, count / cpus)
        off = found[work] / found[works[1]] / ideal - 1
        missed = "" if abs(off) <= FREE[ideal] else f"; target {100 * FREE[ideal]:g} %: MISSED"
        print(f"{cpus} CPUs, {count} free: {100 * off:+.2f} % of the ideal{missed}", flush=True)


def show_pinned(cpus: int) -> None:
    """What a second more of each takes, so that starting and ending do not count."""

    def bound(each_ms: int, on_one: int) -> str:
        scripts = " ".join(f"'hog{cpu}*{on_one}: on {cpu}, run {each_ms}'" for cpu in range(cpus))
        return f"command:runoff-agent scene --seconds=600 {scripts}"

    def more_s(on_one: int) -> float:
        return found[bound(2000, on_one)] - found[bound(1000, on_one)]

    found = find_means(
        compare(cpus, *(bound(each_ms, on_one) for each_ms in (1000, 2000) for on_one in (1, 2))), "elapsed_s"
    )
    off = more_s(2) / more_s(1) / 2 - 1
    missed = "" if abs(off) <= PINNED else f"; target {100 * PINNED:g} %: MISSED"
    print(f"{cpus} CPUs, {2 * cpus} pinned: {100 * off:+.2f} % of twice the time of {cpus}{missed}", flush=True)


def measure_wall_s(cpus: int, busy: int) -> float:
    """Return the wall time of a virtual second in which ``busy`` of the CPUs are: a long sample less a short one."""
    took = {}
    for passes in (1, 5):
        work = f"counters:n={busy},count={10 * COUNT},passes={passes}"
        campaign = compare(cpus, work, blocks=2)
        took[passes] = (
            campaign.finished_s[1] - campaign.finished_s[0],
            campaign.report["samples"][1]["metrics"]["elapsed_s"],
        )
    return (took[5][0] - took[1][0]) / (took[5][1] - took[1][1])


def main() -> None:
    """Parallel time, then the wall's."""
    print(figures.machine())
    for cpus in (2, 4, 8):
        show_free(cpus)
        show_pinned(cpus)
    one = measure_wall_s(1, 1)
    for cpus, busy in ((1, 1), (2, 2), (4, 4), (8, 8), (8, 1)):
        each = [measure_wall_s(cpus, busy) / busy for _ in range(3)]
        figures.show(f"{cpus} CPUs, {busy} busy: wall for each virtual second of one", each, "s", MOST_WALL_S)
        if busy == 1:
            ratios = [value / one for value in each]
            figures.show(f"{cpus} CPUs, {busy} busy: wall, to one CPU alone", ratios, "x", MOST_OF_IDLE)


if __name__ == "__main__":
    main()
