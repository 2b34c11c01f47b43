"""Root begins nothing where another user could redirect what it writes, and pages stay in their own directory."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import made_campaigns
import pytest
from strangers import NOBODY, ROOT_ONLY, Done, give_acl, give_to_nobody, open_to_a_group, runoff

from runoff.campaign import conduct
from runoff.campaign.loop.observer import SilentObserver
from runoff.cli import campaign as cli_campaign
from runoff.errors import MissingError

PAGE = "report.html"


def begin(tmp_path: Path, out: Path, *options: str) -> Done:
    (tmp_path / "n.csv").write_text("a,b\n1,2\n2,3\n")
    return runoff("import", tmp_path / "n.csv", "--unit", "s", "--better", "lower", "--out", out, *options)


def below_another_users(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "theirs").mkdir()
    give_to_nobody(tmp_path / "theirs")
    return tmp_path / "theirs" / "new" / "c", "theirs belongs to nobody"


def behind_another_users_link(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "ours").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    (tmp_path / "shared" / "link").symlink_to(tmp_path / "ours")
    os.chown(tmp_path / "shared" / "link", NOBODY, NOBODY, follow_symlinks=False)
    return tmp_path / "shared" / "link" / "c", "link belongs to nobody"


def behind_a_link_in_a_link(tmp_path: Path) -> tuple[Path, str]:
    behind_another_users_link(tmp_path)
    (tmp_path / "again").symlink_to("shared/link/../ours")
    return tmp_path / "again" / "c", "link belongs to nobody"


def below_what_a_group_may_write(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "group").mkdir()
    open_to_a_group(tmp_path / "group")
    return tmp_path / "group" / "c", "group can be written by others"


def below_an_acl(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "listed").mkdir()
    give_acl(tmp_path / "listed")
    return tmp_path / "listed" / "c", "listed can be written by others (see getfacl)"


@ROOT_ONLY
@pytest.mark.parametrize(
    "make",
    [
        below_another_users,
        behind_another_users_link,
        behind_a_link_in_a_link,
        below_what_a_group_may_write,
        below_an_acl,
    ],
)
def test_root_begins_nothing_where_others_could_redirect_it(
    tmp_path: Path, make: Callable[[Path], tuple[Path, str]]
) -> None:
    out, sentence = make(tmp_path)
    done = begin(tmp_path, out)
    assert done.returncode == 64, done.stderr
    assert sentence in done.stderr
    assert "--trust-directory" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not out.exists()


@ROOT_ONLY
def test_another_users_directory_can_be_trusted(tmp_path: Path) -> None:
    out, _ = below_another_users(tmp_path)
    assert begin(tmp_path, out).returncode == 64
    assert begin(tmp_path, out, "--trust-directory").returncode in (0, 2)


@ROOT_ONLY
def test_root_begins_in_a_sticky_directory_as_in_its_own(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert begin(tmp_path, tmp_path / "c").returncode in (0, 2)


@pytest.mark.parametrize("swap", [Path.symlink_to, shutil.copytree], ids=["a link", "another directory"])
def test_pages_are_written_in_the_campaigns_own_directory(tmp_path: Path, swap: Callable[..., object]) -> None:
    """Somebody who may rename the directory while the campaign ends gets no page elsewhere."""
    place, other = tmp_path / "c", tmp_path / "other"
    campaign = made_campaigns.made(place, lambda _: {"elapsed_s": 1.0}, blocks=2)
    other.mkdir()
    (other / PAGE).write_text("keep")

    conducted = conduct.resume(campaign, SilentObserver())
    place.rename(tmp_path / "moved")
    swap(*((place, other) if swap is Path.symlink_to else (other, place)))
    with pytest.raises(MissingError, match="was replaced by something else just now"):
        cli_campaign.write_report(conducted.results, conducted.directory, conducted.identity)
    assert [path.name for path in other.iterdir()] == [PAGE]
    assert (other / PAGE).read_text() == "keep"
