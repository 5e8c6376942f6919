"""Reviews, and the rules for input of both endpoints."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel


def is_id(text: Any) -> bool:
    """An id of the platform's services: the decimal digits of a bigint."""
    return isinstance(text, str) and re.fullmatch(r"[1-9]\d{0,17}", text, re.ASCII) is not None


def to_timestamp(value: datetime) -> str:
    """RFC 3339 in UTC, with milliseconds."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _require_no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("PostgreSQL stores no NUL character.")
    return text


Timestamp = Annotated[
    datetime,
    PlainSerializer(to_timestamp, str),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-11-28T09:30:00.000Z"]}),
]
Id = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,17}$", examples=["1"])]
Stars = Annotated[int, Field(ge=1, le=5, strict=True, examples=[4])]
Title = Annotated[str, Field(min_length=1, max_length=200, examples=["Well argued"]), AfterValidator(_require_no_nul)]
# With 100 reviews a page remains below 1 MiB.
Body = Annotated[
    str, Field(min_length=1, max_length=2_000, examples=["It cites its sources."]), AfterValidator(_require_no_nul)
]


class Model(BaseModel):
    """Immutable; in JSON its names are in camel case."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class Review(Model):
    id: str
    post_id: str
    author_id: str
    stars: int
    title: str
    body: str
    created_at: Timestamp
    updated_at: Timestamp | None
    row_version: int


class Input(Model):
    model_config = ConfigDict(extra="forbid", populate_by_name=False)


class NewReview(Input):
    post_id: Id
    stars: Stars
    title: Title
    body: Body


_omitted = Field(default_factory=lambda: None)


class ReviewChange(Input):
    """A field may be omitted, but is never null."""

    stars: Stars = _omitted
    title: Title = _omitted
    body: Body = _omitted


class Filters(Model):
    post_id: str | None = None
    author_id: str | None = None
