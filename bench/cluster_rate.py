"""What taking samples on a cluster costs: samples that take no time, here and through Dask, and the memory they need.

usage: bench/cluster_rate.py [SAMPLES [WORKERS...]]
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

PRELOAD = Path(__file__).with_name("empty_lab.py")
SAMPLES = 100_000
WORKERS = (1, 2)
MOST_MS = 20.0
ARMS = ("default", "bfs", "o1")


class Watching:
    """Notes time and memory as samples are stored; see ``runoff.campaign.loop.observer.Observer``."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._count = 0
        self.began_s = 0.0
        self.seen: list[tuple[int, float, float]] = []

    def __getattr__(self, _name: str) -> object:
        return lambda *_args, **_more: None

    def started(self, _cell: object) -> None:
        self.began_s = self.began_s or time.monotonic()

    def finished(self, _cell: object, _outcome: object) -> None:
        self._count += 1
        if self._count % self._every == 0:
            mb = psutil.Process().memory_info().rss / (1 << 20)
            self.seen.append((self._count, time.monotonic() - self.began_s, mb))


def take(samples: int, cluster: str | None) -> Watching:
    """Take them in a campaign that is thrown away."""
    import empty_lab

    from runoff import make_settings
    from runoff.campaign import conduct, directory
    from runoff.campaign.loop.execution import Execution
    from runoff.campaign.loop.run import run
    from runoff.cluster import engine as clusters

    clusters.make_engine_in = empty_lab.EmptyLab
    works = len(conduct.check(make_settings(arms=ARMS, workloads=["counters"], clock="virtual")).works)
    blocks = samples // (len(ARMS) * works)
    plan = conduct.check(make_settings(arms=ARMS, workloads=["counters"], clock="virtual", blocks=blocks, warmup=0))
    watching = Watching(max(1, samples // 10))
    with tempfile.TemporaryDirectory() as folder, directory.create(Path(folder) / "c", plan) as journal:
        if cluster is None:
            engine = empty_lab.EmptyLab(plan, Path(folder))
        else:
            engine = clusters.ClusterEngine(plan, Path(folder) / "c", cluster, {}, ())
        run(plan, journal, engine, watching, Execution(jobs=2, cluster=cluster))
    return watching


def main() -> None:
    # The lines of a table in docs/cluster.md.
    os.environ["DASK_DISTRIBUTED__WORKER__PRELOAD"] = str(PRELOAD)
    import figures

    samples = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES
    workers = [int(word) for word in sys.argv[2:]] or WORKERS
    print(f"cluster rate: {figures.machine()}", flush=True)
    for cluster in (None, *(f"local:{count}" for count in workers)):
        found = take(samples, cluster)
        place = "here, -j 2" if cluster is None else cluster
        last = found.seen[-1]
        each_ms = 1000 * last[1] / last[0]
        told = "" if cluster is None else f", target {MOST_MS:g} ms: {'met' if each_ms <= MOST_MS else 'MISSED'}"
        print(f"{place}: {last[0]} samples, {each_ms:.2f} ms each{told}", flush=True)
        print("  memory: " + ", ".join(f"{mb:.0f} MB at {count}" for count, _, mb in found.seen), flush=True)


if __name__ == "__main__":
    main()
