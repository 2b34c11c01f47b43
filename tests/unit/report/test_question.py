"""The page's head: the question, and where and when it was answered."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report.words.question import describe_question, list_facts
from runoff.results import Conditions, Results


def named(*arms: str, works: tuple[str, ...] = ("hackbench",)) -> Results:
    cell = {arm: {"elapsed_s": (10.0, 0.1)} for arm in arms}
    return examples.campaign(dict.fromkeys(works, cell), dict.fromkeys(works, (examples.WALL,)), blocks=2)


@pytest.mark.parametrize(
    ("arms", "works", "question"),
    [
        (("default", "bfs"), ("hackbench",), "Is bfs better than default for hackbench?"),
        (("default", "bfs", "o1"), ("a", "b"), "Is bfs or o1 better than default for a and b?"),
        (("default", *"abcd"), tuple("wxyz"), "Is any of 4 arms better than default for 4 workloads?"),
        (("default", "x" * 70), ("w",), "Is the other arm better than default for w?"),
        (("default",), ("w:n=2", "w:n=3"), "How does default do on w:n=2 and w:n=3?"),
    ],
)
def test_the_question_names_what_is_compared(arms: tuple[str, ...], works: tuple[str, ...], question: str) -> None:
    assert describe_question(build.build_report(named(*arms, works=works))) == question


def test_the_facts_have_machine_kernel_clock_and_days() -> None:
    results = examples.three_arms()
    days = ("2026-01-02T23:59:00+00:00", "2026-01-03T00:01:00+00:00")
    dated = tuple(
        replace(sample, conditions=Conditions(days[number % 2], 0.1)) for number, sample in enumerate(results.samples)
    )
    facts = list(list_facts(build.build_report(replace(results, samples=dated))))
    assert any("AMD Ryzen 7 7840U" in fact for fact in facts)
    assert any("7.2.0-cloud-amd64" in fact for fact in facts)
    assert facts[-2:] == ["lab, real clock", "2026-01-02 to 2026-01-03"]
