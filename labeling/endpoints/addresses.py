"""Which addresses may be called. Leads name them, so an address may not lead into the operator's own network.

What a form can see of an address is checked here; what its name leads to, where a connection is made (`guarding`).
"""

import socket
from collections.abc import Collection, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

import httpx2

from labeling.errors import DomainError

_Ip = IPv4Address | IPv6Address

# An IPv4 address in the last four bytes of an IPv6 one: a translator at the border calls it for us.
_NAT64 = IPv6Network("64:ff9b::/96")
# Automatic tunnels: what is called in the end is another address than the one that is looked at.
_TUNNELS = (IPv6Network("2002::/16"), IPv6Network("2001::/32"))
# Public by their numbers, and yet a cloud's own services to the machines in it.
_OF_CLOUDS = (IPv4Network("168.63.129.16/32"), IPv4Network("192.0.0.0/24"))
_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa")

LIST_IT = "ask the operator to list its host in LITMUS_JUDGE_HOSTS"


def check_address(url: str, allowed_hosts: Collection[str]) -> None:
    """Raises a DomainError that says what to do. allowed_hosts: hosts, or host:port, that may be private."""
    parts = _split(url)
    if is_listed(url, allowed_hosts):
        return
    if parts.scheme != "https":
        raise DomainError(f"The address must begin with https://; for a plain http address, {LIST_IT}.")
    if _looks_local(parts.hostname or ""):
        raise DomainError(f"{parts.hostname} is a private or local address; {LIST_IT}.")


def is_listed(url: str, allowed_hosts: Collection[str]) -> bool:
    """Does the operator let this host be called, wherever it is?"""
    parts = _split(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    listed = {each.lower() for each in allowed_hosts}
    return host in listed or f"{host}:{port}" in listed or parts.hostname in listed


def is_public(address: str) -> bool:
    """Can this address be reached from everywhere, and is it nobody's own?"""
    try:
        ip: _Ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        if any(ip in tunnel for tunnel in _TUNNELS):
            return False
        ip = _inside(ip)
    if isinstance(ip, IPv4Address) and any(ip in network for network in _OF_CLOUDS):
        return False
    nobodys = ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip.is_link_local or ip.is_loopback
    return ip.is_global and not nobodys and not (isinstance(ip, IPv6Address) and ip.is_site_local)


def all_public(addresses: Iterable[str]) -> bool:
    """One that is not is enough: which of a name's addresses is called may be for somebody else to choose."""
    return all(is_public(address) for address in addresses)


def _inside(ip: IPv6Address) -> _Ip:
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and httpx2.URL(url).host:
            # A name with an empty part, or one that is too long, cannot be looked up.
            parts.hostname.encode("idna")
            return parts
    except (ValueError, httpx2.InvalidURL):
        pass
    raise DomainError("The address cannot be read; write it as https://host/path.")


def _looks_local(host: str) -> bool:
    """What can be seen without asking anybody: numbers in any of their spellings, and names that are only ours."""
    host = host.rstrip(".")
    if ":" in host:
        return not is_public(host)
    try:
        return not is_public(socket.inet_ntoa(socket.inet_aton(host)))
    except OSError:
        return "." not in host or host.endswith(_LOCAL_ENDINGS)
