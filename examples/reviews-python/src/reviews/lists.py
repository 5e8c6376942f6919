"""Pages of lists. A cursor is signed, so a client can use only those that it got, and each only for its list."""

import base64
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from .errors import AppError
from .model import Filters, Review

SIGNATURE_BYTES = 16


@dataclass(frozen=True)
class Position:
    """After or before the review with this id, in the order of the list."""

    direction: Literal["next", "prev"]
    id: int


@dataclass(frozen=True)
class Page:
    items: Sequence[Review]
    has_next: bool
    has_prev: bool


def to_page(rows: Sequence[Review], limit: int, position: Position | None) -> Page:
    """From one row more than the page may have. A page before a position was read in the opposite order."""
    items, has_more = rows[:limit], len(rows) > limit
    if position is not None and position.direction == "prev":
        return Page(items[::-1], has_next=True, has_prev=has_more)
    return Page(items, has_next=has_more, has_prev=position is not None)


class Cursors:
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys

    def of(self, endpoint: Literal["graphql", "rest"], filters: Filters) -> "ListCursors":
        name = json.dumps([endpoint, filters.post_id, filters.author_id])
        return ListCursors([lambda text, key=key: _sign(key, name, text) for key in self._keys])


class ListCursors:
    def __init__(self, signers: Sequence[Callable[[bytes], bytes]]) -> None:
        self._signers = signers

    def write(self, direction: Literal["next", "prev"], review: Review) -> str:
        text = f"{direction[0]}{review.id}".encode()
        return base64.urlsafe_b64encode(self._signers[0](text) + text).rstrip(b"=").decode()

    def read(self, cursor: str) -> Position:
        try:
            data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except ValueError:
            data = b""
        signature, text = data[:SIGNATURE_BYTES], data[SIGNATURE_BYTES:]
        if not any(hmac.compare_digest(signature, sign(text)) for sign in self._signers):
            raise AppError("INVALID_CURSOR", "The cursor is not valid for this list and its filters.")
        return Position("next" if text[:1] == b"n" else "prev", int(text[1:]))


def _sign(key: str, name: str, text: bytes) -> bytes:
    return hmac.digest(key.encode(), name.encode() + b"\n" + text, "sha256")[:SIGNATURE_BYTES]
