"""Programs of the scx project: their modes, where they are found, and how they are built."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_runner import run
from small_disk import mount_small_disk

from runoff.campaign.origin.programs import describe
from runoff.engines.programs import build, modes, store
from runoff.engines.programs.find import find_program, list_programs, locate_program
from runoff.errors import MissingError, RunoffError, UsageError

MANIFEST = '[package]\nname = "scx_tiny"\nversion = "{}"\nedition = "2021"\nlicense = "GPL-2.0-only"\n'


@pytest.fixture(autouse=True)
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache and a configuration that belong to the test."""
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RUNOFF_SCX_LOADER", str(tmp_path / "scx_loader.toml"))


def configure(folder: Path, text: str) -> None:
    (folder / "scx_loader.toml").write_text(text)


def install(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def keep(version: str, program: str = "scx_tiny") -> store.Build:
    """A program in the cache."""
    folder = store.directory_of(program, version)
    folder.mkdir(parents=True)
    install(folder, program)
    store.write_meta(
        folder, store.Meta(program, version, hashlib.sha256((folder / program).read_bytes()).hexdigest(), "")
    )
    found = store.find(f"{program}-{version}")
    assert found is not None
    return found


def test_without_a_configuration_the_modes_are_those_of_scx_loader() -> None:
    assert list(modes.describe_modes("scx_lavd")) == ["auto", "gaming", "lowlatency", "powersave", "server"]
    assert modes.describe_modes("scx_bpfland")["powersave"] == "-s 20000 -m powersave -I 100 -t 100"
    assert set(modes.describe_modes("scx_rusty").values()) == {""}
    assert modes.describe_modes("scx_nope") == {}


def test_a_configuration_comes_before_what_scx_loader_has(tmp_path: Path) -> None:
    configure(
        tmp_path,
        'default_sched = "scx_lavd"\n[scheds.scx_lavd]\ngaming_mode = ["-x", "a b"]\nother = 1\n[scheds.scx_mine]\n'
        'auto_mode = ["-y"]\n',
    )
    found = modes.describe_modes("scx_lavd")
    assert found["gaming"] == "-x 'a b'"
    assert found["powersave"] == "--powersave --pinned-slice-us 500"
    assert modes.describe_modes("scx_mine") == {
        "auto": "-y", "gaming": "", "lowlatency": "", "powersave": "", "server": ""
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[scheds", "cannot read "),
        ('[scheds.scx_lavd]\ngaming_mode = "-x"\n', "scheds.scx_lavd.gaming_mode: it must be a list"),
        ("[scheds.scx_lavd]\ngaming_mode = [1]\n", "scheds.scx_lavd.gaming_mode.0: it must be a text"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named_with_the_way_out(tmp_path: Path, text: str, words: str) -> None:
    configure(tmp_path, text)
    with pytest.raises(UsageError) as error:
        modes.describe_modes("scx_lavd")
    assert words in str(error.value)
    assert str(error.value).endswith("give the options with --mode")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to lose")
def test_root_takes_no_options_that_others_can_change(tmp_path: Path) -> None:
    configure(tmp_path, '[scheds.scx_lavd]\ngaming_mode = ["-x"]\n')
    (tmp_path / "scx_loader.toml").chmod(0o666)
    with pytest.raises(UsageError, match="can be written by others, who could change what root runs"):
        modes.describe_modes("scx_lavd")


def test_path_comes_before_the_cache_and_a_version_is_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingError) as error:
        find_program("scx_tiny")
    assert error.value.describe().endswith("was not found: install it, or build it: runoff scx add scx_tiny")
    with pytest.raises(MissingError) as error:
        find_program("scx_tiny-0.9")
    assert error.value.hint == ("scx", "add", "scx_tiny@0.9")
    older, newer = keep("0.9.0"), keep("0.10.0")
    assert find_program("scx_tiny") == newer.path
    assert find_program("scx_tiny-0.9.0") == older.path
    installed = install(tmp_path / "bin", "scx_tiny")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    install(tmp_path / "bin", "scx_loader")
    assert find_program("scx_tiny") == installed
    found = [(each.name, each.path, each.version) for each in list_programs() if each.name.startswith("scx_tiny")]
    assert found == [
        ("scx_tiny", installed, ""),
        ("scx_tiny-0.10.0", newer.path, "0.10.0"),
        ("scx_tiny-0.9.0", older.path, "0.9.0"),
    ]
    assert "scx_loader" not in [each.name for each in list_programs()]


def test_the_host_starts_what_was_found() -> None:
    path = keep("1.0").path
    arm = {"kind": "program", "argv": ["scx_tiny", "-k"]}
    assert locate_program(arm) == {"kind": "program", "argv": [str(path), "-k"]}
    assert locate_program({"kind": "default"}) == {"kind": "default"}
    relative = {"kind": "program", "argv": ["./mine"]}
    assert locate_program(relative) == relative


def test_a_program_that_was_changed_is_refused() -> None:
    keep("1.0").path.write_text("#!/bin/sh\nfalse\n")
    with pytest.raises(MissingError) as error:
        find_program("scx_tiny")
    assert error.value.describe().endswith("is not what was built: remove it: runoff scx remove scx_tiny-1.0")


def test_a_program_without_facts_is_damaged() -> None:
    (keep("1.0").directory / "meta.json").write_text("{")
    with pytest.raises(MissingError, match="is not what was built"):
        find_program("scx_tiny")


def test_one_version_or_all_of_a_program_are_removed() -> None:
    for version in ("1.0", "1.1", "1.2"):
        keep(version)
    keep("1.0", "scx_tinier")
    assert run("scx", "remove", "scx_tiny-1.1").stdout == "removed scx_tiny-1.1\n"
    assert [each["name"] for each in json.loads(run("scx", "list", "--json").stdout)] == [
        "scx_tinier-1.0", "scx_tiny-1.2", "scx_tiny-1.0"
    ]  # fmt: skip
    assert run("scx", "remove", "scx_tiny").stdout == "removed scx_tiny-1.2\nremoved scx_tiny-1.0\n"
    assert "runoff scx list" in run("scx", "remove", "scx_tiny", expect=69).stderr


class TestBuilds:
    """Builds by cargo itself, of crates that stand in a directory in place of the published ones."""

    @pytest.fixture(autouse=True)
    def published(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        if lacking := build.list_lacking():
            pytest.skip(f"needs {', '.join(lacking)}")
        self.publish(tmp_path, "0.2.0", 'println!("scx_tiny 0.2.0");')
        home = tmp_path / "cargo"
        home.mkdir()
        (home / "config.toml").write_text(
            f'[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = "{tmp_path / "crates"}"\n'
        )
        # Where rustup chooses the compiler, it does so by a directory of its own.
        rustup = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
        monkeypatch.setenv("RUSTUP_HOME", rustup)
        monkeypatch.setenv("CARGO_HOME", str(home))

    def publish(self, folder: Path, version: str, body: str, program: str = "scx_tiny") -> None:
        crate = folder / "crates" / "scx_tiny"
        (crate / "src/bin").mkdir(parents=True, exist_ok=True)
        (crate / "Cargo.toml").write_text(MANIFEST.format(version))
        (crate / f"src/bin/{program}.rs").write_text(f"fn main() {{ {body} }}\n")
        (crate / "Cargo.lock").write_text(f'version = 4\n[[package]]\nname = "scx_tiny"\nversion = "{version}"\n')
        (crate / ".cargo-checksum.json").write_text('{"files": {}, "package": null}')

    def test_a_published_crate_is_built_once(self) -> None:
        done = run("scx", "add", "tiny", "--json")
        made = json.loads(done.stdout)
        assert (made["name"], made["program"], made["version"]) == ("scx_tiny-0.2.0", "scx_tiny", "0.2.0")
        assert "building scx_tiny 0.2.0" in done.stderr
        assert "clang" in made["compilers"]
        path = Path(made["path"])
        assert hashlib.sha256(path.read_bytes()).hexdigest() == made["sha256"]
        assert subprocess.run([path], capture_output=True, text=True, check=True).stdout == "scx_tiny 0.2.0\n"
        assert sorted(each.name for each in path.parent.iterdir()) == ["meta.json", "scx_tiny"]
        again = run("scx", "add", "scx_tiny@0.2.0", "--json")
        assert json.loads(again.stdout) == made
        assert "building" not in again.stderr
        assert find_program("scx_tiny") == path

    def test_versions_stand_beside_each_other(self, tmp_path: Path) -> None:
        build.add("tiny", print)
        self.publish(tmp_path, "0.10.0", 'println!("newer");')
        assert build.add("scx:tiny", print).name == "scx_tiny-0.10.0"
        assert [each.name for each in store.list_stored()] == ["scx_tiny-0.10.0", "scx_tiny-0.2.0"]

    def test_a_damaged_build_is_made_again(self) -> None:
        made = build.add("tiny", print)
        made.path.write_text("")
        assert build.add("tiny", print).is_whole

    @pytest.mark.parametrize(
        ("spec", "code", "words"),
        [
            ("nope", 69, "there is no published crate scx_nope"),
            ("tiny@0.3", 69, "there is no scx_tiny 0.3: there are 0.2.0"),
            ("tiny@", 64, "'tiny@' is not NAME or NAME@VERSION"),
            ("tiny@new", 64, "'tiny@new' is not NAME or NAME@VERSION"),
            ("../tiny", 64, "'../tiny' is not NAME or NAME@VERSION"),
        ],
    )
    def test_what_is_not_published_is_named(self, spec: str, code: int, words: str) -> None:
        assert words in run("scx", "add", spec, expect=code).stderr
        assert store.list_stored() == []
        assert [path for path in store.root().glob("*") if path.is_dir()] == []

    def test_a_failed_build_leaves_nothing_and_quotes_the_compiler(self, tmp_path: Path) -> None:
        self.publish(tmp_path, "0.2.0", "let wrong: u8 = true;")
        with pytest.raises(RunoffError, match=r"building scx_tiny 0\.2\.0 failed \(exit 101\): .*could not compile"):
            build.add("tiny", print)
        assert [path.name for path in store.root().iterdir()] == [".scx_tiny-0.2.0.lock"]
        self.publish(tmp_path, "0.2.0", "")
        assert build.add("tiny", print).is_whole

    def test_a_disk_without_room_is_named_before_it_begins(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small = tmp_path / "small"
        monkeypatch.setenv("RUNOFF_CACHE", str(small))
        needed = rf"{build.ROOM_MB} MB are needed, and {small} has \d\d: free some"
        with mount_small_disk(small), pytest.raises(MissingError, match=needed):
            build.add("tiny", print)

    def test_a_crate_of_another_program_is_named(self, tmp_path: Path) -> None:
        shutil.rmtree(tmp_path / "crates")
        self.publish(tmp_path, "0.2.0", "", program="another")
        with pytest.raises(RunoffError, match="has no program of that name"):
            build.add("tiny", print)


def test_what_is_in_the_cache_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    made = keep("1.0")
    assert run("scx", "add", "tiny@1.0").stdout == f"scx_tiny-1.0  {made.path}\n"
    assert "building it needs" in run("scx", "add", "tiny@1.1", expect=69).stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="others ask the program itself")
def test_a_program_that_only_root_can_start_has_the_version_of_its_build(tmp_path: Path) -> None:
    path = keep("1.0").path
    shutil.copy("/bin/true", path)
    folder = path.parent
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    store.write_meta(folder, store.Meta("scx_tiny", "1.0", sha256, ""))
    tmp_path.chmod(0o700)
    assert describe("scx_tiny") == {"program": str(path), "program_sha256": sha256, "program_version": "scx_tiny 1.0"}


def test_what_a_build_lacks_is_named_before_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPF_CLANG", str(tmp_path / "clang"))
    said = run("scx", "add", "tiny", expect=69).stderr
    assert "building it needs clang-16 or newer" in said
    assert not store.root().exists()
