"""Entity tags and conditional requests (RFC 9110, 13)."""

import hashlib
import re
from dataclasses import dataclass, field

from .errors import AppError

TAG = re.compile(r'(?:W/)?"[^"]*"')
ROW_TAG = re.compile(r'(?:W/)?"(\d{1,18})-')


@dataclass(frozen=True)
class Precondition:
    """The versions that a row may have (None: any), and those that it must not have."""

    only: list[int] | None = None
    not_: list[int] = field(default_factory=list)


ANY_VERSION = Precondition()


def row_etag(row_version: int, representation: str) -> str:
    return f'"{row_version}-{representation}"'


def body_etag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def matches(if_none_match: str | None, etag: str) -> bool:
    """By weak comparison (RFC 9110, 8.8.3.2)."""
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or etag in [tag.removeprefix("W/") for tag in TAG.findall(if_none_match)]


def read_precondition(if_match: str | None, if_none_match: str | None, *, is_required: bool) -> Precondition:
    """Of an ETag the version of the row counts, so a tag from another REST version is valid too."""
    if if_match is None and is_required:
        raise AppError("PRECONDITION_REQUIRED", "Send `If-Match` with the ETag of the version that you have read.")
    if if_none_match is not None and if_none_match.strip() == "*":
        return Precondition(only=[])
    allows_all = if_match is None or if_match.strip() == "*"
    return Precondition(None if allows_all else _versions(if_match or ""), _versions(if_none_match or ""))


def _versions(tags: str) -> list[int]:
    return [int(match[1]) for match in map(ROW_TAG.match, TAG.findall(tags)) if match]
