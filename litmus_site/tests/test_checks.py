"""Each unsafe combination of settings has its check; a newcomer's settings have none."""

from typing import Any

import pytest
from django.test import override_settings

from litmus_site.checks import unsafe_combinations

CALM: dict[str, Any] = {
    "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"],
    "SECRET_KEY": "x" * 50,
    "DEBUG": False,
    "HTTPS": False,
    "DATABASE_URL": "",
    "REDIS_URL": "",
    "WORKER_HOSTS": 1,
}
SERVICES = {"DATABASE_URL": "postgres://db/litmus", "REDIS_URL": "redis://redis"}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        ({"DEBUG": True}, []),
        ({"SECRET_KEY": "short"}, ["litmus.E001"]),
        ({"DEBUG": True, "ALLOWED_HOSTS": ["litmus.example.org"]}, ["litmus.E002"]),
        ({"WORKER_HOSTS": 2}, ["litmus.E003", "litmus.E005"]),
        ({"WORKER_HOSTS": 2, **SERVICES}, []),
        ({"REDIS_URL": "redis://redis"}, ["litmus.W004"]),
        ({"WORKER_HOSTS": 2, "DATABASE_URL": "postgres://db/litmus"}, ["litmus.E005"]),
        ({"ALLOWED_HOSTS": ["litmus.example.org"]}, ["litmus.W006"]),
        ({"ALLOWED_HOSTS": ["litmus.example.org"], "HTTPS": True}, []),
    ],
    ids=str,
)
def test_a_combination_and_what_is_said_about_it(changed: dict[str, Any], expected: list[str]) -> None:
    with override_settings(**{**CALM, **changed}):
        found = unsafe_combinations()
    assert [message.id for message in found] == expected
    assert all(message.hint for message in found)
