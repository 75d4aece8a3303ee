"""Where a judge's endpoint is, and the key it wants: the operator's by name, a project's own by address."""

from typing import Protocol

from django.conf import settings

from labeling.endpoints.addresses import check_address, is_listed
from labeling.endpoints.exchange import Address
from labeling.errors import DomainError
from labeling.judges.service import Service
from labeling.services.sealing import unseal


class Keyed(Protocol):
    """What holds a project's key: the service of a judge, or a trial."""

    @property
    def sealed_key(self) -> str: ...


def check_service(service: Service) -> None:
    """Raises a DomainError where these settings name nobody who could be asked."""
    if service.operator and service.base_url:
        raise DomainError("Name an address or one of the operator's endpoints, not both.")
    if service.operator:
        _of_operator(service.operator)
    elif service.base_url:
        check_address(service.base_url, settings.JUDGE_HOSTS)
    else:
        raise DomainError("Name the address of the endpoint that answers, or one of the operator's.")


def address_of(service: Service, row: Keyed) -> Address:
    """A key goes nowhere but to the address it was given with: the operator's to theirs, a project's to its own."""
    check_service(service)
    if service.operator:
        return _of_operator(service.operator)
    return Address(service.base_url, key=_key(row), trusted=is_listed(service.base_url, settings.JUDGE_HOSTS))


def _key(row: Keyed) -> str:
    key = unseal(row.sealed_key).strip() if row.sealed_key else ""
    if not (key.isascii() and key.isprintable()):
        raise DomainError("The key of the endpoint holds characters that cannot be sent; enter it again.")
    return key


def _of_operator(name: str) -> Address:
    found: Address | None = settings.JUDGE_OPERATORS.get(name)
    if found is None:
        raise DomainError(f"The operator keeps no endpoint called {name}; ask them to set LITMUS_JUDGE_URL_{name}.")
    return found
