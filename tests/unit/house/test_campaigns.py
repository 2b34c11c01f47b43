"""The tool that takes the kept campaigns."""

import re
import runpy
import shlex
import subprocess
import sys

import pytest
from checkout import ROOT

TOOL = ROOT / "tools/campaigns"
COMMANDS = runpy.run_path(str(TOOL))["CAMPAIGNS"]


def test_it_takes_all_that_are_kept_but_what_another_program_has_measured() -> None:
    kept = {path.name.partition(".")[0] for path in (ROOT / "docs/campaigns").iterdir()}
    assert kept == {*COMMANDS, "gzip"}


@pytest.mark.parametrize(
    ("page", "name"), [("docs/tutorial.md", "tutorial"), ("docs/schedulers/programs.md", "programs")]
)
def test_it_takes_them_as_the_page_says(page: str, name: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", "")
    (shown,) = re.findall(rf"^runoff (.*) --out results/{name}$", text, re.MULTILINE)
    taken = re.sub(r"exec:\S*/", "exec:", COMMANDS[name])
    assert sorted(shlex.split(shown)) == sorted(shlex.split(taken))


def test_a_name_that_is_not_kept_is_refused() -> None:
    done = subprocess.run([sys.executable, TOOL, "nosuch"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("nosuch: not one of demo, ")
