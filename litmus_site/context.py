"""What every page may say about the service."""

from django.conf import settings
from django.http import HttpRequest


def service(_request: HttpRequest) -> dict[str, str]:
    return {"litmus_version": settings.VERSION}
