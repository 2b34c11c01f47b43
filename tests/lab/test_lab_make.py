"""make builds a part of a kernel in a guest, and what does not build says why."""

from pathlib import Path

import pytest
from campaign_rows import rows
from command import run, samples

from runoff.engines.lab import image
from runoff.workloads import WORKLOADS

pytestmark = [pytest.mark.lab]


@pytest.fixture
def make_image(absent) -> None:
    if image.find_cached(image.derive_recipe([WORKLOADS.find("make")])) is None:
        absent("the image for make is not in the cache: runoff image build --work make")


def test_make_builds_the_objects_of_a_directory(tmp_path: Path, lab_kernel, make_image) -> None:
    document = run("compare", "--seed", "1", "default", "bfs", "--work", "make:target=lib/math/", "--blocks", "1",
                   "--out", tmp_path / "c", "--json").stdout  # fmt: skip
    for sample in samples(document).values():
        assert sample["valid"], sample
        assert sample["metrics"]["objects"] == 7
        assert sample["metrics"]["max_rss_kb"] > 15_000


def test_a_tree_that_does_not_build_says_why(tmp_path: Path, lab_kernel, make_image) -> None:
    broken = {
        "make:target=lib/math/missing.o": "No rule to make target 'lib/math/missing.o'",
        "make:source=/usr/src/nothing": "/usr/src/nothing is not a source tree of Linux: name one by source=DIRECTORY",
    }
    words = [word for work in broken for word in ("--work", work)]
    run("compare", "--seed", "1", "default", *words, "--blocks", "1", "--out", tmp_path / "c", expect=2)
    found = {row["workload"]: row for row in rows(tmp_path / "c")}
    assert set(found) == set(broken)
    for work, said in broken.items():
        assert not found[work]["valid"]
        assert said in found[work]["detail"]
