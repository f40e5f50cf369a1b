"""Refuses to be reached from elsewhere by people whom nobody has checked."""

from __future__ import annotations

import ipaddress
import socket

from assistant.api.settings import ServiceSettings
from assistant.errors import InvalidInput


def check_binding(host: str, settings: ServiceSettings, *, forced: bool) -> None:
    """Refuse an address that other machines reach while access is off.

    Raises:
        InvalidInput: it is refused; the message says how to switch access control on, or do without.
    """
    if settings.access != "off" or forced or _is_loopback(host):
        return
    raise InvalidInput(
        f"{host or 'Every address'} can be reached from other machines, and access control is off. Set "
        "ADVISOR_ACCESS=keys (and make keys with `advisor keys create`), header or oidc; or give --no-access-control "
        "to let everybody in."
    )


def is_loopback_address(address: str) -> bool:
    """Whether it is an address that only this machine reaches."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    """Whether an address, or every address of a name, is this machine's alone."""
    if is_loopback_address(host):
        return True
    try:
        found = socket.getaddrinfo(host, None) if host else []
    except OSError:
        return False
    return bool(found) and all(is_loopback_address(str(entry[4][0])) for entry in found)
