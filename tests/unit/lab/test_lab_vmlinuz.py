"""The kernel image reader, against images laid out as the boot protocol documents them."""

import gzip
import lzma
import struct

import pytest
import zstandard

from runoff.engines.lab import vmlinuz

ELF = b"\x7fELF" + bytes(range(256)) * 40
SETUP_SECTORS = 3
PAYLOAD_OFFSET = 96


def bzimage(packed: bytes) -> bytes:
    """A boot sector, three set-up sectors that hold the version, and the protected-mode part with the payload."""
    head = bytearray((SETUP_SECTORS + 1) * 512)
    head[0x1F1] = SETUP_SECTORS
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x20E, 0x400)
    struct.pack_into("<II", head, 0x248, PAYLOAD_OFFSET, len(packed))
    version = b"6.19.14+deb13-cloud-amd64 (builder) #1 SMP\0"
    head[0x600 : 0x600 + len(version)] = version
    return bytes(head) + bytes(PAYLOAD_OFFSET) + packed + b"what follows is not part of it"


@pytest.mark.parametrize(
    "pack",
    [
        zstandard.ZstdCompressor().compress,
        gzip.compress,
        lzma.compress,
        lambda data: lzma.compress(data, format=lzma.FORMAT_ALONE),
    ],
    ids=["zstd", "gzip", "xz", "lzma"],
)
def test_payload_is_unpacked_although_its_size_is_appended(pack):
    image = bzimage(pack(ELF) + struct.pack("<I", len(ELF)))
    assert vmlinuz.extract_payload(image) == ELF


def test_release_comes_from_the_header():
    assert vmlinuz.read_release(bzimage(b"")) == "6.19.14+deb13-cloud-amd64"


def test_elf_kernel_is_its_own_payload_and_states_its_release():
    kernel = ELF + b"Linux version 7.2.12 (someone@somewhere) #1"
    assert vmlinuz.extract_payload(kernel) == kernel
    assert vmlinuz.read_release(kernel) == "7.2.12"


@pytest.mark.parametrize(
    "packed",
    [b"\x02\x21\x4c\x18unknown method", gzip.compress(b"not an ELF file"), b"\x1f\x8bcut"],
    ids=["unknown method", "no ELF file", "cut short"],
)
def test_payload_that_cannot_be_had_is_none(packed):
    assert vmlinuz.extract_payload(bzimage(packed)) is None


def test_a_file_that_is_not_a_kernel_has_neither():
    assert vmlinuz.extract_payload(b"#!/bin/sh\n") is None
    assert vmlinuz.read_release(b"#!/bin/sh\n") is None


def test_embedded_config_is_found():
    config = "CONFIG_SCHED_CLASS_EXT=y\n"
    assert vmlinuz.extract_config(ELF + b"IKCFG_ST" + gzip.compress(config.encode()) + b"IKCFG_ED") == config
    assert vmlinuz.extract_config(ELF) is None
