"""An authority of our own for tests over TLS."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def certified(name: str, folder: Path) -> tuple[ssl.SSLContext, Path]:
    """What a server called `name` serves with, and the file of the authority that vouches for it."""
    authority, server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = _named("Tests")
    own = _certificate(root, root, authority, authority, x509.BasicConstraints(ca=True, path_length=None))
    vouched = _certificate(_named(name), root, server, authority, x509.SubjectAlternativeName([x509.DNSName(name)]))
    (folder / "authority.pem").write_bytes(own)
    key = server.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "server.pem").write_bytes(key + vouched)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context, folder / "authority.pem"


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signed_with: ec.EllipticCurvePrivateKey,
    says: x509.ExtensionType,
) -> bytes:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
    dated = builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(hours=1))
    return dated.add_extension(says, critical=False).sign(signed_with, SHA256()).public_bytes(Encoding.PEM)
