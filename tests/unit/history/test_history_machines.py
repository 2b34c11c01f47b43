"""Machines of a history are told apart, and a history of many arms stays short."""

import json
from dataclasses import replace
from pathlib import Path

import history_examples as examples
import made_campaigns
from cli_runner import run

from runoff.history.document import render_json
from runoff.history.text import render_text
from runoff.history.wording import describe_outcome
from runoff.results import Results


def on(machine: str, results: Results) -> Results:
    tables = {"runoff": {"machine": f"id of {machine}"}, "machine": {"hostname": machine}}
    return replace(results, fingerprint={**results.fingerprint, **tables})


def flat(text: str) -> str:
    return " ".join(text.split())


def alternate(count: int) -> dict[str, Results]:
    """Two machines in turn; on one bfs is 1 % slower, on the other 8 %."""
    changes = {"mars": 1.01, "venus": 1.08}
    names = list(changes)
    return {f"n{n:02}": on(names[n % 2], examples.take(n, changes[names[n % 2]])) for n in range(count)}


def test_machines_that_take_turns_have_series_of_their_own():
    history = examples.draw(alternate(12))
    assert [series.heading for series in history.series] == ["build, bfs on mars", "build, bfs on venus"]
    assert [[entry.place.campaign for entry in series.entries][:2] for series in history.series] == [
        ["n00", "n02"],
        ["n01", "n03"],
    ]
    assert [series.left_out for series in history.series] == [(), ()]
    assert history.series[0].find_level(0, 6) < 1.03 < 1.06 < history.series[1].find_level(0, 6)
    text = flat(render_text(history))
    assert "the campaigns are of 2 machines (mars, venus): each is drawn by itself" in text
    places = json.loads(render_json(history))["campaigns"]
    assert [place["machine"] for place in places[:2]] == ["mars", "venus"]


def test_a_machine_with_one_campaign_is_drawn_with_the_others_and_named():
    campaigns = {f"n{n:02}": on("mars" if n else "venus", examples.take(n)) for n in range(6)}
    history = examples.draw(campaigns)
    assert [series.heading for series in history.series] == ["build, bfs"]
    text = render_text(history)
    assert "of 2 machines (venus, mars), and not each has 2 campaigns or more" in flat(text)
    row = next(line for line in text.splitlines() if line.strip().startswith("n00"))
    assert "venus" in row


def test_machines_of_one_hostname_are_told_apart_by_their_ids():
    campaigns = {
        name: replace(
            results, fingerprint={"runoff": {"machine": f"{n % 2}234567890"}, "machine": {"hostname": "runner"}}
        )
        for n, (name, results) in enumerate(alternate(8).items())
    }
    headings = [series.heading for series in examples.draw(campaigns).series]
    assert headings == ["build, bfs on runner 02345678", "build, bfs on runner 12345678"]


def test_one_machine_and_the_virtual_clock_have_no_machines():
    same = {name: on("mars", results) for name, results in alternate(8).items()}
    virtual = {name: replace(results, clock="virtual") for name, results in alternate(8).items()}
    for campaigns in (same, virtual):
        history = examples.draw(campaigns)
        assert [series.heading for series in history.series] == ["build, bfs"]
        assert not [warning for warning in history.warnings if "machines" in warning]


def make(place: Path, arms: int, seed: int) -> Path:
    labels = ("default", *(f"bfs:rr_interval_ms={number}" for number in range(1, arms)))
    return made_campaigns.made(place, made_campaigns.noisy(*[0.0] * arms, seed=seed), arms=labels, blocks=3)


def test_the_verdict_of_many_arms_is_summed_up(tmp_path: Path):
    places = [make(tmp_path / f"night-{number}", 41, number) for number in range(3)]
    text = run("history", *places).stdout
    verdict = text.split("VERDICT")[1].split("\n\n")[0]
    assert len(verdict.splitlines()) <= 3
    assert "3 campaigns are too few to show a change in 40 of 40 series" in flat(verdict)


def test_few_series_have_a_sentence_each():
    assert len(list(describe_outcome(examples.draw({f"n{n}": examples.take(n) for n in range(4)})))) == 1


def test_wrong_words_are_answered_once(tmp_path: Path):
    one, two = (make(tmp_path / name, 2, number) for number, name in enumerate("ab"))
    told = run("history", one, two, "--arm", "nope", expect=64).stderr
    assert told.count("there are: bfs:rr_interval_ms=1") == 1
    told = run("history", one, one, expect=64).stderr
    assert f"{one} is given twice: give each campaign once" in told
