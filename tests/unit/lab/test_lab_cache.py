"""The cache: built once, never seen half built, clear when it cannot be written."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runoff.engines.lab import cache, image
from runoff.errors import MissingError, UsageError
from runoff.workloads import Definition


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))
    return tmp_path


def break_off(final: Path) -> None:
    with cache.build_directory(final, print) as part:
        (part / "half").touch()
        raise ValueError("broken")


def test_failed_build_leaves_nothing_and_the_next_one_succeeds():
    final = cache.images() / "abc"
    with pytest.raises(ValueError, match="broken"):
        break_off(final)
    assert [path.name for path in cache.images().iterdir()] == [".abc.lock"]
    with cache.build_directory(final, print) as part:
        (part / "whole").touch()
    assert [path.name for path in final.iterdir()] == ["whole"]
    with cache.build_directory(final, print) as part:
        assert part is None


def test_killed_build_is_cleared_by_the_next():
    final = cache.images() / "abc"
    script = (
        "import os, pathlib, sys\n"
        "from runoff.engines.lab import cache\n"
        "with cache.build_directory(pathlib.Path(sys.argv[1]), print) as part:\n"
        "    (part / 'half').touch()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(final)], check=False)
    assert killed.returncode == -9
    assert not final.exists()
    with cache.build_directory(final, print) as part:
        assert list(part.iterdir()) == []


def test_a_second_builder_waits_says_so_and_finds_the_work_of_the_first():
    final, messages = cache.images() / "abc", []
    waiting, seen = threading.Event(), []

    def progress(message):
        messages.append(message)
        waiting.set()

    def second():
        with cache.build_directory(final, progress) as part:
            seen.append(part)

    with cache.build_directory(final, print):
        other = threading.Thread(target=second)
        other.start()
        assert waiting.wait(10)
        assert not seen
    other.join(10)
    assert seen == [None]
    assert "another runoff" in messages[0]


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "no room left"), (errno.EROFS, "cannot be written")])
def test_full_or_read_only_cache_is_named(number, words):
    with pytest.raises(MissingError, match=f"{words}.*RUNOFF_CACHE"), cache.explain_write_errors():
        raise OSError(number, os.strerror(number))


def test_cache_that_is_a_file_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "file"))
    with pytest.raises(MissingError, match="RUNOFF_CACHE"), cache.build_directory(cache.images() / "abc", print):
        pass


def test_image_recipe_does_not_depend_on_the_order_or_on_repetition():
    first, second = (
        image.make_recipe(["make", "gcc"], ["e2fsprogs"]),
        image.make_recipe(["gcc", "make", "gcc"], ["e2fsprogs"]),
    )
    assert first == second
    assert first.name == second.name
    assert len({first.name, image.make_recipe(["gcc"]).name, image.make_recipe(["gcc"], ["gcc"]).name}) == 3


def test_a_command_of_the_setup_has_the_variables_of_its_work():
    about = {"title": "w", "description": "w", "command": ["true"], "setup": [["make", "it"]]}
    works = [Definition.model_validate({**about, "environment": {"A": "1", "B": "x y"}}), Definition(**about)]
    assert image.derive_recipe(works).setup == (("env", "A=1", "B=x y", "make", "it"), ("make", "it"))


@pytest.mark.parametrize("name", ["", "gcc,make", "--include", "a b", "../x"])
def test_a_word_that_is_not_a_package_name_is_refused(name):
    with pytest.raises(UsageError):
        image.make_recipe([name])


@pytest.mark.parametrize(
    "damage", ["", "[]", "{}", '{"recipe": {}}', '{"recipe": {"setup": [], "packages": [], "sources": []}}']
)
def test_leftovers_of_another_version_or_an_accident_are_not_an_image(damage):
    directory = cache.images() / "abc"
    directory.mkdir(parents=True)
    (directory / "meta.json").write_text(damage)
    assert image.list_stored() == []
    with pytest.raises(MissingError, match="the lab has no image abc: see those it has"):
        image.find("abc")


def test_missing_tarball_and_image_are_named(tmp_path):
    with pytest.raises(MissingError, match=r"root\.tar"):
        image.add(tmp_path / "root.tar", print)
    with pytest.raises(MissingError, match="the lab has no image abc: see those it has"):
        image.find("abc")
