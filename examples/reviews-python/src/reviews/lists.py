"""Pages of lists. A cursor has a hash of its list and is valid only there; it gives no access, so it needs no key."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .errors import AppError
from .model import Filters, Review

HASH_BYTES = 8
POSITION = re.compile(rb"[np]\d{1,18}")


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


class ListCursors:
    def __init__(self, endpoint: Literal["graphql", "rest"], filters: Filters) -> None:
        name = json.dumps([endpoint, filters.post_id, filters.author_id])
        self._hash = hashlib.sha256(name.encode()).digest()[:HASH_BYTES]

    def write(self, direction: Literal["next", "prev"], review: Review) -> str:
        text = f"{direction[0]}{review.id}".encode()
        return base64.urlsafe_b64encode(self._hash + text).rstrip(b"=").decode()

    def read(self, cursor: str) -> Position:
        try:
            data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except ValueError:
            data = b""
        text = data[HASH_BYTES:]
        if data[:HASH_BYTES] != self._hash or not POSITION.fullmatch(text):
            raise AppError("INVALID_CURSOR", "The cursor is not valid for this list and its filters.")
        return Position("next" if text[:1] == b"n" else "prev", int(text[1:]))
