"""Reads a web address: http(s) only, no address inside the own network, bounded in size and time."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from knowledge.documents.frontmatter import Description
from knowledge.documents.loading import load_bytes
from knowledge.errors import DocumentError
from knowledge.limits import Limits, check
from knowledge.records import LoadedDocument

if TYPE_CHECKING:
    import httpx

_MAX_REDIRECTS = 5
_STEP_SECONDS = 20.0
"""Longest wait for a connection or for the next piece of an answer."""
_READABLE = (
    "text/",
    "application/pdf",
    "application/xhtml+xml",
    "application/xml",
    "application/json",
    "application/epub+zip",
    "application/msword",
    "application/vnd.openxmlformats-officedocument",
    "application/vnd.ms-excel",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/octet-stream",
    "binary/octet-stream",
)
_ENDINGS = {"text/html": ".html", "text/markdown": ".md", "text/csv": ".csv"}
"""Endings of names that say what the server says."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class _Fetched(NamedTuple):
    data: bytes
    url: str
    """Where the last redirect led."""
    kind: str
    """Media type that the server states."""
    charset: str | None


def load_url(url: str, limits: Limits | None = None, *, allow_private: bool = False) -> LoadedDocument:
    """Fetch and read a web address; its metadata holds `url`, after redirects, and the page's own date.

    Args:
        url: an http or https address.
        limits: bounds on size and time.
        allow_private: whether addresses of the own machine and network may be read.

    Raises:
        DocumentError: the address may not be read, doesn't answer as it should, or holds what can't be read.
    """
    limits = limits or Limits()
    fetched = _fetch(url, limits, allow_private)
    path = PurePosixPath(unquote(urlsplit(fetched.url).path))
    name = (path.name or urlsplit(fetched.url).hostname or "page") + _ENDINGS.get(fetched.kind, "")
    described = Description(metadata={"url": fetched.url})
    return load_bytes(fetched.data, name, limits, charset=fetched.charset, description=described)


def _fetch(url: str, limits: Limits, allow_private: bool) -> _Fetched:
    import httpcore
    import httpx

    deadline = time.monotonic() + limits.max_seconds
    try:
        with httpx.Client(transport=_transport(allow_private), trust_env=False, timeout=_STEP_SECONDS) as client:
            for _ in range(_MAX_REDIRECTS + 1):
                _check_url(url)
                with client.stream("GET", url, headers={"User-Agent": "cloud-training-advisor"}) as response:
                    if response.is_redirect:
                        url = urljoin(url, response.headers.get("location", ""))
                        continue
                    _check_answer(response, url)
                    data = _body(response, limits, deadline)
                    return _Fetched(data, url, _kind(response), response.charset_encoding)
    except (httpx.HTTPError, httpx.InvalidURL, httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        raise DocumentError(f"{url} can't be fetched: {error or type(error).__name__}. Check the address.") from error
    except (httpcore.TimeoutException, UnicodeError) as error:
        raise DocumentError(f"{url} can't be fetched: {error or 'no answer in time'}. Try again later.") from error
    raise DocumentError(f"{url} redirects more than {_MAX_REDIRECTS} times. Give the address where it ends.")


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise DocumentError(f"{url!r} is no valid address ({error}). Correct it.") from error
    if parts.scheme.lower() not in ("http", "https") or not host:
        raise DocumentError(f"{url!r} can't be read: only http and https addresses are.")
    if parts.username or parts.password:
        raise DocumentError("The address holds a user name or password, which would be stored with it. Leave it out.")


def _check_answer(response: httpx.Response, url: str) -> None:
    if response.status_code != 200:
        raise DocumentError(f"{url} answered {response.status_code} {response.reason_phrase}. Check the address.")
    kind = _kind(response)
    if kind and not kind.startswith(_READABLE):
        raise DocumentError(f"{url} is of the type {kind}, which is no document.")


def _kind(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).split(";")[0].strip().lower()


def _body(response: httpx.Response, limits: Limits, deadline: float) -> bytes:
    stated = response.headers.get("content-length", "")
    if stated.isdigit():
        check(limits, "max_bytes", int(stated), "Size in bytes:")
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        check(limits, "max_bytes", size, "Size in bytes:")
        if time.monotonic() > deadline:
            raise DocumentError(f"No whole answer within the limit of {limits.max_seconds} s (ADVISOR_MAX_SECONDS).")
        parts.append(part)
    return b"".join(parts)


def _transport(allow_private: bool) -> httpx.BaseTransport:
    """A transport that connects to the very address that was checked, so that a second DNS answer can't differ."""
    import httpcore
    import httpx

    class CheckedBackend(httpcore.SyncBackend):
        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
        ) -> httpcore.NetworkStream:
            return super().connect_tcp(
                _checked_address(host, port, allow_private), port, timeout, local_address, socket_options
            )

        def connect_unix_socket(
            self,
            path: str,
            timeout: float | None = None,
            socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
        ) -> httpcore.NetworkStream:
            raise DocumentError("Only http and https addresses are read.")

    class Transport(httpx.BaseTransport):
        def __init__(self) -> None:
            self._pool = httpcore.ConnectionPool(
                ssl_context=httpx.create_ssl_context(), network_backend=CheckedBackend()
            )

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            url = httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            )
            response = self._pool.handle_request(
                httpcore.Request(request.method, url, headers=request.headers.raw, extensions=request.extensions)
            )
            return httpx.Response(
                response.status, headers=response.headers, stream=_Stream(response), extensions=response.extensions
            )

        def close(self) -> None:
            self._pool.close()

    class _Stream(httpx.SyncByteStream):
        def __init__(self, response: httpcore.Response) -> None:
            self._response = response

        def __iter__(self) -> Iterable[bytes]:  # type: ignore[override]
            yield from self._response.iter_stream()

        def close(self) -> None:
            self._response.close()

    return Transport()


def _checked_address(host: str, port: int, allow_private: bool) -> str:
    """An address of the host that may be read; all that DNS names must be allowed."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(answer[4][0]) for answer in answers]
    if not allow_private:
        for address in addresses:
            if not _is_public(address):
                raise DocumentError(
                    f"{host} is an address of this machine or network ({address}), which is not read."
                    " Set ADVISOR_ALLOW_PRIVATE_URLS=true to allow it."
                )
    return addresses[0]


def _is_public(address: str) -> bool:
    """Whether an address is on the public internet, also where it carries an IPv4 address inside."""
    ip = ipaddress.ip_address(address.split("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            ip = inner
    return ip.is_global and not ip.is_multicast
