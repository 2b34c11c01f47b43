"""The content of the report, and the forms that carry data."""

import csv as stdlib_csv
import io
import json as stdlib_json
import subprocess
import sys
from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.analysis.environment import list_environment_rows, summarise_facts
from runoff.report import markdown
from runoff.report.data import csv_table
from runoff.report.data import document as json
from runoff.report.figures.axis import Axis
from runoff.report.html import page as html
from runoff.report.words.campaign_warnings import describe_campaign
from runoff.report.words.numbers import Scale, format_p, format_percent
from runoff.statistics import Verdict


@pytest.fixture(scope="module")
def three():
    return build.build_report(examples.three_arms())


def test_tables_follow_the_plan_with_headlines_first(three):
    names = [(t.workload, t.metric.name) for t in three.tables]
    assert names[:3] == [
        ("kernel-build", "elapsed_s"),
        ("kernel-build", "involuntary_switches"),
        ("kernel-build", "migrations"),
    ]
    assert [(t.workload, t.metric.name) for t in three.headline] == [
        ("kernel-build", "elapsed_s"), ("hackbench", "elapsed_s"), ("hackbench", "wakeup_p99_ns"),
    ]  # fmt: skip


def test_void_samples_never_reach_the_statistics(three):
    table = three.headline[1]
    assert table.analysis.summaries["zaphod:mode=eb"].n == 4
    assert table.count_lost("zaphod:mode=eb").void == 1
    assert len(table.points) == 14


def test_voids_are_warned_of_if_they_matter_and_the_warning_names_the_favoured_arm():
    arms = {arm: {"elapsed_s": (10.0, 0.1)} for arm in ("default", "bfs")}

    def warned(void: int, arm: str) -> list[str]:
        lost = {("w", arm, block): "ejected" for block in range(void)}
        report = build.build_report(examples.campaign({"w": arms}, {"w": (examples.WALL,)}, blocks=20, voids=lost))
        return [warning for warning in describe_campaign(report) if "as void" in warning]

    assert warned(1, "bfs") == warned(1, "default") == []
    assert warned(2, "bfs") == [
        "bfs lost 2 of 20 samples as void on w: if these were its worst runs it looks better than it is, "
        "and its + or = may be luck; remove the cause and take them again"
    ]
    (warning,) = warned(2, "default")
    assert "and a - or = against it may be luck" in warning


def test_loads_make_separate_tables():
    results = examples.campaign(
        {"w": {"default": {"elapsed_s": (10.0, 0.1)}, "bfs": {"elapsed_s": (11.0, 0.1)}}},
        {"w": (examples.WALL,)},
        blocks=3,
        loads=("none", "io"),
    )
    assert [table.place for table in build.build_report(results).tables] == ["w alone", "w beside io"]


def test_exact_repetition_on_a_deterministic_engine_is_noticed():
    cells = {"w": {"default": {"elapsed_s": (10.0, 0.0)}, "bfs": {"elapsed_s": (11.0, 0.0)}}}
    verdicts = {}
    for clock in ("virtual", "real"):
        results = examples.campaign(cells, {"w": (examples.WALL,)}, blocks=6, clock=clock)
        (table,) = build.build_report(results).tables
        verdicts[clock] = table.analysis.comparisons["bfs"].verdict
        assert table.analysis.warnings[0].kind == {"virtual": "copies", "real": "constant"}[clock]
    assert verdicts == {"virtual": Verdict.UNCLEAR, "real": Verdict.WORSE}


def test_one_varying_metric_proves_that_blocks_were_perturbed():
    cell = {
        "default": {"elapsed_s": (10.0, 0.0), "migrations": (9.0, 2.0)},
        "bfs": {"elapsed_s": (11.0, 0.0), "migrations": (9.0, 2.0)},
    }
    results = examples.campaign({"w": cell}, {"w": (examples.WALL, examples.MIGRATIONS)}, blocks=6, clock="virtual")
    assert build.build_report(results).tables[0].analysis.comparisons["bfs"].verdict is Verdict.WORSE


def test_a_valid_sample_without_the_metric_is_reported():
    results = examples.two_arms()
    first = replace(results.samples[0], metrics={})
    report = build.build_report(replace(results, samples=(first, *results.samples[1:])))
    assert any("1 valid samples lack wake-up latency p99" in warning for warning in describe_campaign(report))


