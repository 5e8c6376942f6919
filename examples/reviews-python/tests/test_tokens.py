"""A user's token reaches the service: it accepts only those of the issuer, for this platform."""

import hmac
import json
import time
from typing import Any

import httpx
import jwt
import pytest
from conftest import Service
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

OTHER_KEY = ec.generate_private_key(ec.SECP256R1())


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-system"},
        {"aud": None},
        {"iss": "https://other.example"},
        {"exp": time.time() - 60},
        {"exp": None},
        {"nbf": time.time() + 600},
        {"sub": "ada"},
        {"sub": None},
        {"key": OTHER_KEY},
        {"headers": {"typ": "logout+jwt"}},
        {"headers": {"kid": "unknown"}},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_service_is_401(service: Service, claims: dict[str, Any]) -> None:
    token = service.issuer.token(**claims)
    reply = send(service, f"Bearer {token}")
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == 'Bearer realm="tributary", error="invalid_token"'
    graphql = service.request("POST", "/graphql", json={"query": "{ __typename }"}, headers=bearer(token))
    assert graphql.status_code == 401


def test_unsigned_tokens_and_those_signed_with_the_public_key_are_401(service: Service) -> None:
    claims = {"iss": service.issuer.url, "aud": "tributary", "sub": "1", "exp": time.time() + 60}
    unsigned = jwt.encode(claims, None, "none", headers={"kid": "test"})
    public_key = service.issuer.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    # By hand: PyJWT refuses to sign with a public key.
    parts = [
        jwt.utils.base64url_encode(json.dumps(part).encode()) for part in ({"alg": "HS256", "kid": "test"}, claims)
    ]
    signature = hmac.digest(public_key, b".".join(parts), "sha256")
    symmetric = b".".join([*parts, jwt.utils.base64url_encode(signature)]).decode()
    for header in (f"Bearer {unsigned}", f"Bearer {symmetric}", "Bearer x", "Bearer", "Basic YTpi"):
        assert send(service, header).status_code == 401, header


def test_a_token_of_several_audiences_and_the_type_at_jwt_is_accepted(service: Service) -> None:
    token = service.issuer.token(aud=["a", "tributary"], headers={"typ": "at+jwt"})
    assert send(service, f"bearer {token}").status_code == 200


def send(service: Service, authorization: str) -> httpx.Response:
    return service.request("GET", "/rest/v2/reviews", headers={"authorization": authorization})


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}
