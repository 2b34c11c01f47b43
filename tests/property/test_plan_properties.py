"""Names of any letters go from a plan through its journal and results into the command that does it again."""

import shlex
import tempfile
from pathlib import Path
from typing import Any

import tomli_w
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from runoff.analysis import build
from runoff.campaign import directory
from runoff.campaign.manifest import list_metrics
from runoff.cli.main import cli
from runoff.engines.outcome import ValidSample
from runoff.plan.make import make_plan
from runoff.plan.order import draw
from runoff.plan.settings import Settings, parse_settings, read_settings
from runoff.report import markdown
from runoff.report.data import csv_table, document
from runoff.report.html import page
from runoff.report.terminal import screen
from runoff.text import escape_line

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
NAMES = st.text(LETTERS, min_size=1, max_size=8)
ARM_NAMES = NAMES.filter(lambda name: name == name.strip() and "=" not in name and name != "default")
FILE_NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/:"), min_size=1, max_size=8)
SHARES = st.one_of(st.none(), st.floats(min_value=1e-9, max_value=0.5, exclude_min=True))


@st.composite
def programs(draw_: Any) -> str:
    """An arm that is a program with arguments of any letters."""
    words = ["a", *draw_(st.lists(NAMES, max_size=2))]
    return "exec:" + shlex.join(words)


@st.composite
def plans(draw_: Any) -> dict[str, Any]:
    """Values of a plan without its workload, which is a file."""
    names = draw_(st.dictionaries(ARM_NAMES, programs(), min_size=1, max_size=3))
    others = draw_(
        st.lists(programs().filter(lambda label: label.strip() not in names), max_size=2, unique_by=str.strip)
    )
    return {
        "arms": draw_(st.permutations(["default", *names, *others])),
        "names": names,
        "workloads": ["command:" + shlex.join(["x", draw_(NAMES)])],
        "loads": ["none"],
        "blocks": draw_(st.integers(1, 3)),
        "seed": draw_(st.integers(0, 2**63 - 1)),
        "clock": "real",
        "margin": draw_(SHARES),
        "rare": draw_(SHARES),
    }


def defined(folder: Path, name: str, metric: str, title: str, unit: str) -> str:
    """A user's workload with a metric of that name."""
    number = {"pattern": "([0-9]+)", "unit": unit, "direction": "lower", "title": title}
    path = folder / f"{name}.toml"
    definition = {"title": name, "description": name, "command": ["x"], "metrics": {metric: number}}
    path.write_bytes(tomli_w.dumps(definition).encode())
    return str(path)


def carried_out(place: Path, chosen: Settings) -> None:
    """A journal with every sample of the plan."""
    plan = make_plan(chosen)
    with directory.create(place, plan) as journal:
        for cell in draw(len(plan.arms), len(plan.works), plan.load_blocks, plan.seed):
            work = plan.works[cell.work]
            metrics = {metric.name: 1.0 + cell.arm + cell.block / 7 for metric in list_metrics(plan, work)}
            journal.add(cell, plan.arms[cell.arm].label, work.label, "none", ValidSample(metrics, {"object": ""}))


AWKWARD = {
    "arms": ["-k", "exec:a \N{OWL}", "default"], "names": {"-k": "exec:a '\n'"}, "workloads": ["command:x '\u2028'"],
    "loads": ["none"], "blocks": 2, "seed": 0, "clock": "real", "margin": 0.1 + 0.2, "rare": None,
}  # fmt: skip


@example(AWKWARD, "\N{OWL}\n'\"", "\x7f", "</script>", "\N{RIGHT-TO-LEFT OVERRIDE}")
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(plans(), FILE_NAMES, NAMES, NAMES, NAMES)
def test_names_survive_plan_journal_results_rerun_and_plan_again(
    values: dict[str, Any], name: str, metric: str, title: str, unit: str
) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        work = defined(folder, name, metric, title, unit)
        chosen = parse_settings({**values, "workloads": [*values["workloads"], work]}, "test")
        carried_out(folder / "c", chosen)
        results = directory.read_results(folder / "c")
        assert list(results.arms) == [escape_line(label.strip()) for label in chosen.arms]
        assert results.workloads[1] == escape_line(name)
        shown = {escape_line(metric), escape_line(title)}
        own = next(each for each in results.metrics[escape_line(name)] if {each.name, each.title} == shown)
        assert own.unit == escape_line(unit)
        mine = [sample for sample in results.samples if sample.workload == escape_line(name)]
        assert all(sample.metrics[escape_line(metric)] >= 1 for sample in mine)
        assert (results.margin, results.rare) == (values["margin"], values["rare"])
        file = folder / "plan.toml"
        file.write_text(results.plan_text, encoding="utf-8", newline="")
        assert make_plan(read_settings(file)) == make_plan(chosen)
        _, command, *words = shlex.split(results.rerun)
        again = CliRunner().invoke(cli, [command, "--plan-only", *words])
        assert again.exit_code == 0, again.output
        file.write_bytes(again.stdout_bytes)
        assert make_plan(read_settings(file)) == make_plan(chosen)
        report = build.build_report(results)
        for view in (page, document, markdown, csv_table):
            assert view.render(report)
        assert screen.render(report, 80)