def test_no_arm_is_an_error_that_names_the_way_out():
    with pytest.raises(ValueError, match="give at least one to describe, two to compare"):
        build.build_report(replace(examples.two_arms(), arms=()))


def test_what_differs_between_arms_comes_first():
    rows = list_environment_rows(examples.FINGERPRINT, ("default", "bfs"))
    assert [row.key for row in rows[:3]] == ["scheduler", "object_sha256", "governor"]
    assert [row.differs for row in rows[:4]] == [True, True, False, False]
    assert rows[0].values == ("EEVDF", "bfs")


def test_the_machine_and_its_kernel_come_before_packages_and_what_is_not_known_is_left_out():
    facts = {
        "image": {"packages": {"bash": "5"}},
        "runoff": {"hostname": "", "version": "1"},
        "settings": {"boost": None},
    }
    known = {**facts, "kernel": {"release": "7"}, "machine": {"cpu": "x"}, "arms": {"a": {"kernel": ""}}}
    rows = list_environment_rows(known, ("a",))
    assert [row.key for row in rows] == ["machine.cpu", "kernel.release", "runoff.version", "image.packages.bash"]


@pytest.mark.parametrize(
    ("key", "told", "shown"),
    [
        ("cpus_online", "4-7,9", "5 CPUs"),
        ("cpus_online", "3", "1 CPU"),
        ("memory", "1048576 kB", "1 GiB"),
        ("memory", "1047552 kB", "1023 MiB"),
    ],
)
def test_cpus_are_counted_and_memory_has_a_unit(key, told, shown):
    assert summarise_facts({"machine": {key: told}}, "machine") == shown


def test_json_holds_every_sample_at_full_precision(three):
    document = stdlib_json.loads(json.render(three))
    assert document["schema"] == "runoff.report/3"
    assert len(document["samples"]) == 30
    assert [s["metrics"] for s in document["samples"]] == [dict(s.metrics) for s in three.results.samples]
    arm = next(a for a in document["tables"][0]["arms"] if a["arm"] == "bfs")
    assert arm["verdict"] == "better"
    low, high = arm["against_baseline"]["percent_interval"].values()
    assert low < arm["against_baseline"]["percent"] < high < 0


def test_json_says_which_arms_are_within_the_margin():
    cell = {arm: {"elapsed_s": (mean, 0.001)} for arm, mean in (("default", 5), ("near", 5.01), ("far", 9))}
    report = build.build_report(examples.campaign({"w": cell}, {"w": (examples.WALL,)}, blocks=12))
    arms = json.make_document(report)["tables"][0]["arms"]
    within = {arm["arm"]: arm["against_baseline"]["within"] for arm in arms if arm["arm"] != "default"}
    assert within == {"near": True, "far": False}


def test_csv_has_a_row_per_sample_and_metric(three):
    rows = list(stdlib_csv.DictReader(io.StringIO(csv_table.render(three))))
    assert len(rows) == 15 * 3 + 14 * 4 + 1
    assert [row["reason"] for row in rows if row["valid"] == "no"] == [
        "scheduler exited: runnable task stall (swapper/3, 5.0 s)"
    ]
    first = three.results.samples[0]
    assert float(rows[0]["value"]) == first.metrics[rows[0]["metric"]]


def test_markup_in_names_is_data_and_not_markup():
    hostile = "</script><b>&|*"
    results = examples.campaign(
        {hostile: {"default": {"elapsed_s": (10.0, 0.1)}, hostile: {"elapsed_s": (11.0, 0.1)}}},
        {hostile: (examples.WALL,)},
        blocks=3,
    )
    report = build.build_report(results)
    page = html.render(report)
    assert page.count("</script>") == 2, "the document and the page's own script"
    assert "<b>&" not in page
    body = page.split('id="runoff-report">')[1].split("</script>")[0]
    assert stdlib_json.loads(body) == json.make_document(report)
    prose = [line for line in markdown.render(report).splitlines() if not line.startswith("    ")]
    assert "<b>" not in "\n".join(prose)


