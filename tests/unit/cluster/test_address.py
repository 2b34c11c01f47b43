"""Addresses of clusters: what is encrypted or stays here is taken, all else is refused."""

import json
from pathlib import Path

import pytest

from runoff.cluster.address import LocalWorkers, RemoteScheduler, is_plain, is_safe, parse_address
from runoff.errors import MissingError, RunoffError, UsageError


def test_a_number_of_local_workers():
    assert parse_address("local:2") == LocalWorkers(2)
    assert parse_address("local:64") == LocalWorkers(64)


@pytest.mark.parametrize("text", ["local:0", "local:65", "local:", "local:-1", "local:two", "local:02", "local:1.5"])
def test_wrong_numbers_of_local_workers_are_refused(text: str):
    with pytest.raises(UsageError, match="give a number of workers from 1 to 64"):
        parse_address(text)


@pytest.mark.parametrize(
    "address",
    ["tls://example.net:8786", "tls://192.0.2.1:8786", "tcp://127.0.0.1:8786", "tcp://127.9.8.7:1", "tcp://[::1]:8786",
     "tcp://localhost:8786"],
)  # fmt: skip
def test_tls_anywhere_and_tcp_on_this_machine(monkeypatch: pytest.MonkeyPatch, address: str):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert is_safe(address)
    assert parse_address(address) == RemoteScheduler(address)
    assert is_plain(address) == address.startswith("tcp")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:8786"])
def test_root_speaks_to_nobody_on_this_machine_without_tls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
):
    monkeypatch.setattr("os.geteuid", lambda: 0)
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": address}))
    for word in (address, str(file)):
        with pytest.raises(UsageError, match="every user of this machine could run programs as root"):
            parse_address(word)


def test_a_missing_port_is_told():
    with pytest.raises(UsageError, match=r"the port is missing: tls://HOST:PORT, usually tls://example\.net:8786"):
        parse_address("tls://example.net")


@pytest.mark.parametrize(
    "address",
    ["tcp://192.0.2.1:8786", "tcp://example.net:8786", "tcp://0.0.0.0:8786", "tcp://localhost.example.net:8786",
     "ucx://127.0.0.1:8786", "tls://:8786", "tls://example.net:port", "tcp://127.0.0.1.nip.io:1",
     "http://127.0.0.1:8786", "tls://[::1:8786"],
)  # fmt: skip
def test_anything_else_is_refused_with_the_reason(address: str):
    with pytest.raises(RunoffError, match=r"neither tls:// nor on this machine|not a scheduler file|No such file"):
        parse_address(address)


def test_a_scheduler_file_is_read_and_its_address_is_checked_as_well(tmp_path: Path):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": "tls://192.0.2.1:8786"}))
    assert parse_address(str(file)) == RemoteScheduler("tls://192.0.2.1:8786", file)
    file.write_text(json.dumps({"address": "tcp://192.0.2.1:8786"}))
    with pytest.raises(UsageError, match="neither tls://"):
        parse_address(str(file))


@pytest.mark.parametrize("content", ["", "[]", "{}", "not json", '"text"'])
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: str):
    file = tmp_path / "scheduler.json"
    file.write_text(content)
    with pytest.raises(UsageError, match="is not a scheduler file"):
        parse_address(str(file))


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(MissingError, match="No such file"):
        parse_address(str(tmp_path / "none.json"))
