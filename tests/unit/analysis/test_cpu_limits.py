"""Limits of CPU time that only some arms apply: the sentence is wherever a verdict is."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import report_examples as examples
from made_campaigns import made, noisy

from runoff.analysis.beside import lay_beside
from runoff.analysis.build import build_report
from runoff.analysis.cpu_limits import LimitedWork, UnwatchedGroups, find_limits
from runoff.campaign.directory import read_results
from runoff.campaign.journal.journal import Journal
from runoff.decide.gate.judge import judge
from runoff.gate import documents, markdown, text
from runoff.history.build import Ordered, make_history
from runoff.history.document import render_json as render_history_json
from runoff.history.page import render_page
from runoff.history.subjects import Wanted
from runoff.history.text import render_text
from runoff.history.values import Place
from runoff.report.forms import FORMS, render_form
from runoff.report.words.cpu_limits import describe_limits
from runoff.results import CpuLimits, Results

QUOTA = "/g: cpu.max 20000 100000"
SENTENCE = (
    "w: work was under a limit of CPU time (/g: cpu.max 20000 100000), which default applies and bfs does not, so a "
    "difference may be the limit and not the scheduler: take it again without the limit"
)
NUMBERS = ("csv", "wide", "log", "contest", "contest-cgroup")
"""Forms with numbers and no sentence."""

OWN, KERNELS, FOREIGN = False, True, None
ARMS: Mapping[str, bool | None] = {"default": KERNELS, "bfs": OWN, "zaphod": OWN, "exec:other": FOREIGN}


def taken(
    *arms: str, found: tuple[str, ...] = (QUOTA,), blocks: int = 10, unwatched: str = "", works: Sequence[str] = ("w",)
) -> Results:
    """A campaign of these arms under limits."""
    cells = {work: {arm: {"elapsed_s": (10.0 + n, 0.1)} for n, arm in enumerate(arms)} for work in works}
    results = examples.campaign(cells, dict.fromkeys(works, (examples.WALL,)), blocks=blocks)
    samples = (replace(s, cpu_limits=CpuLimits(found, unwatched, ARMS[s.arm])) for s in results.samples)
    return replace(results, samples=tuple(samples))


def plain(text: str) -> str:
    """Without lines, the signs at their beginnings, and what Markdown and JSON escape."""
    return " ".join(text.replace("\n!", "\n").replace("\\", "").split())


@pytest.mark.parametrize("form", [form for form in FORMS if form not in NUMBERS])
def test_every_form_of_a_report_has_the_sentence(form: str) -> None:
    works = ("w:n=1", "w:n=2") if form == "counters" else ("w",)
    told, unlimited = (
        plain(render_form(build_report(taken("default", "bfs", found=found, works=works)), form))
        for found in ((QUOTA,), ())
    )
    assert SENTENCE.removeprefix("w") in told
    assert "limit of CPU time" not in unlimited


def test_every_form_of_a_gate_has_it() -> None:
    gate = judge(build_report(taken("default", "bfs")), 0.02)
    for told in (text.render(gate), markdown.render(gate), documents.render_json(gate), documents.render_junit(gate)):
        assert SENTENCE in plain(told)


def test_campaigns_beside_each_other_have_it_with_a_control_and_without() -> None:
    both = {name: taken("default", "bfs") for name in ("old", "new")}
    (sentence,) = describe_limits(lay_beside(both))
    assert "which old, new may not apply" in sentence, "they are multiples of what default took"
    kernels, own = taken("default"), taken("bfs")
    (sentence,) = describe_limits(lay_beside({"kernels": kernels, "own": own}, "none"))
    assert "which kernels applies and own does not" in sentence
    assert SENTENCE.partition(", which")[0] in plain(render_form(build_report(lay_beside(both)), "text"))


def test_a_history_has_it() -> None:
    campaigns = {name: taken("default", "bfs") for name in ("a", "b")}
    places = {name: Place(name, "2026-01-02") for name in campaigns}
    history = make_history(Ordered(campaigns, places, "given"), Wanted())
    for told in (render_text(history), render_page(history), render_history_json(history)):
        assert SENTENCE in plain(told)


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        (("default",), ""),
        (("bfs", "zaphod"), f"w: bfs, zaphod do not apply the limit of CPU time that work was under ({QUOTA})"),
        (("default", "bfs", "zaphod"), "which default applies and bfs, zaphod do not, so"),
        (("default", "exec:other"), "which default applies and exec:other may not, so"),
        (("bfs", "exec:other"), "which bfs does not apply and exec:other may not, so"),
        (("default", "bfs", "exec:other"), "which default applies and bfs does not and exec:other may not, so"),
    ],
)  # fmt: skip
def test_each_arm_is_called_what_is_known_of_it(arms: tuple[str, ...], told: str) -> None:
    sentences = describe_limits(taken(*arms))
    assert len(sentences) == bool(told)
    assert told in "".join(sentences)


def test_a_limit_of_one_arm_alone_counts_and_one_of_a_void_sample_does_not() -> None:
    results = taken("default", "bfs")
    of_bfs = tuple(s if s.arm == "bfs" else replace(s, cpu_limits=CpuLimits((), "", KERNELS)) for s in results.samples)
    assert describe_limits(replace(results, samples=of_bfs)) == [SENTENCE]
    void = tuple(replace(s, valid=False, reason="ejected") if s.arm == "bfs" else s for s in of_bfs)
    assert list(find_limits(replace(results, samples=void))) == []


def test_many_limits_are_few_in_the_sentence() -> None:
    limits = tuple(f"/{number}: cpu.weight 7" for number in range(8))
    (found,) = find_limits(taken("default", "bfs", found=limits))
    assert isinstance(found, LimitedWork)
    assert found.limits == limits
    assert (
        "(/0: cpu.weight 7; /1: cpu.weight 7; /2: cpu.weight 7 and 5 more)"
        in describe_limits(taken("default", "bfs", found=limits))[0]
    )


def test_groups_that_were_not_watched_are_told() -> None:
    results = taken("default", "bfs", found=(), unwatched="there were more than 4096")
    assert list(find_limits(results)) == [UnwatchedGroups(20, "there were more than 4096")]
    assert describe_limits(results) == [
        "limits of control groups may have gone unseen in 20 valid samples: there were more than 4096"
    ]


def test_what_an_agent_tells_comes_out_of_the_journal(tmp_path: Path) -> None:
    made(tmp_path / "c", noisy(0, 0.1), blocks=1)
    proof = {"object": "", "cpu_limits": {"found": [QUOTA], "unwatched": "", "applied": True}}
    with Journal.open(tmp_path / "c", write=False) as journal:
        row = journal.rows()[0]
    assert row.cpu_limits == CpuLimits(), "campaigns of earlier agents have none"
    sample = row.model_copy(update={"proof": proof}).make_sample()
    assert sample.cpu_limits == CpuLimits((QUOTA,), "", True)
    given = {"wanted": "7", "was": "1", "is": "7"}
    settings = [{"of": "workload", "name": "quota", **given}, {"of": "load", "name": "weight", **given}]
    settings += [{"of": "machine", "name": "thp", **given}]
    found = [QUOTA, "load: cpu.weight 7", "workload/g: cpu.weight 5", "workload: cpu.max 7000 100000"]
    asked = {**proof, "settings": settings, "cpu_limits": {"found": found, "unwatched": "", "applied": False}}
    sample = row.model_copy(update={"proof": asked}).make_sample()
    expected = ("quota=7", "weight=7 of the load")
    assert sample.cpu_limits == CpuLimits((QUOTA, "workload/g: cpu.weight 5"), "", False, expected)
    changed = {**row.model_dump(mode="json"), "proof": {**asked, "settings": [{"name": "quota"}]}}
    with pytest.raises(ValueError, match="validation error"):
        type(row).model_validate_json(json.dumps(changed))
    for wrong in ([], {"found": "x"}, {"applied": 1}, {"other": True}):
        changed = {**row.model_dump(mode="json"), "proof": {"cpu_limits": wrong}}
        with pytest.raises(ValueError, match="validation error"):
            type(row).model_validate_json(json.dumps(changed))
    assert read_results(tmp_path / "c").samples[0].cpu_limits == CpuLimits()


def test_a_sample_in_json_has_its_limits() -> None:
    document = json.loads(render_form(build_report(taken("default", "bfs", blocks=1)), "json"))
    assert [sample["cpu_limits"] for sample in document["samples"]] == [[QUOTA], [QUOTA]]


def test_limits_that_the_plan_asks_for_are_told_where_nobody_applies_them() -> None:
    results = taken("default", "bfs", "zaphod", "exec:other", found=())
    asked = {"default": ("quota=50%",), "bfs": ("quota=50%",), "zaphod": ("quota=50%",), "exec:other": ("weight=9",)}
    samples = (
        replace(s, cpu_limits=replace(s.cpu_limits, asked=(*asked[s.arm], "weight=20 of the load")))
        for s in results.samples
    )
    why = "apply limits of control groups"
    assert describe_limits(replace(results, samples=tuple(samples))) == [
        f"quota=50%, weight=20 of the load do nothing under bfs, zaphod, whose scheduler does not {why}",
        f"weight=9, weight=20 of the load may do nothing under exec:other, whose scheduler may not {why}",
    ]


def test_a_quota_that_was_exceeded_is_told_by_measurement() -> None:
    results = taken("default", "bfs", "exec:other", found=(), blocks=2)
    asked = ("quota=50%", "quota=1% of the load")
    used = {"default": 100.5, "bfs": 400.0, "exec:other": 201.4}

    def describe(other: float, of_load: float) -> list[str]:
        samples = (
            replace(
                s,
                cpu_limits=replace(s.cpu_limits, asked=asked),
                metrics={
                    **s.metrics,
                    "quota_used_pct": other * (1 + s.block) / 2 if s.arm == "exec:other" else used[s.arm],
                    "load_quota_used_pct": of_load,
                },
            )
            for s in results.samples
        )
        return describe_limits(replace(results, samples=tuple(samples)))

    assert describe(201.4, 101.0) == [
        "quota=50%, quota=1% of the load do nothing under bfs, whose scheduler does not apply limits of control groups",
        "quota=1% of the load may do nothing under exec:other, whose scheduler may not apply limits of control groups",
        "quota=50% did not hold under exec:other: up to 201 % of it were used",
    ]
    assert describe(201.4, 140.0)[1:] == [
        "quota=50% did not hold under exec:other: up to 201 % of it were used",
        "quota=1% of the load did not hold under exec:other: up to 140 % of it were used",
    ]
    # It may have held, or the work did not want more.
    assert len(describe(120.0, 10.0)) == 2
