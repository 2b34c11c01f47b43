"""Where a service may be stopped for a campaign; tests/lab/test_services.py does it on a machine with systemd."""

from pathlib import Path

import pytest
from cli_runner import run

from runoff.cli.options import make_execution

COMPARE = ("compare", "default", "bfs", "--work", "hackbench", "--take-over")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--on", "lab", "--clock", "virtual"), "--take-over is for --on host: in a guest no service has a scheduler"),
        (("--cluster", "local:2"), "--take-over is for this machine: the machines of a cluster boot guests"),
    ],
)
def test_guests_have_no_services(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    assert sentence in run(*COMPARE, *words, "--out", tmp_path / "c", expect=64).stderr
    assert not (tmp_path / "c").exists()


def test_it_is_taken_over_again_after_each_boot() -> None:
    execution = make_execution(None, None, take_over=True, reboot=True)
    assert execution.takes_over
    assert execution.reboot == ("--reboot", "--take-over")
