"""runoff's QEMU: named by what it is made of, never used when it is not what was built, clear about what is missing."""

import shutil
from pathlib import Path

import pytest
from cli_runner import run
from small_disk import mount_small_disk

from runoff.engines import doctor
from runoff.engines.lab import cache
from runoff.engines.lab.emulator import build, recipe, store
from runoff.errors import MissingError, RunoffError

SOURCE_NAME = f"qemu_{recipe.VERSION}+ds.orig.tar.xz"


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))


def built(name: str) -> Path:
    """Pretends that it was built: `true` prints no version, but it can be run."""
    directory = store.directory_of(name)
    directory.mkdir(parents=True)
    shutil.copy("/bin/true", directory / store.PROGRAM)
    store.write_meta(directory, store.Meta("version", cache.sha256(directory / store.PROGRAM), "compiler"))
    return directory


def test_the_name_is_of_all_that_it_is_made_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {recipe.name()}
    for patch in recipe.PATCHES:
        changed = tmp_path / patch.name
        changed.write_text(patch.read_text() + "\n")
        others = tuple(changed if each == patch else each for each in recipe.PATCHES)
        with monkeypatch.context() as other:
            other.setattr(recipe, "PATCHES", others)
            names.add(recipe.name())
    for part in ("DEVICES", "TOOLS"):
        changed = tmp_path / part
        changed.write_text(getattr(recipe, part).read_text() + "\n")
        with monkeypatch.context() as other:
            other.setattr(recipe, part, changed)
            names.add(recipe.name())
    for part, value in (("TARBALL_SHA256", "0"), ("CONFIGURE", ()), ("VERSION", "11.0.0")):
        with monkeypatch.context() as other:
            other.setattr(recipe, part, value)
            names.add(recipe.name())
    assert len(names) == 8
    assert recipe.name() in names


def test_the_current_one_is_found_among_others() -> None:
    assert store.find_current() is None
    built("9.0.0-0123456789ab")
    assert store.find_current() is None
    built(recipe.name())
    found = store.find_current()
    assert found is not None
    assert found.name == recipe.name()
    assert [each.is_current for each in store.list_stored()] == [True, False]


@pytest.mark.parametrize("damage", ["changed", "gone", "its meta.json"])
def test_a_program_that_was_changed_is_refused_and_built_again(damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = built(recipe.name())
    program = directory / store.PROGRAM
    match damage:
        case "changed":
            program.write_bytes(program.read_bytes() + b"x")
        case "gone":
            program.unlink()
        case _:
            (directory / "meta.json").write_text("{")
    with pytest.raises(MissingError, match="is not what was built: build it anew"):
        store.find_current()
    fixes = [finding.fix for finding in doctor.examine() if finding.name == "QEMU of runoff's"]
    assert fixes == ["runoff qemu build"]

    def compile_anew(part: Path, *_: object) -> None:
        shutil.copytree(built("another"), part, dirs_exist_ok=True)

    monkeypatch.setattr(build, "_build", compile_anew)
    said: list[str] = []
    assert build.ensure(said.append).is_whole
    assert f"{recipe.name()} is damaged: it is made again" in said
    assert build.ensure(said.append).is_whole
    assert len(said) == 1


def test_a_source_that_is_another_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    other = tmp_path / "other.tar.xz"
    other.write_bytes(b"other")
    done = run("qemu", "build", "--tarball", other, expect=69)
    assert f"{other} is not the source that is wanted: {SOURCE_NAME}, SHA-256 {recipe.TARBALL_SHA256}" in done.stderr
    absent = run("qemu", "build", "--tarball", tmp_path / "absent", expect=69)
    assert "does not exist: leave --tarball out to fetch it" in absent.stderr
    assert store.list_stored() == []
    assert not list(cache.emulators().glob(".*.part"))


def test_an_archive_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = run("qemu", "build", "--mirror", f"file://{tmp_path}/none", expect=69)
    assert f"the Debian archive file://{tmp_path}/none" in done.stderr
    assert store.list_stored() == []


def test_what_a_build_needs_is_named_with_the_command_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.tools, "locate", lambda program: None if program in ("cc", "patch") else "/bin/true")
    with pytest.raises(MissingError, match=r"building QEMU needs gcc, patch: sudo apt-get install gcc patch$"):
        build.ensure(print)


def test_a_library_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(tmp_path))
    with pytest.raises(MissingError, match=r"needs libglib2\.0-dev, zlib1g-dev: sudo apt-get install"):
        build.ensure(print)


def test_a_disk_that_is_too_small_is_named_with_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tmp_path / "small"
    monkeypatch.setenv("RUNOFF_CACHE", str(small))
    needed = rf"{build.ROOM_MB} MB are needed, and {small} has \d\d: free some"
    with mount_small_disk(small), pytest.raises(MissingError, match=needed):
        build.ensure(print)


def test_one_that_is_not_there_cannot_be_removed() -> None:
    built(recipe.name())
    told = run("qemu", "remove", "1.2.3", expect=69).stderr
    assert "the lab has no QEMU 1.2.3: see those it has: runoff qemu list" in told
    assert run("qemu", "list").stdout.startswith(recipe.name())
    run("qemu", "remove", recipe.name())
    assert "none yet: runoff qemu build" in run("qemu", "list").stderr


def test_progress_is_reported_every_tenth_of_the_way() -> None:
    now = iter(range(1000))
    said: list[str] = []
    told = build.NinjaProgress(said.append, lambda: float(next(now)))
    for step in range(1, 201):
        told.line(f"[{step}/200] Compiling C object")
    told.line("ninja: no work to do.")
    assert len(said) == 10
    assert said[0] == "building QEMU: 10%, ETA 9 s"
    assert said[-1] == "building QEMU: 100%, ETA 0 s"


def test_a_step_that_fails_is_reported_with_its_last_lines(tmp_path: Path) -> None:
    lines: list[str] = []
    command = ["sh", "-c", "for n in 1 2 3 4 5 6; do echo $n; done; echo wrong >&2; exit 3"]
    with pytest.raises(RunoffError, match=r"building failed \(exit 3\): 4 / 5 / 6 / wrong"):
        build.tools.follow(command, lines.append, what="building", cwd=tmp_path)
    assert len(lines) == 7
