"""Facts about the program of an exec: arm."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_until

from runoff.campaign.origin import programs

HEADERS = "".join(f"#include <{name}.h>\n" for name in ("stdio", "string", "unistd", "sys/prctl"))


def compiled(folder: Path, body: str) -> Path:
    """A program of its own."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    program = folder / "prog"
    text = f"{HEADERS}int main(int argc, char **argv) {{ {body} }}\n"
    subprocess.run(["gcc", "-xc", "-", "-o", program], input=text, text=True, check=True)
    return program


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that the user nobody may enter too."""
    with tempfile.TemporaryDirectory(prefix="runoff-test-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_path_digest_and_version_are_known(folder: Path) -> None:
    asked = 'argc == 2 && !strcmp(argv[1], "--version")'
    program = compiled(folder, f'if ({asked}) puts("\\n scx_x 1.2 \\nmore"); return 0;')
    assert programs.describe(str(program)) == {
        "program": str(program),
        "program_sha256": hashlib.sha256(program.read_bytes()).hexdigest(),
        "program_version": "scx_x 1.2",
    }
    (folder / "link").symlink_to(program)
    assert programs.describe(str(folder / "link"))["program"] == str(program)


@pytest.mark.parametrize("body", ['puts("usage"); return 1;', "return 0;", 'puts(" "); return 0;'])
def test_one_that_does_not_know_the_word_has_no_version(folder: Path, body: str) -> None:
    assert "program_version" not in programs.describe(str(compiled(folder, body)))


def test_one_that_takes_the_word_for_another_is_ended_with_its_children(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_LIMIT_S", 0.5)
    program = compiled(folder, f'fork(); prctl(PR_SET_NAME, "{HANGS}"); puts("1"); for (;;) pause();')
    began_s = time.monotonic()
    assert "program_version" not in programs.describe(str(program))
    assert time.monotonic() - began_s < 60
    # A signal that cannot be caught has been sent by now; taking the processes down is the kernel's, in its own time.
    wait_until(lambda: not [line for line in states() if HANGS in line and ") Z" not in line])


def states() -> Iterator[str]:
    """The states of all processes, from /proc/PID/stat."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            yield path.read_text()


HANGS = "runoff-hangs"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_it_is_run_as_the_user_nobody(folder: Path) -> None:
    program = compiled(folder, 'printf("%d %d %d", getuid(), getgid(), getgroups(0, 0)); return 0;')
    assert programs.describe(str(program))["program_version"] == "65534 65534 0"


def test_a_script_is_not_asked(folder: Path) -> None:
    script = folder / "script"
    script.write_text(f"#!/bin/sh\ntouch {folder}/was-here\necho 1.0\n")
    script.chmod(0o755)
    folder.chmod(0o777)
    assert set(programs.describe(str(script))) == {"program", "program_sha256"}
    assert not (folder / "was-here").exists()


def test_of_one_that_is_not_there_nothing_is_known() -> None:
    assert programs.describe("no-such-program") == {}
