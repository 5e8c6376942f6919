"""A write with an idempotency key is made once. Its result is stored with the key, in the transaction of the write."""

import hashlib
import re
from collections.abc import Awaitable, Callable

import asyncpg

from .database import Database
from .errors import AppError
from .model import Model, Review

HOURS = 24
KEY = re.compile(r"[!-~]{1,255}")
QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])+)"')
KEY_RULE = "An idempotency key has 1 to 255 visible ASCII characters."


def read_key_header(header: str | None) -> str | None:
    """In quotes (RFC 9651, 3.3.3), or without, as most clients send it."""
    if header is None:
        return None
    quoted = QUOTED.fullmatch(header)
    key = re.sub(r'\\(["\\])', r"\1", quoted[1]) if quoted else header
    if not KEY.fullmatch(key) or (header.startswith('"') and not quoted):
        raise AppError("MALFORMED_REQUEST", KEY_RULE)
    return key


async def write_once(
    database: Database,
    caller_id: str,
    key: str | None,
    input_: Model,
    write: Callable[[asyncpg.Connection], Awaitable[Review]],
) -> tuple[Review, bool]:
    """Returns the review, and whether an earlier request made the write. Only successful writes are stored."""
    async with database.transaction() as connection:
        if key is None:
            return await write(connection), False
        # The same for GraphQL and every REST version.
        fingerprint = hashlib.sha256(input_.model_dump_json().encode()).digest()
        lock = int.from_bytes(hashlib.sha256(f"{caller_id}\n{key}".encode()).digest()[:8], signed=True)
        if not await connection.fetchval("select pg_try_advisory_xact_lock($1)", lock):
            raise AppError(
                "IDEMPOTENCY_KEY_IN_FLIGHT", "A request with this idempotency key is in flight. Retry after 1 s."
            )
        # A statement of its own after the lock: it sees the commit of the previous holder.
        record = await connection.fetchrow(
            """select fingerprint, response from idempotency_keys
               where caller_id = $1 and key = $2 and created_at > now() - make_interval(hours => $3)""",
            int(caller_id), key, HOURS,
        )  # fmt: skip
        if record is None:
            review = await write(connection)
            await _store(connection, caller_id, key, fingerprint, review)
            return review, False
        if record["response"] is None:
            raise AppError(
                "GONE", "What the first request with this idempotency key created was deleted. Use a new key."
            )
        if record["fingerprint"] != fingerprint:
            raise AppError(
                "IDEMPOTENCY_KEY_REUSED", "An earlier request with this idempotency key had other input. Use a new key."
            )
        return Review.model_validate(record["response"]), True


async def _store(connection: asyncpg.Connection, caller_id: str, key: str, fingerprint: bytes, review: Review) -> None:
    await connection.execute(
        """insert into idempotency_keys (caller_id, key, fingerprint, review_id, response) values ($1, $2, $3, $4, $5)
           on conflict (caller_id, key) do update set fingerprint = excluded.fingerprint,
             review_id = excluded.review_id, response = excluded.response, created_at = excluded.created_at""",
        int(caller_id), key, fingerprint, int(review.id), review.model_dump(mode="json"),
    )  # fmt: skip
    # More than are inserted, so that a backlog decreases.
    await connection.execute(
        """delete from idempotency_keys where ctid = any(array(
             select ctid from idempotency_keys where created_at <= now() - make_interval(hours => $1)
             limit 10 for update skip locked))""",
        HOURS,
    )
