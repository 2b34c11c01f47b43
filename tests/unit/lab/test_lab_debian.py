"""The private apt, against a small unsigned or unreachable archive on this disk."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runoff.engines.lab import debian, kernel_sources, mirror
from runoff.engines.lab.emulator import build, recipe, store
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


def test_a_word_that_is_not_an_address_is_refused():
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


class Trusting(debian.Archive):
    """One whose index needs no signature."""

    def _sources(self) -> str:
        return f"deb [trusted=yes] {self.address} ./\n"


@pytest.fixture
def replaced(cache):
    """An archive that lists kernels 7.3.4 and 7.3.3, and 7.2.9, and has lost the files of the first series."""
    place = cache / "archive"
    place.mkdir()
    index = ""
    for release in ("7.3.4", "7.3.3", "7.2.9"):
        name = f"linux-image-{release}-cloud-amd64"
        tree = cache / "trees" / name
        (tree / "DEBIAN").mkdir(parents=True)
        control = f"Package: {name}\nVersion: {release}-1\nArchitecture: amd64\nMaintainer: t <t@t>\nDescription: t\n"
        (tree / "DEBIAN/control").write_text(control)
        file = place / f"{name}_{release}-1_amd64.deb"
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, file], check=True, capture_output=True)
        data = file.read_bytes()
        index += f"{control}Filename: ./{file.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n\n"
        if release != "7.2.9":
            file.unlink()
    (place / "Packages").write_text(index)
    digest, size = hashlib.sha256(index.encode()).hexdigest(), len(index)
    release = f"Suite: {debian.BACKPORTS}\nCodename: {debian.BACKPORTS}\nSHA256:\n {digest} {size} Packages\n"
    (place / "Release").write_text(release)
    archive = Trusting(f"file:{place}", cache / "apt")
    archive.prepare()
    archive.update()
    return archive


@needs_apt
def test_a_replaced_file_is_distinguished_from_an_unreachable_archive(replaced, tmp_path):
    with pytest.raises(debian.GoneError, match="--mirror names another"):
        replaced.download(["linux-image-7.3.4-cloud-amd64"], tmp_path, debian.BACKPORTS)
    with pytest.raises(MissingError) as raised:
        replaced.download_file("pool/file", tmp_path, "0" * 64)
    assert raised.value.exit_code == 69
    (package,) = replaced.download(["linux-image-7.2.9-cloud-amd64"], tmp_path, debian.BACKPORTS)
    assert package.path.exists()


@needs_apt
def test_a_source_of_qemu_that_was_replaced_is_named_with_the_place_that_keeps_it(replaced, tmp_path, monkeypatch):
    monkeypatch.setattr(debian, "open_archive", lambda chosen, progress: replaced)
    name = re.escape(Path(recipe.TARBALL).name)
    wanted = rf"snapshot archive keeps {name}, SHA-256 [0-9a-f]{{64}}: give it with .* --tarball$"
    with pytest.raises(MissingError, match=wanted):
        build.ensure(print)
    assert store.list_stored() == []


@needs_apt
@pytest.mark.parametrize("spec", ["debian", "debian:7"])
def test_the_next_kernel_is_taken_if_a_file_of_the_first_was_replaced(replaced, monkeypatch, spec):
    told = []
    monkeypatch.setattr(debian, "open_archive", lambda chosen, progress: replaced)
    # It is fetched and unpacked; that this package holds no kernel is another matter.
    with pytest.raises(MissingError, match=r"debian:7\.2\.9-cloud-amd64 hold no vmlinuz"):
        kernel_sources.add(spec, mirror=None, progress=told.append)
    sentence = "the archive lists {} and has its files no longer: taking the next one that fits"
    for release in ("7.3.4", "7.3.3"):
        assert sentence.format(f"{release}-cloud-amd64") in told
    with pytest.raises(debian.GoneError):
        kernel_sources.add("debian:7.3", mirror=None, progress=told.append)
