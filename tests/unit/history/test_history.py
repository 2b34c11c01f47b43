"""A history says from which campaign on a metric is another, by how much, and what differs since."""

import json
import math
import os
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import made_campaigns
import numpy as np
import pytest
import report_examples as examples
from cli_runner import ask
from history_examples import BOTH, draw, nights, take
from scipy import stats

from runoff.cli.history import command
from runoff.errors import UsageError
from runoff.history.document import render_json
from runoff.history.figure import draw as draw_figure
from runoff.history.page import render_page
from runoff.history.subjects import Wanted
from runoff.history.text import render_text
from runoff.results import Conditions, Results
from runoff.statistics import Verdict


def dated(results: Results, begin: datetime) -> Results:
    """Equal samples, begun a minute apart."""
    samples = (
        replace(s, conditions=Conditions((begin + timedelta(minutes=s.position)).isoformat(), 0.1))
        for s in results.samples
    )
    return replace(results, samples=tuple(samples))


def test_a_change_has_its_place_size_side_and_what_differs() -> None:
    campaigns = nights(14, first_slow=8)
    arms = {**examples.FINGERPRINT["arms"], "bfs": {"scheduler": "bfs", "object_sha256": "0dd"}}
    for name in list(campaigns)[8:]:
        campaigns[name] = replace(campaigns[name], fingerprint={**examples.FINGERPRINT, "arms": arms})
    (series,) = draw(campaigns).series
    (change,) = series.changes
    assert series.metric.title == "elapsed time relative to default"
    assert (change.first, change.verdict) == (8, Verdict.WORSE)
    assert change.size == pytest.approx(0.087, abs=0.01)
    assert change.interval is not None
    assert change.interval.low < 0.087 < change.interval.high
    assert [(each.fact, each.before, each.after) for each in change.differences] == [
        ("bfs.object_sha256", "51aa03ce", "0dd"), ("bfs.governor", "performance", "unknown"),
    ]  # fmt: skip


def test_a_change_is_the_difference_of_the_levels_beside_it_by_welch() -> None:
    campaigns = {f"n{n:02}": take(n, 1.3 if 8 <= n < 16 else 1.1) for n in range(26)}
    (series,) = draw(campaigns).series
    up, down = series.changes
    assert (up.first, down.first) == (8, 16)
    logs = [math.log(entry.summary.geometric_mean or 0) for entry in series.entries]
    wanted = stats.ttest_ind(logs[8:16], logs[:8], equal_var=False)
    assert up.size == pytest.approx(np.mean(logs[8:16]) - np.mean(logs[:8]))
    assert up.interval is not None
    assert (up.interval.low, up.interval.high) == pytest.approx(wanted.confidence_interval(0.95))
    assert down.size == pytest.approx(np.mean(logs[16:]) - np.mean(logs[8:16]))
    assert series.find_level(8, 16) == pytest.approx(math.exp(np.mean(logs[8:16])))


def test_days_and_stored_guests_are_not_what_differs() -> None:
    begin = datetime(2026, 1, 2, tzinfo=UTC)
    campaigns = {name: dated(each, begin + timedelta(days=n)) for n, (name, each) in enumerate(nights(14, 7).items())}
    facts = examples.FINGERPRINT
    campaigns = {n: replace(r, fingerprint={**facts, "snapshots": {"bfs": n}}) for n, r in campaigns.items()}
    (series,) = draw(campaigns).series
    assert [change.differences for change in series.changes] == [()]


def test_only_headline_metrics_are_drawn_unless_another_is_asked_for() -> None:
    cell = {arm: {"elapsed_s": (1.0, 0.01), "migrations": (90.0, 3.0)} for arm in BOTH}
    metrics = {"build": (examples.WALL, examples.MIGRATIONS)}
    campaigns = {f"n{n}": examples.campaign({"build": cell}, metrics, blocks=3, seed=n) for n in range(4)}
    assert [series.metric.name for series in draw(campaigns).series] == ["elapsed_s"]
    for words, name in (("migrations", "migrations"), (examples.WALL.title, "elapsed_s")):
        (asked,) = draw(campaigns, Wanted(metric=words)).series
        assert asked.metric.name == name


def test_runs_in_no_blocks_have_a_control_only_if_asked() -> None:
    campaigns = {name: replace(each, is_paired=False) for name, each in nights(4, 9).items()}
    said = draw(campaigns).warnings[0]
    assert said.endswith("as runs are in no blocks, only --control default makes it one")
    assert draw(campaigns, Wanted(control="default")).control == "default"


@pytest.mark.parametrize("count", [2, 9, 40])
def test_names_in_the_picture_do_not_cover_each_other(count: int) -> None:
    campaigns = {f"campaign {n:03}": take(n) for n in range(count)}
    (series,) = draw(campaigns).series
    places = [
        float(x) for x in re.findall(r'<text x="([0-9.]+)" y="258" class="tick mid">campaign', draw_figure(series))
    ]
    assert places
    assert all(a - b >= 7.4 * len("campaign 001") for a, b in pairwise(places))


