"""The wheel in a clean user's home on Debian: what doctor says is enough, and the demo gives an answer."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENTER = Path(__file__).with_name("enter")
PACKAGES = "pipx,ca-certificates,adduser,sudo,mount,procps"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
SETUP = """
export PATH="$HOME/.local/bin:$PATH" PIP_CERT=/etc/ssl/certs/ca-certificates.crt
pipx install ./*.whl
runoff demo 2>refused && exit 1
grep -q '^runoff: the lab needs more than this machine has: sudo apt-get install ' refused
sh -euc "$(runoff doctor | sed -n 's/^to install all that the lab lacks: //p' | sed 's/ install / install -y -q /')"
"""
DEMO = """
export PATH="$HOME/.local/bin:$PATH"
runoff demo --out demo --json >demo.json
"""

pytestmark = [
    pytest.mark.lab,
    pytest.mark.timeout(0),
    pytest.mark.skipif(os.geteuid() != 0, reason="another root file system needs root"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([ROOT / "tools/package_files"], check=True)
    subprocess.run(["maturin", "build", "--release", "--out", folder], cwd=ROOT, check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A file system of the release, with an ordinary user in it."""
    place = tmp_path / "root"
    subprocess.run(["mmdebstrap", "--variant=apt", f"--include={PACKAGES}", request.param, place], check=True)
    # A proxy may have certificates of its own.
    shutil.copy(CERTIFICATES, place / str(CERTIFICATES).lstrip("/"))
    subprocess.run([ENTER, place, "useradd", "-m", "-s", "/bin/bash", "tester"], check=True)
    (place / "etc/sudoers.d/tester").write_text("tester ALL=(ALL) NOPASSWD:ALL\n")
    subprocess.run([ENTER, place, "apt-get", "update", "-q"], check=True)
    yield place
    shutil.rmtree(place)


def run(root: Path, script: str) -> None:
    (root / "home/tester/script").write_text(f"set -eu\n{script}")
    done = subprocess.run(
        [ENTER, root, "su", "-", "tester", "-c", "sh script"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("root", ["bookworm", "trixie"], indirect=True)
def test_an_installed_runoff_makes_the_demo(root: Path, wheel: Path) -> None:
    """The figures are not those of another machine, where the image that is made has another digest."""
    shutil.copy(wheel, root / "home/tester")
    run(root, SETUP)
    run(root, DEMO)
    document = json.loads((root / "home/tester/demo.json").read_text())
    assert [each["valid"] for each in document["samples"]] == [True] * 60
    verdicts = {(t["metric"]["name"], a["arm"]): a["verdict"] for t in document["tables"] for a in t["arms"]}
    assert verdicts["time_s", "bfs"] == verdicts["wakeup_p99_us", "bfs"] == "worse"
    # Older releases of pipx have another place.
    (shared,) = root.glob("home/tester/.local/**/pipx/venvs/runoff/share")
    assert (shared / "man/man1/runoff-compare.1").is_file()
    assert (shared / "doc/runoff/docs/tutorial.md").is_file()
