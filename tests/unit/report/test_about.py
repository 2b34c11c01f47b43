"""What a page says of the things it names, by the sentences that the campaign has kept."""

from dataclasses import replace
from pathlib import Path

from made_campaigns import made, noisy

from runoff.analysis.build import build_report
from runoff.campaign.directory import read_results
from runoff.plan.arms import parse_arm
from runoff.report.html import page
from runoff.report.words.about import list_descriptions
from runoff.results import Descriptions

PARAMETER = {"name": "rr_interval_ms", "kind": "int", "min": 1, "max": 50, "default": 6}
SCHEDULERS = {"bfs": {"name": "bfs", "sentence": "One queue for all CPUs.", "parameters": [PARAMETER]}}


def described(place: Path, **settings):
    results = read_results(made(place, noisy(0, 0.1, 0.2), **settings))
    arms = {arm: parse_arm(arm, lambda: SCHEDULERS).about for arm in results.arms}
    return build_report(replace(results, descriptions=replace(results.descriptions, arms=arms)))


def test_arms_work_and_metrics_have_a_sentence_each(tmp_path):
    told = dict(list_descriptions(described(tmp_path / "c")))
    assert told["default"] == "the kernel's own scheduler"
    assert told["bfs"] == "One queue for all CPUs."
    assert told["hackbench"].startswith("Groups of senders and receivers pass small messages")
    assert told["time to pass all messages"].startswith("from when all tasks are ready")


def test_values_of_one_scheduler_share_a_row(tmp_path):
    arms = ("default", "bfs:rr_interval_ms=3", "bfs:rr_interval_ms=20")
    told = list_descriptions(described(tmp_path / "c", arms=arms))
    assert [name for name, _ in told][:2] == ["default", "bfs:rr_interval_ms=3, bfs:rr_interval_ms=20"]


def test_parameters_loads_and_files_of_the_users_own_are_found(tmp_path):
    own = tmp_path / "mine.toml"
    own.write_text(
        'title = "mine"\ndescription = "Does <b>what</b> I do."\ncommand = ["true"]\n[parameters.size]\nabout = "s"\n'
        'default = "1"\n[metrics.time_s]\npattern = "(1)"\nunit = "s"\ndirection = "lower"\nabout = "mine alone"\n'
    )
    report = described(tmp_path / "c", workloads=(f"{own}:size=7",), loads=("none", "process"), blocks=2)
    told = dict(list_descriptions(report))
    assert told["mine"] == "Does <b>what</b> I do."
    assert told["time_s"] == "mine alone"
    assert "process" in told
    shown = page.render(report)
    assert "<dd>Does &lt;b&gt;what&lt;/b&gt; I do.</dd>" in shown
    assert "<dt>default</dt><dd>the kernel&#39;s own scheduler</dd>" in shown


def test_percentiles_and_elapsed_times_explain_themselves(tmp_path):
    report = described(tmp_path / "c")
    [table] = report.headline
    for name, direction, sentence in (
        ("wakeup_p99_us", "lower", "99 of 100 are faster"),
        ("p999", "lower", "999 of 1000 are faster"),
        ("rate_p5", "higher", "5 of 100 are lower"),
        ("elapsed_s", "lower", "from the start of the work to its end"),
    ):
        metric = replace(table.metric, name=name, direction=direction, title="T")
        bare = replace(report.results, descriptions=Descriptions())
        assert list_descriptions(replace(report, results=bare, tables=(replace(table, metric=metric),))) == [
            ("T", sentence)
        ]


def test_programs_and_objects_are_named_as_what_they_are(tmp_path):
    (tmp_path / "my.bpf.o").write_bytes(b"\x7fELF")
    assert parse_arm("exec:scx_lavd --performance", None).about == "the scheduler that scx_lavd attaches"
    assert parse_arm(f"{tmp_path}/my.bpf.o", None).about == "a sched_ext object of the user's"
    assert parse_arm("bfs", None).about == ""


def test_a_page_of_a_campaign_that_kept_no_sentences_has_no_such_part(tmp_path):
    report = described(tmp_path / "c")
    bare = replace(report, results=replace(report.results, descriptions=Descriptions()))
    assert "What was measured" in page.render(report)
    assert "What was measured" not in page.render(bare)
