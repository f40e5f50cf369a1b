"""`keys`: API keys are made, listed and revoked, and the audit log is read."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from assistant.commands.common import json_option, print_json, settings

if TYPE_CHECKING:
    from assistant.api.access.keys import ApiKey
    from assistant.api.database import Database

_ROLES = ("reader", "editor", "admin")


@click.group()
def keys() -> None:
    """API keys, and who did what with them."""


@keys.command("create")
@click.argument("name")
@click.option("--role", type=click.Choice(_ROLES), default="reader", show_default=True, help="What it may do at most.")
@click.option("--scope", "scopes", multiple=True, help="Only this of the role's scopes; may be repeated.")
@click.option("--group", "groups", multiple=True, help="It may read this group's collections; may be repeated.")
@click.option("--days", type=click.IntRange(1, 3650), help="It expires after so many days.  [default: never]")
@json_option
def create(
    name: str, role: Any, scopes: tuple[Any, ...], groups: tuple[str, ...], days: int | None, as_json: bool
) -> None:
    """Make a key called NAME, which says what it is for. It is shown once."""
    from assistant.api.access.keys import Keys

    lifetime = timedelta(days=days) if days is not None else None
    made, key = Keys(_database()).create(name, role, scopes=scopes, groups=groups, lifetime=lifetime)
    if as_json:
        print_json(_key_json(made) | {"key": key})
        return
    click.echo(key)
    click.echo(f"Keep it now: it is not stored. `advisor keys revoke {made.id}` ends it.", err=True)


@keys.command("list")
@json_option
def list_keys(as_json: bool) -> None:
    """List the keys, newest first, never the keys themselves."""
    from assistant.api.access.keys import Keys

    rows = [_key_json(key) for key in Keys(_database()).list()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        until = f"until {row['expires'][:10]}" if row["expires"] else "without end"
        groups = ", ".join(row["groups"]) or "no group"
        click.echo(f"{row['id']}  {row['state']:8} {row['role']:7} {until:17} {groups}  {row['name']}")


@keys.command("revoke")
@click.argument("key_id")
def revoke(key_id: str) -> None:
    """Make a key worthless from now on."""
    from assistant.api.access.keys import Keys

    Keys(_database()).revoke(key_id)
    click.echo(f"revoked {key_id}")


@keys.command("audit")
@click.option("-n", "count", default=50, show_default=True, type=click.IntRange(1, 10_000), help="Lines.")
@json_option
def audit(count: int, as_json: bool) -> None:
    """Show who asked, uploaded, deleted or changed what, newest first."""
    from assistant.api.access.audit import AuditLog

    entries = AuditLog(_database()).page(count)
    if as_json:
        print_json([entry.model_dump(mode="json") for entry in entries])
        return
    for entry in entries:
        click.echo(f"{entry.at:%Y-%m-%d %H:%M:%S}  {entry.status}  {entry.who:24} {entry.action:22} {entry.object}")


def _database() -> Database:
    from assistant.api.database import Database

    return Database(settings().database)


def _key_json(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "state": key.state,
        "role": key.role,
        "scopes": sorted(key.scopes),
        "groups": sorted(key.groups),
        "created": key.created.isoformat(timespec="seconds"),
        "expires": key.expires.isoformat(timespec="seconds") if key.expires else None,
        "revoked": key.revoked.isoformat(timespec="seconds") if key.revoked else None,
    }
