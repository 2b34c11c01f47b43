"""Files of the user's in a plan: which words name them, where they are beside the work, and what is refused."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from runoff.engines.lab.libraries import bring_libraries
from runoff.engines.requirements import require_programs_here
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings
from runoff.workloads import Work

SCRIPT = "#!/bin/sh\necho 1\n"
TOML = 'title = "w"\ndescription = "w"\ncommand = {command}\nfiles = {files}\n{more}'


def make(*works: str, on: str = "host", **more: object) -> Plan:
    return make_plan(parse_settings({"arms": ["default"], "workloads": works, "on": on, **more}, "test"))


def work_of(text: str) -> Work:
    (work,) = make(text).works
    return work


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present directory, with a script, data and a TOML file beside data of its own."""
    place = tmp_path / "here"
    (place / "mine" / "data").mkdir(parents=True)
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (place / "bench.sh", tmp_path / "up.sh", tmp_path / "home.sh"):
        path.write_text(SCRIPT)
        path.chmod(0o755)
    (place / "input.dat").write_text("1 2 3")
    (place / "mine" / "data" / "w.json").write_text("{}")
    return place


def write(path: Path, command: str, files: str, more: str = "") -> None:
    path.write_text(TOML.format(command=command, files=files, more=more))


@pytest.mark.parametrize(
    ("line", "argv", "names"),
    [
        ("./bench.sh -n 5", ["./bench.sh", "-n", "5"], ["bench.sh"]),
        ("../up.sh", ["./up.sh"], ["up.sh"]),
        ("~/home.sh x", ["./home.sh", "x"], ["home.sh"]),
        ("sh ./bench.sh ./input.dat", ["sh", "./bench.sh", "./input.dat"], ["bench.sh", "input.dat"]),
        ("./bench.sh ./result", ["./bench.sh", "./result"], ["bench.sh"]),
        ("./bench.sh ./bench.sh", ["./bench.sh", "./bench.sh"], ["bench.sh"]),
        ("cat input.dat", ["cat", "input.dat"], []),
        ("cat /etc/hostname", ["cat", "/etc/hostname"], []),
    ],
)
def test_words_that_lead_from_here_name_files(here: Path, line: str, argv: list[str], names: list[str]) -> None:
    for text in (f"command:{line}", *([line] if line.startswith((".", "~")) else [])):
        work = work_of(text)
        assert (work.label, work.message(None)["command"]) == (text, argv)
        assert [file["name"] for file in work.message(None)["files"]] == names


@pytest.mark.parametrize(
    ("value", "name"), [("input.dat", "input.dat"), ("./mine/data/w.json", "mine/data/w.json"), ("../up.sh", "up.sh")]
)
def test_a_parameter_may_be_a_file(here: Path, value: str, name: str) -> None:
    work = work_of(f"rt-app:file={value}")
    assert [file["name"] for file in work.message(None)["files"]] == [name]
    assert f"rt-app './{name}' >said" in work.message(None)["command"][2]
    assert work.label == f"rt-app:file={value}"


def test_a_parameter_that_may_be_a_file_has_a_default_that_is_none(here: Path) -> None:
    (here / "example").touch()
    assert (work_of("rt-app").files, work_of("rt-app:file=./example").files[0].name) == ((), "example")
    with pytest.raises(UsageError, match=r"cannot read the file nope\.json: No such file"):
        work_of("rt-app:file=nope.json")


def test_a_file_is_known_by_its_digest_and_its_rights(here: Path) -> None:
    script, data = work_of("command:./bench.sh ./input.dat").files
    assert (script.sha256, script.is_executable) == (hashlib.sha256(SCRIPT.encode()).hexdigest(), True)
    assert (data.sha256, data.is_executable) == (hashlib.sha256(b"1 2 3").hexdigest(), False)
    assert script.path.read_text() == SCRIPT


