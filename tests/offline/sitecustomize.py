"""Refuse connections that leave this machine, in the tests and in every Python program that they start.

Python imports a module of this name at its start, so a folder on ``PYTHONPATH`` is enough.
"""

from __future__ import annotations

import sys

# Every refused attempt: code that catches the error does not hide it.
refused: list[str] = []


class NetworkRefused(OSError):
    """A connection to another machine, which no test may open."""


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: raise before a name is looked up, or a connection is opened, on another machine."""
    if not event.startswith("socket."):
        return
    host = _host(event, arguments)
    if host is not None and not _is_here(host):
        refused.append(f"{event} {host}")
        raise NetworkRefused(f"{event}: tests open no connection to other machines, such as {host!r}.")


def _host(event: str, arguments: tuple[object, ...]) -> str | None:
    """Host that would be asked; None if no packet would leave."""
    import socket

    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        connection, address = arguments
        # A datagram socket only notes its peer: libraries find out their own address that way.
        only_notes = event == "socket.connect" and connection.type == socket.SOCK_DGRAM
        if only_notes or connection.family not in (socket.AF_INET, socket.AF_INET6) or address is None:
            return None
        return _text(address[0])
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = _text(arguments[0])
        return None if _address(host) is not None else host  # an address needs no look-up
    return None


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host or "")


def _is_here(host: str) -> bool:
    import socket

    address = _address(host)
    if address is None:
        return host.lower() in ("", "localhost", "ip6-localhost", socket.gethostname().lower())
    return address.is_loopback or address.is_unspecified


def _address(host: str):
    import ipaddress

    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


sys.addaudithook(refuse_network)
