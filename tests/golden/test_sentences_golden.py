"""The verdict in a sentence, case by case: of one table, of several, of many arms, and what is held back."""

from dataclasses import replace

import report_examples as examples
from approved import assert_approved, list_cases

from runoff.analysis import build
from runoff.report.words.sentences import render_verdict
from runoff.results import Metric, Results

WORKS = ("compile", "hackbench", "sleep")
BOTH = (examples.WALL, Metric("p99_us", "us", "lower", "latency p99", headline=True))
STEADY = [3.1, 3.2, 3.3, 3.2, 3.1, 3.3, 3.2, 3.3, 3.1, 3.2]
WILD = [0.8, 318.0, 95.0, 1.2, 0.9, 145.0, 1.1, 110.0, 4.0, 120.0]
CERTAIN = {"default": [10.0, 10.01, 9.99, 10.0], "a": [10.03, 10.04, 10.02, 10.03]}


def take(*means: float, works: tuple[str, ...] = WORKS, blocks: int = 6, **fields: object) -> Results:
    """The baseline at 10, then arms a, b, ... at ``means``; all with an SD of 1 %."""
    return take_each(dict.fromkeys(works, means), blocks=blocks, **fields)


def take_each(means: dict[str, tuple[float, ...]], *, blocks: int = 6, sd: float = 0.1, **fields: object) -> Results:
    """With means of their own for each workload."""
    cells = {
        work: {arm: {"elapsed_s": (mean, sd)} for arm, mean in zip("_abcdef", (10.0, *each), strict=False)}
        for work, each in means.items()
    }
    named = {
        work: {"default" if arm == "_" else arm: found for arm, found in cell.items()} for work, cell in cells.items()
    }
    return examples.campaign(named, dict.fromkeys(named, (examples.WALL,)), blocks=blocks, **fields)


def take_two_metrics(*works: str) -> Results:
    cell = {arm: {"elapsed_s": (mean, 0.1), "p99_us": (mean, 0.1)} for arm, mean in (("default", 10), ("a", 12))}
    return examples.campaign(dict.fromkeys(works, cell), dict.fromkeys(works, BOTH), blocks=6)


def take_exactly(values: dict[str, list[float]]) -> Results:
    """One table with these values, a block after the other."""
    cell = {arm: {"elapsed_s": (each[0], 0.0)} for arm, each in values.items()}
    made = examples.campaign({"w": cell}, {"w": (examples.WALL,)}, blocks=len(next(iter(values.values()))))
    samples = tuple(replace(s, metrics={"elapsed_s": values[s.arm][s.block]}) for s in made.samples)
    return replace(made, samples=samples)


def take_elevators() -> Results:
    cell = {arm: {"elapsed_s": (10, 0.1)} for arm in ("default", "default+io=cfq", "default+io=noop")}
    cell["default+io=cfq"] = {"elapsed_s": (12, 0.1)}
    return examples.campaign(dict.fromkeys(WORKS, cell), dict.fromkeys(WORKS, (examples.WALL,)), blocks=6)


def lose(arm: str, works: tuple[str, ...] = WORKS, blocks: range | tuple[int, ...] = range(6)) -> dict[str, object]:
    return {"voids": {(work, arm, block): "exited" for work in works for block in blocks}}


def keep(results: Results, *arms: str) -> Results:
    return replace(results, samples=tuple(sample for sample in results.samples if sample.arm in arms))


COMPILE = ("compile",)
LONG_NAMES = ("schbench:operations=1,seconds=1", "counters:n=2,passes=3", "counters:n=3,passes=3")
CASES = {
    "one table names all arms": take(12, 8, 10, works=COMPILE),
    "several tables are summarised for each arm": take(12, 10),
    "the same in the other tables": take_each({"compile": (10,), "hackbench": (10,), "sleep": (12,)}, blocks=45),
    "the baseline is named once in each sentence": take(10, 12),
    "an arm whose name begins with the baseline's": take_elevators(),
    "nothing can be said of the first arm": take(10, 12, **lose("a")),
    "two metrics of one workload": take_two_metrics("w"),
    "two metrics of two workloads": take_two_metrics("w", "v"),
    "a workload has the shortest distinct name": take(12, works=LONG_NAMES),
    "what is left after a difference is named": take_each({"compile": (10,), "hackbench": (10,), "sleep": (12,)}),
    "and in one other table": take_each({"compile": (10,), "sleep": (12,)}),
    "arms that differ are named of many": take(10, 12, 10, 13, 10),
    "no arm of two differs": take(10, 10),
    "no arm of four differs": take(10, 10, 10, 10),
    "all is unclear": take_each(dict.fromkeys(WORKS, (10, 10)), sd=3),
    "what differs for certain and by little is not called unclear": take_exactly(CERTAIN),
    "one that varies far more": take_exactly({"default": STEADY, "a": WILD}),
    "one that varies far less": take_exactly({"default": WILD, "a": STEADY}),
    "one that is slower and varies alike": take_exactly({"default": STEADY, "a": [value * 30 for value in STEADY]}),
    "an arm that has not been run": keep(take(12, 10), "default", "a"),
    "a baseline that has not been run": keep(take(12, 10), "b"),
    "not all samples are there": replace(take(12), planned=99),
    "the same in one table says what it cannot have seen": take(10, works=COMPILE, blocks=45),
    "the same in all tables": take(10, blocks=45),
    "an arm that lost many runs": take(12, works=COMPILE, blocks=9, **lose("a", COMPILE, (1, 3, 5))),
    "an arm that lost one": take(12, works=COMPILE, blocks=20, **lose("a", COMPILE, (1,))),
    "a void baseline": take(12, **lose("default")),
    "an arm that is void in one table": take(12, **lose("a", COMPILE)),
    "an arm that is void in all": take(12, **lose("a")),
    "a single arm": take(),
    "a single arm that is void": take(**lose("default")),
}


def test_each_case_is_said_as_approved() -> None:
    texts = {case: "\n".join(render_verdict(build.build_report(results))) for case, results in CASES.items()}
    assert_approved("words/sentences.txt", list_cases(texts))
