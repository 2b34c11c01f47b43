"""The private apt, against a small unsigned or unreachable archive on this disk."""

import shutil
import subprocess

import pytest

from runoff.engines.lab import debian, mirror
from runoff.errors import MissingError, UsageError

needs_apt = pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt on this machine")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(mirror.VARIABLE, raising=False)
    return tmp_path


def test_pick_passes_over_security_archives_and_other_vendors():
    listing = (
        "Other|http://other.example/apt/|stable\n"
        "Debian|http://archive.example/debian-security/|bookworm-security\n"
        "Debian|http://archive.example/debian/|bookworm\n"
    )
    assert mirror.pick(listing) == "http://archive.example/debian/"
    assert mirror.pick("Ubuntu|http://other.example/ubuntu/|noble\n") is None
    assert mirror.pick("") is None


def test_the_users_choice_comes_before_the_environment(monkeypatch):
    monkeypatch.setenv(mirror.VARIABLE, "http://second.example/debian/")
    assert mirror.resolve("http://first.example/debian/") == "http://first.example/debian"
    assert mirror.resolve(None) == "http://second.example/debian"


def test_what_is_no_address_is_refused():
    with pytest.raises(UsageError, match="give one such as"):
        mirror.resolve("first.example")


@needs_apt
@pytest.mark.skipif(not debian.KEYRING.exists(), reason="no Debian archive keyring on this machine")
def test_unreachable_archive_is_named_with_the_way_out(cache):
    address = f"file:{cache}/nowhere"
    with pytest.raises(MissingError, match=r"cannot be reached.*--mirror") as raised:
        debian.open_archive(address, print)
    assert address in str(raised.value)
    assert raised.value.exit_code == 69


@needs_apt
@pytest.mark.skipif(not debian.KEYRING.exists(), reason="no Debian archive keyring on this machine")
def test_unsigned_archive_is_refused(cache):
    packages = cache / "archive/dists/trixie/main/binary-amd64"
    packages.mkdir(parents=True)
    (packages / "Packages").write_text("Package: rt-tests\nVersion: 1\nArchitecture: amd64\n\n")
    (cache / "archive/dists/trixie/Release").write_text("Suite: trixie\nCodename: trixie\n")
    with pytest.raises(MissingError, match="not trusted"):
        debian.open_archive(f"file:{cache}/archive", print)


@needs_apt
@pytest.mark.skipif(not debian.KEYRING.exists(), reason="no Debian archive keyring on this machine")
def test_private_apt_runs_none_of_the_systems_hooks(cache, tmp_path, monkeypatch):
    system = tmp_path / "system.conf"
    system.write_text(
        'APT::Update::Post-Invoke { "rm -f precious"; };\nAcquire::http::Proxy "http://proxy.example:3128";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(system))
    archive = debian.Archive("http://archive.example/debian", tmp_path / "apt")
    archive.prepare()
    dump = subprocess.run(
        ["apt-config", "-c", str(tmp_path / "apt/apt.conf"), "dump"], capture_output=True, text=True, check=True
    ).stdout
    assert "precious" not in dump
    assert "Invoke::" not in dump
    assert archive.proxies() == {"Acquire::http::Proxy": "http://proxy.example:3128"}
