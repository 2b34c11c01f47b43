"""How long a sample of a workload takes in the lab.

The figures are measured by bench/sample_times.py. They are not in the workloads' own files, whose digests tell whether
two campaigns ran the same work.
"""

LAB_SAMPLE_S = {
    "7zip": 36.5,
    "audio": 18.0,
    "compile": 273.0,
    "convoy": 18.0,
    "counters": 2.9,
    "cyclictest": 4.6,
    "ffmpeg": 97.0,
    "fio": 9.1,
    "game": 25.0,
    "hackbench": 4.0,
    "lrzip": 67.0,
    "make": 671.0,
    "nginx": 37.0,
    "periodic": 5.3,
    "pgbench": 47.0,
    "pipeline": 15.0,
    "redis": 6.4,
    "render": 664.0,
    "rt-app": 15.0,
    "schbench": 31.0,
    "server": 26.0,
    "stress": 53.0,
    "stress-ng": 34.0,
    "sysbench": 11.0,
}
"""Seconds of wall time of one sample with the workload's own parameters, virtual clock, 2 CPUs, by workload."""


def describe_lab_time(seconds: float | None) -> str:
    """Return the time of a sample to one digit, such as ``4 s`` or ``10 min``; empty where nobody can know it."""
    if seconds is None:
        return ""
    number, unit = (seconds, "s") if seconds < 60 else (seconds / 60, "min")
    return f"{float(f'{number:.1g}'):g} {unit}"
