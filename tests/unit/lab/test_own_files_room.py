"""Files of the user's that do not fit into a guest's memory are refused, with the memory that they need."""

import os
import re
from pathlib import Path

import pytest

from runoff.engines.lab.guest_paths import collect_cargo
from runoff.engines.questions import AGENT_CATALOGUE
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import Settings


@pytest.mark.parametrize("noun", ["workloads", "loads"])
def test_they_may_fill_a_third_of_the_memory(tmp_path: Path, noun: str) -> None:
    (tmp_path / "large").write_bytes(b"")
    (tmp_path / "w.toml").write_text(
        'title = "w"\ndescription = "w"\nfiles = ["large"]\ncommand = ["cat", "large"]\n'
        + (
            '[metrics.m]\npattern = "(.)"\nunit = ""\ndirection = "none"\ntitle = "m"\n'
            if noun == "workloads"
            else 'ready = "r"\n'
        )
    )
    values = {"workloads": ["hackbench"], noun: [str(tmp_path / "w.toml")], "memory_mb": 256}
    os.truncate(tmp_path / "large", 85 << 20)
    collect_cargo(plan_of(values))
    os.truncate(tmp_path / "large", 86 << 20)
    message = "the files of the workloads have 86 MiB, and the guest's memory 256 MiB: give it --memory 258"
    with pytest.raises(UsageError, match=re.escape(message)):
        collect_cargo(plan_of(values))


def plan_of(values: dict[str, object]) -> Plan:
    return make_plan(Settings.model_validate({"arms": ["default"], "on": "lab", **values}), AGENT_CATALOGUE)
