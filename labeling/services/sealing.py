"""Keys of endpoints as they lie in the database: sealed with the service's own secret, opened only to be sent."""

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from labeling.errors import DomainError

_PURPOSE = b"litmus: keys of judges' endpoints, 1"


def seal(text: str) -> str:
    return _box(settings.SECRET_KEY).encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    try:
        return _box(settings.SECRET_KEY).decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise DomainError(
            "The key of the endpoint cannot be opened, for the secret of this service has changed; enter it again."
        ) from None


@lru_cache(maxsize=4)
def _box(secret: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
