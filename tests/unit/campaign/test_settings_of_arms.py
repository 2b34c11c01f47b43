"""What is known of the settings of an arm, and what is done where they are not what they were."""

from collections.abc import Mapping, Sequence

import pytest
from answering import Answering

from runoff.campaign.journal.records import Part
from runoff.campaign.origin.arms import check_arms, describe_rounded, void_if_another
from runoff.campaign.origin.mixing import refuse_to_mix
from runoff.engines.outcome import AcceptedArm, ValidSample, VoidSample
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings

NAME = "sysctl.a.b"
ARM = f"default+{NAME}=7"


def seen(**values: str) -> list[dict[str, str]]:
    """One setting."""
    return [{"of": "machine", "name": NAME, "wanted": "7", "was": "3", "is": "7", **values}]


class Setting(Answering):
    """An engine whose arms with settings have these values."""

    def __init__(self, settings: Sequence[Mapping[str, str]]) -> None:
        super().__init__()
        self._settings = settings

    def check(self, arm: object) -> AcceptedArm:
        return AcceptedArm(settings=self._settings if arm.settings else ())  # type: ignore[attr-defined]


def plan() -> Plan:
    given = {"arms": ["default", ARM], "workloads": ["counters"], "on": "host", "seed": 1}
    return make_plan(parse_settings(given, "test"))


def facts(settings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    checked = check_arms(plan(), Setting(settings))  # type: ignore[arg-type]
    assert "settings" not in checked["default"]
    return checked[ARM]


def part(arm: dict[str, str]) -> Part:
    taker = {"version": "0.1.0", "engine": "host", "clock": "real"}
    return Part.model_validate({"runoff": taker, "arms": {ARM: arm}})


def test_what_settings_are_and_were_is_kept() -> None:
    kept = facts(seen())
    assert (kept["settings"], kept["settings otherwise"]) == (f"{NAME}=7", f"{NAME}=3")
    assert describe_rounded([part(kept)]) == ()


def test_a_number_that_the_kernel_has_rounded_is_told_once() -> None:
    kept = facts(seen(**{"is": "8"}))
    assert kept["settings"] == f"{NAME}=8"
    told = (f"the kernel has rounded settings of {ARM}: {NAME}=7 is 8",)
    assert describe_rounded([part(kept), part(kept)]) == told


@pytest.mark.parametrize(("found", "why"), [(seen(**{"is": "8"}), f"{NAME}=8"), ([], "none")])
def test_other_values_than_at_the_start_are_void(found: list[dict[str, str]], why: str) -> None:
    kept = facts(seen())
    sound = ValidSample({}, {"object": "", "settings": seen()})
    assert void_if_another(sound, kept) is sound
    outcome = void_if_another(ValidSample({}, {"object": "", "settings": found}), kept)
    assert isinstance(outcome, VoidSample)
    assert outcome.reason == f"other settings were in force than at the start ({NAME}=7 then, {why} now)"


def test_a_campaign_does_not_go_on_where_the_kernel_rounds_otherwise() -> None:
    before, now = part(facts(seen())), part(facts(seen(**{"is": "8"})))
    with pytest.raises(UsageError, match="this campaign began with another set of settings of the arm"):
        refuse_to_mix([before], now, ())
    refuse_to_mix([before], before, ())