def test_a_machine_that_became_slower_changes_nothing_but_for_values_as_they_are() -> None:
    campaigns = {f"n{n:02}": take(n, 1.1 * (1 + n // 8), 1.0 * (1 + n // 8)) for n in range(16)}
    (series,) = draw(campaigns).series
    assert series.changes == ()
    raw = draw(campaigns, Wanted(control="none"))
    assert {each.heading: [change.first for change in each.changes] for each in raw.series} == {
        "build, default": [8], "build, bfs": [8],
    }  # fmt: skip
    assert "no control" in raw.warnings[0]


def test_a_higher_rate_is_better() -> None:
    campaigns = {f"n{n:02}": take(n, rate=100 if n < 9 else 130) for n in range(16)}
    history = draw(campaigns, Wanted(metric="rate", control="none", arm="bfs"))
    assert [change.verdict for change in history.series[0].changes] == [Verdict.BETTER]


def test_all_series_share_the_chance_of_a_false_change() -> None:
    (one,) = draw(nights(9, 99)).series
    two = draw({f"n{n}": take(n, rate=100) for n in range(9)}).series
    assert (one.least, [each.least for each in two]) == (8, [9, 9])


def test_campaigns_without_it_are_left_out_and_named() -> None:
    campaigns = nights(10, first_slow=99)
    empty = campaigns["night03"]
    void = [replace(each, valid=False, reason="ejected", metrics={}) for each in empty.samples]
    campaigns["night03"] = replace(empty, samples=tuple(void))
    campaigns["night05"] = examples.campaign(
        {"other": {arm: {"elapsed_s": (1.0, 0.1)} for arm in BOTH}}, {"other": (examples.WALL,)}, blocks=3
    )
    history = draw(campaigns)
    (series,) = history.series
    assert series.left_out == ("night03", "night05")
    assert len(series.entries) == 8
    assert "without a valid sample of it: night03, night05" in render_text(history)


def test_an_arm_with_another_name_in_each_campaign_is_followed() -> None:
    campaigns = nights(10, first_slow=5)
    renamed = {
        name: replace(
            results,
            arms=("default", f"bfs-{name}"),
            samples=tuple(replace(s, arm=f"bfs-{name}" if s.arm == "bfs" else s.arm) for s in results.samples),
        )
        for name, results in campaigns.items()
    }
    (series,) = draw(renamed).series
    assert (series.heading, [change.first for change in series.changes]) == ("build", [5])


def test_values_that_may_be_zero_are_compared_in_their_unit() -> None:
    campaigns = {f"n{n:02}": take(n, bfs=0.0001 if n < 8 else 5.0) for n in range(16)}
    for name, results in campaigns.items():
        zero = tuple(replace(s, metrics={"elapsed_s": 0.0}) if s.block == 0 else s for s in results.samples)
        campaigns[name] = replace(results, samples=zero)
    history = draw(campaigns, Wanted(control="none", arm="bfs"))
    (series,) = history.series
    assert not series.is_relative
    assert [round(change.size) for change in series.changes] == [4]
    assert "worse from n08 on: +3.99" in " ".join(render_text(history).split())
    json.loads(render_json(history))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(work="x"), "--work x: no campaign has it; there are: build"),
        (Wanted(arm="bfx"), "--arm bfx: no campaign has it; did you mean 'bfs'\\?; there are: bfs"),
        (Wanted(metric="x"), "--metric x: no campaign has it; there are: elapsed_s"),
        (Wanted(control="x"), "--control x: not an arm of all of them"),
    ],
)
def test_what_no_campaign_has_is_refused(wanted: Wanted, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw(nights(3, 9), wanted)


def test_one_campaign_and_other_engines_are_refused() -> None:
    with pytest.raises(UsageError, match="at least two"):
        draw({"a": take(1)})
    with pytest.raises(UsageError, match="different engines"):
        draw({"a": take(1), "b": take(2, engine="host")})


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    campaigns = {f"a long name of a campaign number {n:02}": each for n, each in enumerate(nights(12, 6).values())}
    text = render_text(draw(campaigns), width)
    assert max(map(len, text.splitlines())) <= width
    assert text.isascii()


def test_on_a_narrow_terminal_intervals_give_way_to_the_picture() -> None:
    history = draw(nights(12, 6))
    wide, narrow = render_text(history, 80), render_text(history, 52)
    assert "its 95 % CI" in wide
    assert "its 95 % CI" not in narrow
    assert all(re.search(r"night00 .*o", text) for text in (wide, narrow))


def test_foreign_names_are_made_printable_everywhere() -> None:
    campaigns = {f"\x1b[31m<b>{n}": each for n, each in enumerate(nights(12, 6).values())}
    history = draw(campaigns)
    for shown in (render_text(history), render_page(history), render_json(history)):
        assert "\x1b" not in shown
    assert "<b>" not in render_page(history).split("<script")[0]


@pytest.fixture
def campaigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ten campaigns of a day each, bfs slower by 20 % from the fifth on; their names are not in order."""
    for day in range(10):
        monkeypatch.setattr(made_campaigns, "BEGIN", datetime(2026, 1, 2 + day, 3, 4, 5, tzinfo=UTC))
        values = made_campaigns.noisy(0.0, 0.2 if day >= 5 else 0.0, seed=day)
        made_campaigns.made(tmp_path / f"c{(7 * day) % 10}", values, seed=day, blocks=5)
    return tmp_path


def test_the_command_orders_by_date_and_writes_a_page(campaigns: Path) -> None:
    directories = sorted(campaigns.iterdir())
    done = ask(command, *directories, "--html", campaigns / "h.html")
    assert (done.output, done.return_value) == ("", 0)
    page = (campaigns / "h.html").read_text()
    assert "worse from c5 (2026-01-07) on" in page
    assert page.count("<svg") == 1
    document = json.loads(ask(command, *directories, "--json").output)
    assert [each["name"] for each in document["campaigns"]] == [f"c{(7 * day) % 10}" for day in range(10)]
    (change,) = document["series"][0]["changes"]
    assert (change["before"], change["campaign"], change["verdict"]) == ("c8", "c5", "worse")
    assert change["percent"] == pytest.approx(20, abs=1)
    shown = " ".join(ask(command, *directories).output.split())
    assert re.search(r"relative to default, worse from c5 \(2026-01-07\) on: \+20\.\d % \[\+19", shown)


def test_campaigns_that_do_not_say_when_are_taken_in_the_order_given(tmp_path: Path) -> None:
    from runoff.cli.main import cli

    names = []
    for number in range(3):
        (tmp_path / "runs.csv").write_text("a,b\n" + "".join(f"{10 + n},{11 + n + number}\n" for n in range(4)))
        ask(cli, "import", tmp_path / "runs.csv", "--better", "lower", "--out", tmp_path / f"i{number}")
        names.append(tmp_path / f"i{number}")
    with pytest.raises(UsageError, match=r"i0 does not say when it was taken: give .* --order given"):
        ask(command, *names)
    assert "3 campaigns are too few to show a change, 9 are the fewest" in " ".join(
        ask(command, *names, "--order", "given").output.split()
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Commits v0 to v4 in a row, whose dates go backwards, and a branch `side` from v1."""
    place = tmp_path / "repository"
    place.mkdir()

    def git(*words: str, day: int = 1) -> None:
        who = {f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        when = {f"GIT_{role}_DATE": f"2026-01-{day:02}T00:00:00Z" for role in ("AUTHOR", "COMMITTER")}
        environment = {**who, **when, "PATH": os.environ["PATH"]}
        subprocess.run(["git", "-C", place, *words], check=True, capture_output=True, env=environment)

    git("init", "-b", "main")
    for number in range(5):
        git("commit", "--allow-empty", "-m", f"{number}", day=20 - number)
        git("tag", f"v{number}")
    git("checkout", "-b", "side", "v1")
    git("commit", "--allow-empty", "-m", "side", day=25)
    return place


def test_campaigns_are_ordered_by_the_commits_that_name_them(
    campaigns: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    directories = sorted(path for path in campaigns.iterdir() if path.name.startswith("c"))
    named = [f"v{(3 * n) % 5}={place}" for n, place in enumerate(directories[:5])]
    document = json.loads(ask(command, *named, "--repository", repository, "--json").output)
    assert [each["name"] for each in document["campaigns"]] == ["v0", "v1", "v2", "v3", "v4"]
    assert all(len(each["commit"]) == 12 for each in document["campaigns"])
    assert document["warnings"] == []
    with pytest.raises(UsageError, match="--repository is for the order of commits, not --order dates"):
        ask(command, *named, "--repository", repository, "--order", "dates")
    branched = ask(command, f"side={directories[0]}", *named[1:], "--repository", repository, "--json").output
    assert "they are on different branches" in json.loads(branched)["warnings"][0]


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        ("v9", "repository", "v9 is not a commit of .*repository: name each campaign by its commit"),
        ("--help", "repository", "--help is not a commit"),
        ("v1", "", "is not a Git repository: give --repository"),
    ],
)
def test_what_is_not_a_commit_is_named(campaigns: Path, repository: Path, name: str, place: str, message: str) -> None:
    first, second, *_ = sorted(path for path in campaigns.iterdir() if path.name.startswith("c"))
    words = ["--", f"{name}={first}", f"v0={second}"]
    with pytest.raises(UsageError, match=message):
        ask(command, "--repository", campaigns / place, *words)
