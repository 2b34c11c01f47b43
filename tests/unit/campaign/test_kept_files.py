"""A campaign has copies of the files that its works brought, and goes on with these."""

import hashlib
import shutil
from pathlib import Path

import pytest

from runoff.campaign import directory
from runoff.campaign.journal import trust
from runoff.campaign.journal.journal import FILE
from runoff.campaign.journal.stored_files import FILES, use_copies
from runoff.campaign.manifest import find_changes
from runoff.engines.lab.libraries import bring_libraries
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings

SCRIPT = b"#!/bin/sh\ncat ./w.json\n"
TOML = 'title = "w"\ndescription = "w"\ncommand = ["cat", "w.json"]\nfiles = ["w.json"]\n'
LINE = "./bench.sh ./mine/w.json"


def begun(on: str = "host") -> Plan:
    values = {
        "arms": ["default"], "workloads": [LINE, "./mine/t.toml", "./my-ls"], "loads": ["none", "mine/l.toml"],
        "on": on, "seed": 1, "clock": "virtual" if on == "lab" else "real",
    }  # fmt: skip
    return bring_libraries(make_plan(parse_settings(values, "test")))


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "bench.sh").write_bytes(SCRIPT)
    (tmp_path / "bench.sh").chmod(0o755)
    (tmp_path / "mine/w.json").write_text("{}")
    (tmp_path / "mine/t.toml").write_text(TOML)
    (tmp_path / "mine/l.toml").write_text(TOML)
    shutil.copy("/bin/ls", tmp_path / "my-ls")
    return tmp_path


@pytest.mark.parametrize("on", ["host", "lab"])
def test_it_goes_on_without_the_originals(workshop: Path, on: str) -> None:
    plan = begun(on)
    directory.create(Path("c"), plan).close()
    for name in ("bench.sh", "mine", "my-ls"):
        (workshop / name).rename(workshop / f"{name}.gone")
    again, journal = directory.reopen(Path("c"))
    journal.close()
    assert [file.key for file in again.own_files] == ["./bench.sh", "./mine/w.json", "mine/w.json", "./my-ls"]
    stored = use_copies(again, Path("c"))
    for work, before in zip((*stored.works, *stored.loads), (*plan.works, *plan.loads), strict=True):
        message, expected = (work and work.message(None), before and before.message(None))
        for file in message["files"] if message else ():
            path = Path(file["path"])
            assert path.parent == (workshop / "c" / FILES).resolve()
            assert path.name == file["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
            file["path"] = ""
        for file in expected["files"] if expected else ():
            file["path"] = ""
        assert message == expected
    assert len({file.name for file in stored.works[2].files[0].libraries}) == (0 if on == "host" else 4)


def test_what_has_changed_since_is_said(workshop: Path) -> None:
    directory.create(Path("c"), begun()).close()
    plan, journal = directory.reopen(Path("c"))
    journal.close()
    assert list(find_changes(plan)) == []
    (workshop / "bench.sh").write_bytes(SCRIPT + b"# another\n")
    (workshop / "my-ls").unlink()
    script, program = find_changes(plan)
    assert script.startswith("the file ./bench.sh is not what the campaign began with (sha256 was ")
    assert program.startswith("the file ./my-ls is not what the campaign began with")
    assert ", is gone)" in program


@pytest.mark.parametrize("content", [b"another", None])
def test_a_damaged_copy_is_named_with_the_way_out(workshop: Path, content: bytes | None) -> None:
    plan = begun()
    directory.create(Path("c"), plan).close()
    copy = workshop / "c" / FILES / plan.works[0].files[0].sha256
    copy.unlink()
    if content is not None:
        copy.write_bytes(content)
    with pytest.raises(UsageError, match=r"the file \./bench\.sh .*copy it back there"):
        use_copies(plan, Path("c"))


def test_a_file_that_changes_while_it_is_kept_is_refused(workshop: Path) -> None:
    plan = begun()
    (workshop / "mine/w.json").write_text("[]")
    with pytest.raises(UsageError, match=r"w\.json changed while it was copied: run again"):
        directory.create(Path("c"), plan)
    assert not (workshop / "c" / FILE).exists()
    (workshop / "mine/w.json").write_text("{}")
    directory.create(Path("c"), plan).close()


def test_it_names_their_digests(workshop: Path) -> None:
    plan = begun("lab")
    directory.create(Path("c"), plan).close()
    digests = directory.read_results(Path("c")).fingerprint["files"]
    assert digests["./bench.sh"] == hashlib.sha256(SCRIPT).hexdigest()
    assert "./my-ls: .libraries/my-ls/libc.so.6" in digests


def test_root_is_told_which_files_would_run(workshop: Path) -> None:
    plan = begun()
    lines = list(trust.describe_runs(plan))
    assert f"the file ./bench.sh, sha256 {hashlib.sha256(SCRIPT).hexdigest()}" in lines
    assert f"{LINE}: ./bench.sh ./mine/w.json" in lines


def test_a_campaign_without_files_says_nothing_of_them(workshop: Path) -> None:
    plan = make_plan(parse_settings({"arms": ["default"], "workloads": ["command:true"], "on": "host", "seed": 1}, "t"))
    directory.create(Path("c"), plan).close()
    again, journal = directory.reopen(Path("c"))
    with journal:
        assert again.own_files == ()
    assert [path.name for path in (workshop / "c").iterdir()] == [FILE]
