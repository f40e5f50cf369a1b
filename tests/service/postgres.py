"""A PostgreSQL of its own in a temporary folder, run by a user without rights."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "nobody"
NAME = "advisor"


def binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`; Debian keeps them off the path."""
    found = [path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]
    on_path = shutil.which("initdb")
    return found[-1] if found else Path(on_path).parent if on_path else None


@contextmanager
def postgres(programs: Path) -> Iterator[str]:
    """The URL of a new database; it is gone afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place = Path(tempfile.mkdtemp(prefix="advisor-postgres-"))
    user = USER if os.geteuid() == 0 else None
    if user is not None:
        os.chown(place, pwd.getpwnam(user).pw_uid, -1)

    def run(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [programs / program, *arguments], user=user, cwd=place, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    data = place / "data"
    run("initdb", "-D", str(data), "-U", NAME, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-p {port} -k {place} -c listen_addresses=127.0.0.1 -c fsync=off"
    run("pg_ctl", "-D", str(data), "-o", options, "-l", str(place / "log"), "-w", "-t", "120", "start")
    try:
        run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", NAME, NAME)
        yield f"postgresql://{NAME}@127.0.0.1:{port}/{NAME}"
    finally:
        run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(place)
