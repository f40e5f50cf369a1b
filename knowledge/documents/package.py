"""Checks a zipped document before it is opened, so that a small file can't unpack into a huge one."""

from __future__ import annotations

import io
import zipfile

from knowledge.errors import DocumentError
from knowledge.limits import Limits, check

_MAX_PARTS = 50_000


def open_package(data: bytes, limits: Limits) -> zipfile.ZipFile:
    """Open a zipped document whose parts are, all together, within the limit.

    Raises:
        DocumentError: it unpacks to more than the limit, is protected, or has too many parts.
    """
    package = zipfile.ZipFile(io.BytesIO(data))
    parts = package.infolist()
    if len(parts) > _MAX_PARTS:
        raise DocumentError(f"The file has {len(parts):,} parts, more than any document needs. It was not opened.")
    check(limits, "max_unpacked_bytes", sum(part.file_size for part in parts), "Unpacked size in bytes:")
    if any(part.flag_bits & 1 for part in parts):
        raise DocumentError("The file is protected by a password. Save it without one.")
    return package