def test_same_input_same_bytes_in_another_process(three):
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1]); import report_examples as e\n"
        "from runoff.analysis.build import build_report\n"
        "from runoff.report import markdown\n"
        "from runoff.report.data import csv_table, document\n"
        "from runoff.report.historic import classic\n"
        "from runoff.report.html import page as html\n"
        "from runoff.report.terminal import mail, screen\n"
        "r = build_report(e.three_arms())\n"
        "page = html.render(r) + document.render(r) + screen.render(r) + csv_table.render(r) + markdown.render(r)\n"
        "page += mail.render(r) + classic.render(r)\n"
        "print(hashlib.sha256(page.encode()).hexdigest())"
    )
    folder = examples.__file__.rsplit("/", 1)[0]
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, folder], capture_output=True, text=True, check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1


def test_importing_the_views_imports_no_numerics():
    views = "runoff.report.terminal.screen, runoff.report.data.document"
    code = f"import sys, {views}; print(sorted({{'scipy', 'numpy'}} & {{*sys.modules}}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_page_is_made_without_the_slow_half_of_scipy():
    """Importing ``scipy.stats`` takes a second; only the classic view needs it."""
    folder = examples.__file__.rsplit("/", 1)[0]
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import report_examples as e\n"
        "from runoff.analysis.build import build_report\n"
        "from runoff.report.html import page; page.render(build_report(e.three_arms()))\n"
        "print('scipy.special' in sys.modules, 'scipy.stats' in sys.modules, 'pandas' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["True", "False", "False"]


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(412345.0, "ns", "412 us"), (0.0012, "s", "1.200 ms"), (61.29, "s", "61.3 s"), (3.2e9, "ops/s", "3.20 1e9 ops/s")],
)
def test_units_keep_numbers_short(value, unit, shown):
    metric = replace(examples.WALL, unit=unit)
    results = examples.campaign({"w": {"a": {"elapsed_s": (value, value / 10)}}}, {"w": (metric,)}, blocks=9)
    fixed = tuple(
        replace(s, metrics={"elapsed_s": value * (0.9 if i % 2 else 1.1) if i else value})
        for i, s in enumerate(results.samples)
    )
    (table,) = build.build_report(replace(results, samples=fixed)).tables
    scale = Scale.from_table(table)
    assert f"{scale.plain(value)} {scale.unit}" == shown


@pytest.mark.parametrize(("p", "shown"), [(0.0004, "<.001"), (0.0499, ".0499"), (0.71, ".710"), (1.0, "1.000")])
def test_p(p, shown):
    assert format_p(p) == shown


@pytest.mark.parametrize(("value", "shown"), [(-0.04, "+0.0"), (12.34, "+12.3"), (1234.5, "+1234"), (2.5e7, "+2e+07")])
def test_percent(value, shown):
    assert format_percent(value, 1) == shown


@pytest.mark.parametrize("low", [-3e-9, 0.0, 5e11])
@pytest.mark.parametrize("span", [1e-9, 0.37, 12345.0])
def test_ticks_are_few_and_inside(low, span):
    axis = Axis.from_range(low, low + span, 0, 100)
    ticks = axis.ticks(6)
    assert 2 <= len(ticks) <= 7
    assert all(axis.low <= value <= axis.high for value, _ in ticks)


def test_the_page_stays_small():
    """Ten arms with long labels, twenty metrics, all of them headlines, thirty blocks: 1 MB."""
    page = html.render(build.build_report(examples.wide(10, 20, blocks=30)))
    assert len(page.encode()) < 1_000_000


@pytest.mark.parametrize(("values", "repeats"), [([10.0], False), ([10.0, 10.0], True), ([10.0, 10.1], False)])
def test_blocks_repeat_one_run_where_there_are_two_and_all_are_equal(values, repeats):
    cell = {arm: {"elapsed_s": (10.0, 0.0)} for arm in ("default", "bfs")}
    results = examples.campaign({"w": cell}, {"w": (examples.WALL,)}, blocks=len(values), clock="virtual")
    samples = tuple(replace(each, metrics={"elapsed_s": values[each.block]}) for each in results.samples)
    (table,) = build.build_report(replace(results, samples=samples)).tables
    assert table.analysis.question.repeats_exactly is repeats
