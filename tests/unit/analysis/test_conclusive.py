"""Reports that decide what was asked, and such that do not."""

from collections.abc import Mapping
from dataclasses import replace

import report_examples as examples

from runoff.analysis import build
from runoff.results import Ended, Results, Stopping

CELL = {arm: {"elapsed_s": (10.0, 0.1), "migrations": (5.0, 0.1)} for arm in ("default", "bfs")}


def take(metric: object = examples.WALL, voids: Mapping[tuple[str, str, int], str] | None = None) -> Results:
    return examples.campaign({"w": CELL}, {"w": (metric,)}, blocks=4, voids=voids)  # type: ignore[arg-type]


def test_a_campaign_with_values_of_all_arms_is_conclusive() -> None:
    assert build.build_report(take()).is_conclusive
    assert build.build_report(take(voids={("w", "bfs", 0): "ejected"})).is_conclusive


def test_an_arm_without_a_value_or_no_headline_is_not() -> None:
    assert not build.build_report(take(voids={("w", "bfs", block): "ejected" for block in range(4)})).is_conclusive
    assert not build.build_report(take(examples.MIGRATIONS)).is_conclusive


def test_one_that_went_on_has_to_have_decided() -> None:
    for decided in (True, False):
        stopping = Stopping(until=0.02, ended=Ended(4, "because", decided))
        assert build.build_report(replace(take(), stopping=stopping)).is_conclusive is decided