def test_files_of_a_toml_lie_where_it_says_from_its_own_folder(here: Path) -> None:
    write(here / "mine" / "w.toml", '["cat", "data/w.json", "up.sh"]', '["data/w.json", "../../up.sh", "~/home.sh"]')
    files = work_of("mine/w.toml").files
    assert [(file.key, file.name) for file in files] == [
        ("mine/data/w.json", "data/w.json"),
        ("mine/../../up.sh", "up.sh"),
        ("~/home.sh", "home.sh"),
    ]
    assert [file.path.is_file() for file in files] == [True] * 3


def test_parameters_and_cpus_are_filled_in(here: Path) -> None:
    more = '[environment]\nJOBS = "{cpus}"\nN = "{n}"\n[parameters.n]\nabout = "n"\ndefault = "1"\n'
    write(here / "w.toml", '["sh", "-c", "make -j{cpus} {n} {x}"]', '["{n}.dat"]', more)
    (here / "1.dat").touch()
    (here / "2.dat").touch()
    one, two = make("./w.toml:n=1|2", cpus=2).works
    assert [one.message(None)["command"][2], two.label] == ["make -j2 1 {x}", "w:n=2"]
    assert two.message(None)["environment"] == {"JOBS": "2", "N": "2"}
    assert [file.name for file in (*one.files, *two.files)] == ["1.dat", "2.dat"]
    (third,) = make("command:sh -c 'make -j{cpus} {n}'", cpus=2).works
    assert third.message(None)["command"] == ["sh", "-c", "make -j2 {n}"]


@pytest.mark.parametrize(
    ("text", "methods"),
    [
        ("method=fft|queens", ["fft", "queens"]),
        ("method=fft", ["fft"]),
        ("", ["fft"]),
        ("method=../a|-1", ["../a", "-1"]),
    ],
)
def test_a_list_of_words_is_a_work_for_each(here: Path, text: str, methods: list[str]) -> None:
    more = '[parameters.method]\nabout = "m"\ndefault = "fft"\n'
    write(here / "w.toml", '["stress-ng", "--cpu-method", "{method}"]', "[]", more)
    works = make(f"./w.toml:{text}" if text else "./w.toml").works
    assert [work.message(None)["command"][2] for work in works] == methods
    assert [work.label for work in works] == [f"w:method={method}" if text else "w" for method in methods]
    with pytest.raises(UsageError, match=r"method has no limits, so fft\.\.queens is not a range: give a list"):
        make("./w.toml:method=fft..queens")
    with pytest.raises(UsageError, match="is given twice"):
        make("./w.toml:method=fft|fft")


@pytest.mark.parametrize("choices", ['["fft", "queens"]', '{ fft = ["fft"], queens = ["queens"] }'])
def test_choices_may_be_a_list(here: Path, choices: str) -> None:
    more = f'[parameters.method]\nabout = "m"\ndefault = "fft"\nchoices = {choices}\n'
    write(here / "w.toml", '["stress-ng", "{method}"]', "[]", more)
    works = make("./w.toml:method=queens|fft").works
    assert [work.message(None)["command"] for work in works] == [["stress-ng", "queens"], ["stress-ng", "fft"]]
    with pytest.raises(UsageError, match="method=sort"):
        make("./w.toml:method=fft|sort")


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ("[]", "choices"),
        ("{}", "choices"),
        ('["queens"]', "the default 'fft' is not one of its choices"),
        ("[1]", "choices"),
    ],
)
def test_choices_that_leave_none_are_refused(here: Path, choices: str, why: str) -> None:
    more = f'[parameters.method]\nabout = "m"\ndefault = "fft"\nchoices = {choices}\n'
    write(here / "w.toml", '["stress-ng", "{method}"]', "[]", more)
    with pytest.raises(UsageError, match=r"w\.toml: parameters\.method") as caught:
        make("./w.toml")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ('["nowhere.dat"]', "cannot read the file nowhere.dat: No such file"),
        ('["mine"]', "mine is a directory, and only files travel"),
        ('["pipe"]', "pipe is not a file"),
        (
            '["input.dat", "mine/../input.dat"]',
            "mine/../input.dat would both be input.dat in the working",
        ),
        ('[""]', "files has an empty name"),
    ],
)
def test_files_that_cannot_travel_are_named(here: Path, files: str, why: str) -> None:
    os.mkfifo(here / "pipe")
    write(here / "w.toml", '["true"]', files)
    with pytest.raises(UsageError) as caught:
        make("./w.toml")
    assert str(caught.value).startswith("workload './w.toml': ")
    assert why in str(caught.value)


