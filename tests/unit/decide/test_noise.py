"""Stored noise: its values, its machine, and files that another program wrote."""

import json
import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runner import ask
from made_campaigns import MACHINE, alternating, made, noisy

from runoff.analysis import build
from runoff.analysis.noise import Noise
from runoff.campaign.directory import read_results, reopen
from runoff.campaign.journal.journal import Journal
from runoff.cli.noise import command
from runoff.cli.report import command as report
from runoff.decide import noise
from runoff.errors import UsageError
from runoff.plan.order import Cell
from runoff.report.words.noise import describe_noise
from runoff.statistics.level import critical
from runoff.statistics.power import detectable_difference

TWICE = {"arms": ("a", "b"), "names": {"a": "default", "b": "default"}}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


def test_what_is_kept_is_the_sd_of_block_differences(tmp_path):
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    ((_, found),) = noise.list_noise()
    assert isinstance(found, Noise)
    assert (found.engine, found.clock, found.arm, found.workload, found.load) == (
        "lab",
        "real",
        "default",
        "hackbench",
        "",
    )
    assert found.machine == {"cpu_model": "A CPU @ 2 GHz", "cpus_online": "0-3", "memory_gib": "31", "smt": "on"}
    pooled = found.metric("time_s")
    assert pooled is not None
    assert (pooled.sd, pooled.df, pooled.blocks) == (pytest.approx(0.02 * math.sqrt(10 / 9)), 9, 10)
    assert pooled.metric.headline
    assert found.seconds_per_sample == pytest.approx(2.0)


def test_runs_are_pooled_and_the_same_run_counts_once(tmp_path):
    one = made(tmp_path / "c", alternating, **TWICE)
    ask(command, "keep", one)
    ask(command, "keep", one)
    ((_, found),) = noise.list_noise()
    assert isinstance(found, Noise)
    assert len(found.runs) == 1
    (later,) = (each.model_copy(update={"taken": "2026-02-02T00:00:00Z"}) for each in found.runs)
    noise.save_noise(found.model_copy(update={"runs": (later,)}))
    ((_, found),) = noise.list_noise()
    assert isinstance(found, Noise)
    pooled = found.metric("time_s")
    assert pooled is not None
    assert (pooled.df, pooled.blocks, len(found.runs)) == (18, 20, 2)


def test_old_runs_are_forgotten(tmp_path):
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    ((place, found),) = noise.list_noise()
    assert isinstance(found, Noise)
    for number in range(noise.MOST_RUNS + 3):
        run = found.runs[0].model_copy(update={"taken": f"2027-01-01T00:00:{number:02}Z"})
        noise.save_noise(found.model_copy(update={"runs": (run,)}))
    kept = noise.read_noise(place)
    assert len(kept.runs) == noise.MOST_RUNS
    assert kept.runs[-1].taken.endswith("22Z")


def test_a_campaign_of_two_arms_is_not_noise(tmp_path):
    with pytest.raises(UsageError, match="this campaign is of default, bfs"):
        ask(command, "keep", made(tmp_path / "c", noisy(0.0, 0.0)))


def test_a_campaign_that_is_not_complete_is_none_yet(tmp_path):
    with pytest.raises(UsageError, match="not complete"):
        ask(command, "keep", made(tmp_path / "c", alternating, stop_after=12, **TWICE))


