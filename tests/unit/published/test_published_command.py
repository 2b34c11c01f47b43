"""``runoff published`` as its users run it."""

import csv
import json

import cli_runner


def test_the_list() -> None:
    listed = json.loads(cli_runner.run("list", "published", "--json").stdout)
    assert [entry["name"] for entry in listed][:2] == ["contest-iosched-2003", "zaphod-2004"]
    own = cli_runner.run("published", "list").stdout
    assert "graysky-2012          CPU schedulers compared (graysky, 2012-10-20)" in own
    assert [entry["name"] for entry in json.loads(cli_runner.run("published", "list", "--json").stdout)] == [
        entry["name"] for entry in listed
    ]


def test_showing_one_table_in_three_forms() -> None:
    plain = cli_runner.run("published", "show", "counters-2009/sizes").stdout
    assert plain.splitlines()[0].split() == ["Size", "Kernel"]
    rows = list(csv.reader(cli_runner.run("published", "show", "counters-2009/sizes", "--csv").stdout.splitlines()))
    assert rows[1] == ["1991232", "kernel-x86_64-2.6.31-gentoo-r4"]
    document = json.loads(cli_runner.run("published", "show", "counters-2009/sizes", "--json").stdout)
    assert [table["name"] for table in document["tables"]] == ["sizes"]


def test_exit_codes_of_a_check() -> None:
    assert "DOES NOT FOLLOW (7)" in cli_runner.run("published", "check", "counters-2009", expect=1).stdout
    assert "DOES NOT FOLLOW" not in cli_runner.run("published", "check", "render-2012").stdout
    every = json.loads(cli_runner.run("published", "check", "all", "--json", expect=1).stdout)
    assert [one["totals"]["does not follow"] for one in every] == [4, 1, 7, 0, 16]


def test_bad_input() -> None:
    assert "did you mean 'zaphod-2004'?" in cli_runner.run("published", "show", "zaphod-2003", expect=64).stderr
    assert "leave the table out" in cli_runner.run("published", "check", "graysky-2012/make", expect=64).stderr
    assert "choose one" in cli_runner.run("published", "show", "zaphod-2004", "--csv", "--json", expect=64).stderr
    assert "report.toml" in cli_runner.run("published", "check", "./none", expect=64).stderr
