"""System checks: combinations of settings that work and should not be used."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register


@register()
def unsafe_combinations(**_kwargs: Any) -> list[CheckMessage]:
    """Each says what is wrong and which variable mends it."""
    found: list[CheckMessage] = []
    outside = [host for host in settings.ALLOWED_HOSTS if host not in ("localhost", "127.0.0.1", "[::1]", "testserver")]
    if len(settings.SECRET_KEY) < 32:
        found.append(
            Error(
                "LITMUS_SECRET_KEY is shorter than 32 characters.",
                hint="Set it to a long random string, or leave it out: one is made and kept in LITMUS_DATA_DIR.",
                id="litmus.E001",
            )
        )
    if settings.DEBUG and outside:
        found.append(
            Error(
                f"LITMUS_DEBUG is on and the service answers to {', '.join(outside)}.",
                hint="Debug pages show settings and content: set LITMUS_DEBUG=0.",
                id="litmus.E002",
            )
        )
    if not settings.DATABASE_URL and settings.WORKER_HOSTS > 1:
        found.append(
            Error(
                "SQLite cannot be shared by workers on several hosts.",
                hint="Set DATABASE_URL to a PostgreSQL database, or LITMUS_WORKER_HOSTS=1.",
                id="litmus.E003",
            )
        )
    if not settings.DATABASE_URL and settings.REDIS_URL:
        found.append(
            Warning(
                "REDIS_URL is set while rows live in SQLite: only workers on this host can do the work.",
                hint="Set DATABASE_URL as well, or drop REDIS_URL.",
                id="litmus.W004",
            )
        )
    if settings.WORKER_HOSTS > 1 and not settings.REDIS_URL:
        found.append(
            Error(
                "The filesystem broker cannot be shared by several hosts.",
                hint="Set REDIS_URL, or LITMUS_WORKER_HOSTS=1.",
                id="litmus.E005",
            )
        )
    if outside and not settings.HTTPS and not settings.DEBUG:
        found.append(
            Warning(
                f"The service answers to {', '.join(outside)} without HTTPS: sessions and keys travel in the clear.",
                hint="Put it behind a TLS proxy and set LITMUS_HTTPS=1.",
                id="litmus.W006",
            )
        )
    return found
