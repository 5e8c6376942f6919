"""Who sends a request: the bearer token of the client, which the gateway and the REST proxy forward unchanged."""

import asyncio
import re
from dataclasses import dataclass

import jwt

from .config import Config
from .errors import AppError
from .model import is_id

# All are asymmetric: with a symmetric one, anyone could sign with the public key as the secret (RFC 8725, 2.1).
ALGORITHMS = ["RS256", "ES256", "EdDSA"]
# Other types, such as `logout+jwt`, are for another use (RFC 8725, 3.11; RFC 9068, 4).
TYPES = {None, "jwt", "at+jwt", "application/at+jwt", "application/jwt"}
CLOCK_TOLERANCE_SECONDS = 5
BEARER = re.compile(r"bearer +([\w.~+/=-]{1,8192}) *", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Identity:
    """Of a caller. Without a token `user_id` is None."""

    user_id: str | None = None
    scopes: frozenset[str] = frozenset()

    def require(self, *scopes: str) -> str:
        """Returns the user's id. Any of the scopes is enough."""
        if self.user_id is None:
            raise AppError("UNAUTHENTICATED", "This requires a token.")
        if self.scopes.isdisjoint(scopes):
            raise AppError("FORBIDDEN", f"This requires the scope {' or '.join(scopes)}.")
        return self.user_id


class Tokens:
    def __init__(self, config: Config) -> None:
        self._config = config
        # Caches the keys for 5 minutes, and fetches them at most every 30 s for an unknown key id.
        self._keys = jwt.PyJWKClient(config.jwks_url, timeout=3)

    async def identify(self, authorization: str | None) -> Identity:
        if authorization is None:
            return Identity()
        match = BEARER.fullmatch(authorization)
        if match is None:
            raise AppError("UNAUTHENTICATED", "The Authorization header must be `Bearer` and a token.")
        try:
            # In a thread: a fetch of the keys must not block the other requests.
            return await asyncio.to_thread(self._verify, match[1])
        except jwt.PyJWKClientConnectionError as error:
            raise AppError("SERVICE_UNAVAILABLE", "Tokens cannot be verified at the moment. Try again.") from error
        except jwt.ExpiredSignatureError as error:
            raise AppError("UNAUTHENTICATED", "The token has expired.") from error
        except (jwt.PyJWTError, ValueError) as error:
            raise AppError("UNAUTHENTICATED", "The token is not valid here.") from error

    def _verify(self, token: str) -> Identity:
        token_type = jwt.get_unverified_header(token).get("typ")
        if (token_type.lower() if isinstance(token_type, str) else token_type) not in TYPES:
            raise jwt.InvalidTokenError("not an access token")
        claims = jwt.decode(
            token,
            self._keys.get_signing_key_from_jwt(token),
            algorithms=ALGORITHMS,
            issuer=self._config.issuer,
            # Tokens of the platform's users for other systems must not work here.
            audience=self._config.audience,
            leeway=CLOCK_TOLERANCE_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
        if not is_id(claims["sub"]):
            raise jwt.InvalidTokenError("the subject is no user of the platform")
        scope = claims.get("scope")
        return Identity(claims["sub"], frozenset(scope.split() if isinstance(scope, str) else ()))
