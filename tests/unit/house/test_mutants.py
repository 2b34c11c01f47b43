"""The tool that changes the statistics and counts what no test notices."""

import importlib.util
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest
from checkout import ROOT

ROOM = "python/runoff/statistics"

TINY = '''"""Adds 1 to 2."""

WORD = "größer 5"  # 6


@cache(maxsize=7)
def clip(value: "Literal[8]", low: float = 0.5) -> float:
    """Return at least 9."""
    if not value >= low and value > -1:
        raise ValueError(f"{value - 10} is not 11")
    return max(value, low) - find(value, low=low)
'''


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    loader = SourceFileLoader("mutants", str(ROOT / "tools/mutants"))
    spec = importlib.util.spec_from_loader("mutants", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mutants", module)
    loader.exec_module(module)
    return module


def make_mutants(tool: ModuleType, source: str) -> dict[str, set[str]]:
    """Return the lines of a module as mutants have them, by the line as it is."""
    made: dict[str, set[str]] = {}
    for mutant in tool.find_mutants({"tiny.py": source.encode()}):
        changed = (source.encode()[: mutant.start] + mutant.new.encode() + source.encode()[mutant.end :]).decode()
        compile(changed, "tiny.py", "exec")
        (line,) = [new for old, new in zip(source.splitlines(), changed.splitlines(), strict=True) if old != new]
        assert mutant.text == source.splitlines()[mutant.line - 1].strip()
        made.setdefault(mutant.text, set()).add(line.strip())
    return made


def test_what_decides_is_changed_and_words_and_types_are_not(tool: ModuleType) -> None:
    assert make_mutants(tool, TINY) == {
        'def clip(value: "Literal[8]", low: float = 0.5) -> float:': {
            'def clip(value: "Literal[8]", low: float = 0.625) -> float:'
        },
        "if not value >= low and value > -1:": {
            "if not value > low and value > -1:",
            "if not value <= low and value > -1:",
            "if not value >= low or value > -1:",
            "if not value >= low:",
            "if value >= low and value > -1:",
            "if not value >= low and value >= -1:",
            "if not value >= low and value < -1:",
            "if not value >= low and value > 1:",
            "if not value >= low and value > -2:",
        },
        "return max(value, low) - find(value, low=low)": {
            "return min(value, low) - find(value, low=low)",
            "return max(value, low) + find(value, low=low)",
            "return max(value, low)",
        },
    }


def test_what_may_be_left_out_is(tool: ModuleType) -> None:
    source = "class Half:\n    size: float = field()\n\n\ndef halve(all):\n    return Half(size=all / 2, name=all)\n"
    (made,) = make_mutants(tool, source).values()
    assert made == {
        "return Half( name=all)",
        "return Half(size=all * 2, name=all)",
        "return Half(size=all, name=all)",
        "return Half(size=all / 3, name=all)",
    }


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A small repository, with a test that sees one of two rules."""
    room = tmp_path / "repository/python/runoff/statistics"
    tests = tmp_path / "repository/tests/unit/statistics"
    for folder in (room, tests):
        folder.mkdir(parents=True)
    for folder in (room, room.parent):
        (folder / "__init__.py").touch()
    (room / "tiny.py").write_text(
        "def is_small(value):\n    return value < 8\n\n\ndef count(most):\n    seen = 0\n"
        "    while seen < most:\n        seen += 1\n    return seen\n"
    )
    (tests / "test_tiny.py").write_text(
        "from runoff.statistics.tiny import count, is_small\n\n\ndef test_small():\n    assert is_small(1)\n"
        "    assert not is_small(8)\n\n\ndef test_count():\n    assert count(3) == 3\n"
    )
    subprocess.run(["git", "init", "--quiet", tmp_path / "repository"], check=True)
    return tmp_path


def test_a_mutant_that_passes_its_tests_survives(tool: ModuleType, place: Path) -> None:
    trial = tool.Trial(place / "trial")
    trial.set_up(place / "repository")
    trial.observe(["tests/unit"])
    path = f"{ROOM}/tiny.py"
    before = (place / "repository" / path).read_bytes()
    found = {str(each): each for each in tool.find_mutants({path: before})}
    assert trial.survives(found[f"{path}:2: 8 -> 9"]) is False
    assert trial.survives(found[f"{path}:2: < -> >"]) is False
    assert trial.survives(found[f"{path}:6: 0 -> 1"]) is True
    (place / "trial/copy/tests/unit/statistics/test_tiny.py").write_text("def test_nothing():\n    pass\n")
    assert trial.survives(found[f"{path}:2: 8 -> 9"]) is True
    assert (trial.copy / path).read_bytes() == (place / "repository" / path).read_bytes() == before


def test_a_mutant_that_hangs_is_killed(tool: ModuleType, place: Path) -> None:
    trial = tool.Trial(place / "trial", patience_s=5.0)
    trial.set_up(place / "repository")
    trial.observe(["tests/unit"])
    path = f"{ROOM}/tiny.py"
    source = (trial.copy / path).read_bytes()
    start = source.index(b"+= 1")
    assert not trial.survives(tool.Mutant(path, 8, start, start + 4, "+= 1", "+= 0", "seen += 1", 5))


def test_the_listed_mutants_are_mutants_and_are_not_drawn(tool: ModuleType) -> None:
    every = tool.find_all()
    listed = tool.read_equivalent()
    drawn = tool.draw(every, 1, len(every))
    assert not listed & {each.key for each in drawn}
    assert listed <= {each.key for each in every}
    assert drawn[:50] == tool.draw(every, 1, 50) != tool.draw(every, 2, 50)
