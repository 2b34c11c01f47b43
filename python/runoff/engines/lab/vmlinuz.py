"""Reads a kernel image: the ELF payload of a bzImage, its release, an embedded configuration.

Field offsets: the kernel's Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header".
"""

import bz2
import gzip
import lzma
import re
import struct
import zlib
from collections.abc import Callable

import zstandard

_SECTOR = 512
_SETUP_SECTS = 0x1F1
_MAGIC = 0x202
_KERNEL_VERSION = 0x20E
_PAYLOAD_OFFSET = 0x248
_PAYLOAD_LENGTH = 0x24C
_ELF = b"\x7fELF"
_CONFIG_START = b"IKCFG_ST"
_CONFIG_END = b"IKCFG_ED"


def is_bzimage(image: bytes) -> bool:
    """Return whether the image carries the boot protocol's header."""
    return image[_MAGIC : _MAGIC + 4] == b"HdrS"


def read_release(image: bytes) -> str | None:
    """Return the kernel's release (``uname -r``) as the image itself states it, or None."""
    if is_bzimage(image):
        (offset,) = struct.unpack_from("<H", image, _KERNEL_VERSION)
        text = image[offset + _SECTOR : offset + _SECTOR + 256].split(b"\0", 1)[0]
        return text.decode("ascii", "replace").split(" ")[0] or None
    found = re.search(rb"Linux version (\S+) \(", image)
    return found.group(1).decode("ascii", "replace") if found else None


def extract_payload(image: bytes) -> bytes | None:
    """Return the ELF kernel inside a bzImage, the image itself if it is ELF, or None if it cannot be unpacked."""
    if image.startswith(_ELF):
        return image
    if not is_bzimage(image):
        return None
    start = (max(image[_SETUP_SECTS], 1) + 1) * _SECTOR
    offset, length = struct.unpack_from("<II", image, _PAYLOAD_OFFSET)
    packed = image[start + offset : start + offset + length]
    unpack = _choose_unpacker(packed)
    if unpack is None:
        return None
    try:
        kernel = unpack(packed)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstandard.ZstdError):
        return None
    return kernel if kernel.startswith(_ELF) else None


def extract_config(kernel: bytes) -> str | None:
    """Return the configuration a kernel built with CONFIG_IKCONFIG carries, or None."""
    start = kernel.find(_CONFIG_START)
    end = kernel.find(_CONFIG_END, start)
    if start < 0 or end < 0:
        return None
    return gzip.decompress(kernel[start + len(_CONFIG_START) : end]).decode()


def _choose_unpacker(packed: bytes) -> Callable[[bytes], bytes] | None:
    """Return a decompressor that stops at the end of its stream: the build appends the unpacked size."""
    kinds: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
        (b"\x28\xb5\x2f\xfd", lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
        (b"\x1f\x8b", lambda data: zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data)),
        (b"\xfd7zXZ\x00", lambda data: lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(data)),
        (b"\x5d\x00\x00", lambda data: lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(data)),
        (b"BZh", lambda data: bz2.BZ2Decompressor().decompress(data)),
    )
    return next((unpack for magic, unpack in kinds if packed.startswith(magic)), None)
