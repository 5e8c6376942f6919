"""The environment variables of the service. All problems are reported at once, before it listens."""

import os
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

FOR_DEVELOPMENT_ONLY = "for-development-only"
LOCAL_ISSUER = "http://127.0.0.1:4020"

Port = Annotated[int, Field(ge=0, le=65_535)]
Milliseconds = Annotated[int, Field(ge=0, le=60_000)]
Keys = Annotated[
    list[Annotated[str, Field(min_length=16)]],
    Field(min_length=1),
    BeforeValidator(lambda value: value.split(",") if isinstance(value, str) else value),
]


class Config(BaseModel):
    profile: Literal["development", "production"] = "development"
    host: str = "127.0.0.1"
    port: Port = 4005
    database_url: str
    # Who signs the tokens (`iss`), for whom (`aud`), and where the public keys are.
    issuer: str = LOCAL_ISSUER
    audience: str = "tributary"
    jwks_url: str = f"{LOCAL_ISSUER}/.well-known/jwks.json"
    # Any of them opens the change feed, which listens on a port of its own: publish that port nowhere.
    feed_keys: Keys = Field(default=[FOR_DEVELOPMENT_ONLY])
    feed_port: Port = 4105
    # Metrics and health, without authentication: publish that port nowhere. Without it there are none.
    admin_port: Port | None = None
    # On SIGTERM: how long the service still accepts requests, and how long the last ones may then take.
    drain_delay_ms: Milliseconds = 0
    shutdown_grace_ms: Milliseconds = 10_000

    @model_validator(mode="after")
    def _require_secrets(self) -> Self:
        secrets = {"issuer", "jwks_url", "feed_keys"}
        missing = sorted(name.upper() for name in secrets - self.model_fields_set)
        if self.profile == "production" and missing:
            raise ValueError(f"production requires {', '.join(missing)}")
        return self


def read_config() -> Config:
    """FEED_KEYS_FILE is a file that has FEED_KEYS, as containers get their secrets; and so on."""
    values = {name.lower(): value for name, value in os.environ.items()}
    for name in Config.model_fields:
        if file := values.get(f"{name}_file"):
            values[name] = Path(file).read_text().strip()
    return Config.model_validate(values)
