"""One source and compiler give one agent and one QEMU, byte for byte, in any directory and for any user."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command import start

from runoff.engines.lab.emulator import store

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "target/x86_64-unknown-linux-gnu/release/runoff-agent"

pytestmark = [pytest.mark.host, pytest.mark.timeout(0)]


def copy(place: Path) -> Path:
    """Every file of this checkout that a clone would have."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    return place


def build(place: Path, **environment: str) -> str:
    """The SHA-256 of the agent that is built there."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("RUNOFF_", "CARGO_TARGET"))}
    subprocess.run(
        ["cargo", "build", "--release", "--locked", "--offline", "--package", "runoff-agent"],
        cwd=place, env={**plain, **environment}, check=True,
    )  # fmt: skip
    content = (place / PROGRAM).read_bytes()
    for word in (f"{place}/", f"{Path.home()}/"):
        assert word.encode() not in content, word
    return hashlib.sha256(content).hexdigest()


def test_two_clones_of_two_users_give_one_agent(tmp_path: Path) -> None:
    """The second has another home directory, and so its crates in another-place."""
    usual = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    own = tmp_path / "somebody-else/.cargo"
    shutil.copytree(usual / "registry", own / "registry")
    for name in ("config.toml", "config"):
        if (usual / name).exists():
            shutil.copy(usual / name, own / name)
    rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    first = build(copy(tmp_path / "a"))
    second = build(copy(tmp_path / "another-place"), CARGO_HOME=str(own), RUSTUP_HOME=rustup)
    assert first == second


def test_two_caches_have_one_qemu(tmp_path: Path) -> None:
    used = store.find_current()
    if used is None:
        pytest.skip("runoff's QEMU has not been built: make qemu")
    cache = tmp_path / "a-cache-with-another-name"
    process = start("qemu", "build", env={**os.environ, "RUNOFF_CACHE": str(cache)})
    _, said = process.communicate()
    assert process.returncode == 0, said
    (built,) = cache.glob(f"qemus/*/{store.PROGRAM}")
    assert hashlib.sha256(built.read_bytes()).hexdigest() == used.meta.sha256
