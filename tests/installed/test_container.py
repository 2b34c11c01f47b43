"""The Containerfile: built on a Debian that mmdebstrap made, then a campaign in the lab inside of it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runoff.engines.lab import cache

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
BASE, NAME = "localhost/runoff-test-base", "localhost/runoff-test"
# Neither control groups nor limits of its own, which a container in a container may not have.
BUILD = ("buildah", "build", "--isolation", "chroot", "--network", "host", "--ulimit", "nofile=1024:1024")

pytestmark = [
    pytest.mark.lab,
    pytest.mark.timeout(0),
    pytest.mark.skipif(os.geteuid() != 0 or shutil.which("buildah") is None, reason="needs root and buildah"),
]


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}"
    return done.stdout


@pytest.fixture
def base(tmp_path: Path) -> Iterator[str]:
    """A Debian without a registry, in which pip trusts the certificates of this machine's proxy."""
    (tmp_path / "proxy.crt").write_bytes(CERTIFICATES.read_bytes())
    (tmp_path / "pip.conf").write_text("[global]\ncert = /etc/ssl/certs/proxy.crt\n")
    hooks = (
        f"copy-in {tmp_path / 'pip.conf'} /etc",
        'mkdir -p "$1/etc/ssl/certs"',
        f"copy-in {tmp_path / 'proxy.crt'} /etc/ssl/certs",
    )
    tarball = tmp_path / "base.tar"
    run("mmdebstrap", "--variant=apt", *(f"--customize-hook={hook}" for hook in hooks), "trixie", tarball)
    container = run("buildah", "from", "scratch").strip()
    run("buildah", "add", "--quiet", container, tarball, "/")
    run("buildah", "commit", "--quiet", "--rm", container, BASE)
    yield BASE
    run("buildah", "rmi", "--force", BASE)


@pytest.fixture
def container(base: str, tmp_path: Path) -> Iterator[str]:
    context = tmp_path / "context"
    (context / "build/release").mkdir(parents=True)
    shutil.copy(ROOT / "Containerfile", context)
    run("maturin", "build", "--release", "--out", context / "build/release", cwd=ROOT)
    run(*BUILD, "--build-arg", f"BASE={base}", "--tag", NAME, context)
    name = run("buildah", "from", NAME).strip()
    yield name
    run("buildah", "rm", name)
    run("buildah", "rmi", "--force", NAME)


def test_a_campaign_in_a_container(container: str) -> None:
    enter = ("buildah", "run", "--isolation", "chroot", "-v", f"{cache.root()}:/kept", "-e", "RUNOFF_CACHE=/kept")
    told = run(*enter, container, "--", "runoff", "doctor")
    assert "--on lab: ready" in told
    assert "✗ mmdebstrap" not in told
    words = ("default", "bfs", "--work", "hackbench:groups=1,loops=5", "--blocks", "1", "--clock", "virtual")
    told = run(*enter, container, "--", "runoff", "compare", *words, "--out", "/tmp/campaign")
    assert "2/2 samples  lab, virtual clock" in told
