"""Who is asking: a runner with its key, or (after this) a person with a session."""

from datetime import timedelta

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from labeling.models import RunnerKey
from labeling.selectors.access import project_of_key
from labeling.services import people

_NOTED_EVERY = timedelta(minutes=1)


class RunnerKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer KEY`. The key stands for its project, and nothing else of the request may."""

    def authenticate(self, request: Request) -> tuple[RunnerKey, RunnerKey] | None:
        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.casefold() != "bearer":
            return None
        key = project_of_key(secret.strip())
        if key is None:
            raise AuthenticationFailed("This runner key is unknown or was revoked; ask a lead of the project for one.")
        # Reading must not wait for who is writing: once a minute is often enough.
        if key.last_used_at is None or key.last_used_at < timezone.now() - _NOTED_EVERY:
            people.note_key_use(key=key)
        return key, key

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - REST framework's signature
        return 'Bearer realm="litmus"'
