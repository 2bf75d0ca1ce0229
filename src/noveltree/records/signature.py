"""Signatures of manifests, with an Ed25519 key of OpenSSH's, in the format of `ssh-keygen -Y sign`.

So whoever has OpenSSH can check them, and sign, without noveltree:

ssh-keygen -Y sign -f ~/.ssh/id_ed25519 -n noveltree manifest.json
ssh-keygen -Y check-novalidate -n noveltree -s manifest.json.sig < manifest.json

The extra `sign` installs what is needed here.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import textwrap
from pathlib import Path
from typing import Any

from noveltree.errors import InputError, RecordError
from noveltree.records.files import write_atomically
from noveltree.records.manifest import MANIFEST, SIGNATURE
from noveltree.wording import installing

_NAMESPACE = b"noveltree"
_KIND = b"ssh-ed25519"
_MAGIC, _VERSION = b"SSHSIG", (1).to_bytes(4, "big")
_HASHES = {b"sha512": hashlib.sha512, b"sha256": hashlib.sha256}
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"


def sign_manifest(directory: Path, key: Path) -> str:
    """Sign the manifest of a directory with a private key; the fingerprint of its public one."""
    ed25519, serialization = _cryptography()
    try:
        private = serialization.load_ssh_private_key(key.read_bytes(), password=None)
    except OSError as error:
        raise InputError(f"Cannot read the key {key}: {error.strerror or error}.") from error
    except TypeError as error:
        raise InputError(
            f"The key {key} is protected by a passphrase: sign with `ssh-keygen -Y sign -f {key} -n noveltree "
            f"{directory / MANIFEST}`."
        ) from error
    except (ValueError, ImportError) as error:
        raise InputError(f"{key} is not a private key of OpenSSH's; `ssh-keygen -t ed25519` makes one.") from error
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise InputError(f"{key} is not an Ed25519 key; `ssh-keygen -t ed25519` makes one.")
    raw = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    public = _string(_KIND) + _string(raw)
    message = _message((directory / MANIFEST).read_bytes(), b"sha512")
    signature = _string(_KIND) + _string(private.sign(message))
    blob = _MAGIC + _VERSION + b"".join(map(_string, (public, _NAMESPACE, b"", b"sha512", signature)))
    text = "\n".join([_BEGIN, *textwrap.wrap(base64.b64encode(blob).decode(), 70), _END, ""])
    write_atomically(directory / SIGNATURE, text.encode())
    return _fingerprint(public)


def signer_of(directory: Path) -> str | None:
    """The fingerprint of the key by which a manifest is signed; None if it is not.

    Raises RecordError if it is signed wrongly. That a fingerprint is somebody's is for them to publish.
    """
    if (directory / SIGNATURE).is_file() and importlib.util.find_spec("cryptography") is None:
        return f"a key that was not checked, since that needs cryptography ({installing('sign')})"
    public = _signing_key(directory)
    return None if public is None else _fingerprint(public)


def check_signer(directory: Path, key: str) -> str:
    """Raise RecordError unless a manifest is signed by a public key, given as text or a file; its fingerprint."""
    wanted = _public_key(key)
    public = _signing_key(directory)
    if public is None:
        raise RecordError(f"{directory / MANIFEST} is not signed.")
    if public != wanted:
        raise RecordError(
            f"{directory / MANIFEST} is signed by {_fingerprint(public)}, not by {_fingerprint(wanted)}."
        )
    return _fingerprint(public)


def _signing_key(directory: Path) -> bytes | None:
    """The public key that a manifest is signed by, if it is and the signature fits."""
    path = directory / SIGNATURE
    if not path.is_file():
        return None
    ed25519, _ = _cryptography()
    from cryptography.exceptions import InvalidSignature

    try:
        lines = path.read_text().split("\n")
        blob = base64.b64decode("".join(lines[lines.index(_BEGIN) + 1 : lines.index(_END)]), validate=True)
        if not blob.startswith(_MAGIC + _VERSION):
            raise ValueError
        public, namespace, _, hash_name, signature = _strings(blob[len(_MAGIC + _VERSION) :], 5)
        kind, raw = _strings(public, 2)
        signed_kind, signed = _strings(signature, 2)
        if (kind, signed_kind, namespace) != (_KIND, _KIND, _NAMESPACE) or hash_name not in _HASHES:
            raise ValueError
        key = ed25519.Ed25519PublicKey.from_public_bytes(raw)
    except (OSError, ValueError) as error:
        raise RecordError(f"{path} is not a signature by an Ed25519 key for noveltree.") from error
    try:
        key.verify(signed, _message((directory / MANIFEST).read_bytes(), hash_name))
    except (InvalidSignature, OSError) as error:
        raise RecordError(f"{path} does not fit: {MANIFEST} was changed after it was signed.") from error
    return public


def _public_key(key: str) -> bytes:
    """A public key from `ssh-ed25519 AAAA... comment`, or from a file with that in it."""
    try:
        text = key if key.startswith(_KIND.decode()) else Path(key).read_text()
        words = text.split()
        public = base64.b64decode(words[words.index(_KIND.decode()) + 1], validate=True)
        kind, _ = _strings(public, 2)
    except OSError as error:
        raise InputError(f"Cannot read the public key {key}: {error.strerror or error}.") from error
    except (ValueError, IndexError) as error:
        raise InputError(f"{key} is not a public Ed25519 key of OpenSSH's, `ssh-ed25519 AAAA...`.") from error
    if kind != _KIND:
        raise InputError(f"{key} is not a public Ed25519 key of OpenSSH's, `ssh-ed25519 AAAA...`.")
    return public


def _message(data: bytes, hash_name: bytes) -> bytes:
    """What is signed, by OpenSSH's PROTOCOL.sshsig."""
    digest = _HASHES[hash_name](data).digest()
    return _MAGIC + b"".join(map(_string, (_NAMESPACE, b"", hash_name, digest)))


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _strings(data: bytes, count: int) -> list[bytes]:
    """The strings that data is made of, exactly so many."""
    strings = []
    while data:
        length = int.from_bytes(data[:4], "big")
        strings.append(data[4 : 4 + length])
        if len(data) < 4 + length:
            raise ValueError("cut off")
        data = data[4 + length :]
    if len(strings) != count:
        raise ValueError("something else")
    return strings


def _fingerprint(public: bytes) -> str:
    """As `ssh-keygen -l` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip("=")


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise InputError(
            f"Signatures need the package cryptography: {installing('sign')}. Or check them with `ssh-keygen -Y`."
        ) from error
    return ed25519, serialization