def test_one_block_or_an_arm_of_voids_is_none(tmp_path):
    with pytest.raises(UsageError, match="fewer than two blocks"):
        ask(command, "keep", made(tmp_path / "c", alternating, blocks=1, **TWICE))

    def void(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm else alternating(cell)

    with pytest.raises(UsageError, match="fewer than two blocks"):
        ask(command, "keep", made(tmp_path / "d", void, **TWICE))


def lines(place: Path) -> list[str]:
    return describe_noise(noise.build_report_with_noise(read_results(place)))


def test_later_reports_have_a_line_of_it(tmp_path):
    assert lines(made(tmp_path / "before", noisy(0.0, 0.0))) == []
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    place = made(tmp_path / "later", noisy(0.0, 0.0), blocks=20)
    (line,) = lines(place)
    sd = 0.02 * math.sqrt(10 / 9)
    shown = f"{100 * math.expm1(detectable_difference(19, critical(0.05, 1, 19)) * sd / math.sqrt(20)):.2g} %"
    assert line == (
        "noise of this machine on hackbench, time to pass all messages: equal arms differ by 2.1 % (SD) from block to "
        f"block, over 10 blocks; 20 blocks show {shown} with 80 % chance"
    )
    assert "noise of this machine on hackbench" in " ".join(ask(report, place).output.split())
    assert line in json.loads(ask(report, place, "--json").output)["warnings"]


@pytest.mark.parametrize(
    "other",
    [
        {"clock": "virtual"},
        {"engine": "host"},
        {"workloads": ("hackbench:groups=3",), "metrics": {"hackbench:groups=3": ()}},
        {"fingerprint": {"machine": {**MACHINE, "cpu_model": "another"}}},
        {"fingerprint": {"machine": {**MACHINE, "memory": "16393726 kB"}}},
        {"fingerprint": {}},
    ],
)
def test_another_machine_engine_clock_or_workload_has_noise_of_its_own(tmp_path, other):
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    results = read_results(made(tmp_path / "later", noisy(0.0, 0.0)))
    assert list(noise.find_noise(results))
    assert not list(noise.find_noise(replace(results, **other)))


def test_the_name_of_a_machine_and_a_little_memory_make_no_other(tmp_path):
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    results = read_results(made(tmp_path / "later", noisy(0.0, 0.0)))
    machine = {**MACHINE, "hostname": "there", "memory": "32787000 kB"}
    assert list(noise.find_noise(replace(results, fingerprint={"machine": machine})))


@pytest.mark.parametrize(
    ("workload", "readable"),
    [("hackbench:groups=3", "hackbench-groups-3"), ("größe", "gr-e"), ("測定", "work"), ("a" * 39 + "--b", "a" * 39)],
)
def test_the_file_of_a_noise_has_a_name_to_read(workload, readable):
    assert noise.noise_path({}, "lab", "real", "default", workload, "").name[:-18] == f"lab-real-{readable}"


@pytest.mark.parametrize(
    "content", ["", "{}", "[1]", "no json", '{"schema": "runoff.noise/9"}', "\x00\xff", "null", '{"runs": []}']
)
def test_a_file_that_is_none_is_one_sentence_and_the_report_is_there(tmp_path, content):
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    ((place, _),) = noise.list_noise()
    place.write_bytes(content.encode("latin-1"))
    (line,) = lines(made(tmp_path / "later", noisy(0.0, 0.0)))
    assert str(place) in line
    assert "holds no noise" in line
    assert "\n" not in line
    assert "! " in ask(command, "list").output
    (entry,) = json.loads(ask(command, "list", "--json").output)
    assert "holds no noise" in entry["error"]


@pytest.mark.parametrize(("key", "value"), [("sd", -1), ("sd", "NaN"), ("sd", "x"), ("blocks", 1), ("blocks", 2.5)])
def test_edited_noise_is_refused(tmp_path, key, value):
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    ((place, _),) = noise.list_noise()
    document = json.loads(place.read_text())
    document["runs"][0]["metrics"][0][key] = value
    place.write_text(json.dumps(document).replace('"NaN"', "NaN"))
    with pytest.raises(UsageError, match="holds no noise"):
        noise.read_noise(place)


def test_a_metric_that_changed_its_unit_is_not_pooled(tmp_path):
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    ((place, found),) = noise.list_noise()
    assert isinstance(found, Noise)
    metric = found.runs[0].metrics[0].model_copy(update={"unit": "ms", "sd": 5.0, "relative": False})
    run = found.runs[0].model_copy(update={"taken": "2027-01-01", "metrics": (metric,)})
    noise.save_noise(found.model_copy(update={"runs": (run,)}))
    pooled = noise.read_noise(place).metric("time_s")
    assert pooled is not None
    assert (pooled.sd, pooled.df) == (5.0, 9)


def test_noise_of_differences_is_shown_in_the_unit(tmp_path):
    def around_zero(cell: Cell) -> dict[str, float]:
        return {"time_s": random.Random(cell.id).gauss(0, 1)}

    ask(command, "keep", made(tmp_path / "c", around_zero, **TWICE))
    (line,) = lines(made(tmp_path / "later", around_zero))
    assert " s (SD)" in line


EXACT = {**TWICE, "clock": "virtual"}


def exact(cell: Cell) -> dict[str, float]:
    """Values of a deterministic engine: the same perturbation gives the same run."""
    return {"time_s": 10 * math.exp(random.Random(cell.seed).gauss(0, 0.05))}


def test_under_the_virtual_clock_noise_is_that_of_two_perturbations(tmp_path):
    """Not of a sample and its copy, which differ by nothing: the SD is root 2 times that of one run."""
    ask(command, "keep", made(tmp_path / "c", exact, blocks=200, **EXACT))
    ((_, found),) = noise.list_noise()
    assert isinstance(found, Noise)
    pooled = found.metric("time_s")
    assert pooled is not None
    assert pooled.sd == pytest.approx(math.sqrt(2) * 0.05, rel=0.15)


def test_one_arm_against_itself_is_separated_in_one_of_twenty_campaigns(tmp_path):
    wrong = 0
    for seed in range(100):
        (table,) = build.build_report(read_results(made(tmp_path / f"{seed}", exact, seed=seed, **EXACT))).headline
        wrong += table.analysis.comparisons["b"].separated
    # Binomial(100, 5 %) has SD 2.2; three of them.
    assert wrong <= 11


def of_an_older_runoff(place: Path) -> Path:
    """Values as they were when both arms of a block had its one perturbation."""
    with Journal.open(place, write=True) as journal:
        journal.set_fact("outline", {**journal.fact("outline").model_dump(mode="json"), "twins": {}})
    return place


def test_copies_of_an_older_runoff_are_not_kept_and_do_not_go_on(tmp_path):
    place = of_an_older_runoff(made(tmp_path / "c", exact, **EXACT))
    with pytest.raises(UsageError, match="samples and their copies"):
        ask(command, "keep", place)
    with pytest.raises(UsageError, match="go on with the runoff that began it"):
        reopen(place)


def test_a_campaign_of_different_arms_goes_on_whichever_command_began_it(tmp_path):
    place = of_an_older_runoff(made(tmp_path / "c", exact, clock="virtual"))
    with reopen(place)[1] as journal:
        assert len(journal.done()) == 20


def test_noise_that_was_kept_of_copies_is_not_believed(tmp_path):
    ask(command, "keep", made(tmp_path / "c", exact, **EXACT))
    ((place, found),) = noise.list_noise()
    assert isinstance(found, Noise)
    place.write_text(place.read_text().replace("runoff.noise/2", "runoff.noise/1"))
    with pytest.raises(UsageError, match="measured between samples and their copies"):
        noise.read_noise(place)
    assert "! " in ask(command, "list").output
    older = found.model_copy(update={"clock": "real"}).model_dump_json(by_alias=True)
    place.write_text(older.replace("runoff.noise/2", "runoff.noise/1"))
    assert noise.read_noise(place).clock == "real"


def test_list_and_show_print_what_is_stored(tmp_path):
    assert ask(command, "list").output == "no noise is kept: runoff noise --work WORK measures it\n"
    with pytest.raises(UsageError, match="there is none yet"):
        ask(command, "show", "hackbench")
    ask(command, "keep", made(tmp_path / "c", alternating, **TWICE))
    listed = "hackbench  lab, real clock, default: time to pass all messages 2.1 %, 10 blocks, 2026-01-02\n"
    assert ask(command, "list").output == listed
    assert "equal arms differ by 2.1 %" in ask(command, "show", "hackbench").output
    with pytest.raises(UsageError, match="there is noise of: hackbench"):
        ask(command, "show", "lrzip")


def test_without_work_there_is_nothing_to_measure():
    with pytest.raises(UsageError, match="name the work"):
        ask(command)


def test_the_plan_has_the_arm_twice():
    plan = ask(command, "--work", "hackbench", "--arm", "bfs", "--blocks", "7", "--plan-only").output
    assert 'a = "bfs"' in plan
    assert 'b = "bfs"' in plan
    assert "blocks = 7" in plan
