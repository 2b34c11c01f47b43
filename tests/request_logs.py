"""Logs of requests as the agent sends them, made of a few numbers."""

from runoff.results.request_log import COLUMNS

MS = 1_000_000

Served = tuple[int, int, int, int, int, int]
"""Number of a request, dispatched, reached, done (ms), from and to which cylinder."""


def request(
    arrived_ms: float, sector: int, served: Served | None, *, merged: int = 0, rwbs: str = "R", pid: int = 7
) -> str:
    """A row of 8 sectors; a request that was merged follows its first part."""
    row = {
        "what": "request", "arrived_ns": int(arrived_ms * MS), "rwbs": rwbs, "sector": sector, "sectors": 8,
        "class": "be4", "cpu": 0, "pid": pid, "comm": f"task {pid}",
    }  # fmt: skip
    if served is not None:
        number, dispatched, reached, done, start, end = served
        row |= {
            "dispatched_ns": dispatched * MS, "reached_ns": reached * MS, "done_ns": done * MS, "served": number,
            "merged": merged, "served_sector": sector - 8 * merged, "served_sectors": 16 if rwbs == "W" else 8,
            "from_cylinder": start, "cylinder": end, "depth": 1,
        }  # fmt: skip
    return _row(row)


def held(start_ms: int, until_ms: int) -> str:
    """A row of a time held idle."""
    return _row({"what": "held", "arrived_ns": start_ms * MS, "done_ns": until_ms * MS})


def exit_of(pid: int, at_ms: int) -> str:
    """A row of a process that has ended."""
    return _row({"what": "exit", "arrived_ns": at_ms * MS, "pid": pid})


def asked(at_ms: int) -> str:
    """A row of a time at which the elevator gave nothing."""
    return _row({"what": "asked", "arrived_ns": at_ms * MS})


def log(*rows: str, dropped: int = 0) -> str:
    """The whole file."""
    return f"# device=259,2 dropped={dropped}\n" + "".join(f"{row}\n" for row in ("\t".join(COLUMNS), *rows))


def _row(values: dict[str, object]) -> str:
    return "\t".join(str(values.get(column, "")) for column in COLUMNS)


FEW = log(
    request(-3, 0, (0, -3, -2, -1, 0, 0), pid=1),
    request(1, 100, (1, 1, 4, 5, 0, 10)),
    request(2, 9000, (2, 11, 14, 15, 10, 400), rwbs="W", pid=9),
    request(3, 9008, (2, 11, 14, 15, 10, 400), merged=1, rwbs="W", pid=9),
    request(12, 108, None, pid=8),
    held(5, 11),
    exit_of(7, 11),
    asked(-1),
    asked(5),
    dropped=2,
)
"""Two readers and a writer whose two requests are merged; the disk is held idle for a reader until it has ended, and
one request still waits at the end."""

FEW_AS_BLKTRACE = """\
  259,2  0        1    -0.003000000     1  Q   R 0 + 8 [task 1]
  259,2  0        2    -0.003000000     1  D   R 0 + 8 [task 1]
  259,2  0        3    -0.001000000     1  C   R 0 + 8 [task 1]
  259,2  0        4     0.001000000     7  Q   R 100 + 8 [task 7]
  259,2  0        5     0.001000000     7  D   R 100 + 8 [task 7]
  259,2  0        6     0.002000000     9  Q   W 9000 + 8 [task 9]
  259,2  0        7     0.003000000     9  Q   W 9008 + 8 [task 9]
  259,2  0        8     0.003000000     9  M   W 9008 + 8 [task 9]
  259,2  0        9     0.005000000     7  C   R 100 + 8 [task 7]
  259,2  0       10     0.005000000     0  m   N held idle, requests wait
  259,2  0       11     0.011000000     0  m   N goes on
  259,2  0       12     0.011000000     9  D   W 9000 + 16 [task 9]
  259,2  0       13     0.012000000     8  Q   R 108 + 8 [task 8]
  259,2  0       14     0.015000000     9  C   W 9000 + 16 [task 9]
# 2 more requests were too many for the log
"""