def test_a_program_that_is_not_there_is_named_before_anything(here: Path) -> None:
    with pytest.raises(UsageError, match=r"workload '\./nowhere\.sh': cannot read the file \./nowhere\.sh: No such"):
        make("./nowhere.sh")
    with pytest.raises(UsageError, match=r"'\./mine': \./mine is a directory"):
        make("./mine")


@pytest.mark.parametrize(
    ("content", "mode", "error", "why"),
    [
        (SCRIPT, 0o644, UsageError, "./it is not executable: chmod +x ./it"),
        ("echo 1\n", 0o755, UsageError, "./it is neither a program nor a script: its first line has no #!/bin/sh"),
        ("#!\n", 0o755, UsageError, "neither a program nor a script"),
        ("", 0o755, UsageError, "neither a program nor a script"),
        (
            "#!/usr/bin/nosuch -x\n",
            0o755,
            MissingError,
            "./it is a script for /usr/bin/nosuch, which was not found",
        ),
        ("#! /usr/bin/env -S A=1 nosuch -x\n", 0o755, MissingError, "./it is a script for nosuch, which was not found"),
    ],
)
def test_a_script_that_cannot_start_is_named(
    here: Path, content: str, mode: int, error: type[RunoffError], why: str
) -> None:
    (here / "it").write_text(content)
    (here / "it").chmod(mode)
    with pytest.raises(error) as caught:
        require_programs_here(make("./it -x"))
    assert str(caught.value).startswith("workload './it -x': ")
    assert why in str(caught.value)


def test_scripts_and_programs_that_can_start_are_accepted(here: Path) -> None:
    shutil.copy("/bin/true", here / "program")
    (here / "it").write_text("#!/usr/bin/env -S sh -e\n")
    (here / "it").chmod(0o755)
    require_programs_here(make("./it", "./program", "./bench.sh"))


def test_a_module_that_this_kernel_lacks_is_named(here: Path) -> None:
    write(here / "w.toml", '["true"]', "[]", 'modules = ["nosuch_module"]\n')
    with pytest.raises(MissingError, match=r"'w' needs the kernel module nosuch_module: sudo modprobe"):
        require_programs_here(make("./w.toml"))


def test_a_program_travels_to_the_lab_with_its_libraries(here: Path) -> None:
    shutil.copy("/bin/ls", here / "my-ls")
    plan = bring_libraries(make("./my-ls -l", "command:./bench.sh ./my-ls", on="lab", clock="virtual"))
    message = plan.works[0].message("/image")
    own, loader, *others = message["files"]
    assert own["name"] == "my-ls"
    assert loader["name"] == ".libraries/my-ls/my-ls"
    assert "ld-linux" in loader["path"]
    assert ".libraries/my-ls/libc.so.6" in [file["name"] for file in others]
    for file in message["files"]:
        assert file["sha256"] == hashlib.sha256(Path(file["path"]).read_bytes()).hexdigest()
    assert message["command"] == [
        "./.libraries/my-ls/my-ls", "--library-path", ".libraries/my-ls", "--argv0", "./my-ls", "./my-ls", "-l",
    ]  # fmt: skip
    done = subprocess.run([loader["path"], *message["command"][3:]], capture_output=True, text=True, check=False)
    assert "bench.sh" in done.stdout, done.stderr
    assert plan.works[1].message(None)["command"] == ["./bench.sh", "./my-ls"]
    assert make("./my-ls").works[0].message(None)["command"] == ["./my-ls"]


def test_a_program_for_other_processors_is_refused(here: Path) -> None:
    header = bytearray(Path("/bin/ls").read_bytes()[:64])
    header[18:20] = (183).to_bytes(2, "little")
    (here / "arm").write_bytes(header)
    (here / "arm").chmod(0o755)
    with pytest.raises(UsageError, match=r"\./arm is a program for other processors than the lab's"):
        bring_libraries(make("./arm", on="lab", clock="virtual"))
