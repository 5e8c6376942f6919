"""The change feed: the cache groups of all committed changes, as events. Its rules: docs/service-contract.md."""

import asyncio
import hmac
import json
import logging
import math
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from .config import Config
from .database import UNAVAILABLE, begin_session

# A lost notification delays a change by at most this time; a reader takes a feed for down after 1 s without an event.
POLL_SECONDS = 0.25
READ_SECONDS_MIN = 0.01
TRIM_SECONDS = 30
REOPEN_SECONDS = 0.5
# More changes, or more groups, are sent as a reset.
CHANGES_MAX = 10_000
GROUPS_MAX = 1_000
STREAMS_MAX = 256
CHANNEL = "feed_changes"

POSITION = re.compile(r"([0-9a-f-]{36})/(\d{1,15}:\d{1,15}:(?:\d{1,15}(?:,\d{1,15})*)?)")

# In one statement, so that the new position (its snapshot) includes exactly the changes that it sees. Those since the
# old one are of the transactions that were running then, and of all that began later.
READ = f"""
  with changes as materialized (
    select groups from feed_changes where xid = any(array(select pg_snapshot_xip($1::text::pg_snapshot)))
    union all
    select groups from feed_changes where xid >= pg_snapshot_xmax($1::text::pg_snapshot)
    limit {CHANGES_MAX + 1})
  select (select id from feed_epoch) || '/' || pg_current_snapshot() as position,
    (select pg_snapshot_xmin($1::text::pg_snapshot) < trimmed_below from feed_trim)
      or (select count(*) > {CHANGES_MAX} from changes) or exists (select from changes where groups is null) as is_gap,
    array(select distinct unnest(groups) from changes limit {GROUPS_MAX + 1}) as groups"""

# Deletes what every reader could see for at least a minute.
TRIM = """
  with due as (
    update feed_trim set trimmed_below = next_below, next_below = pg_snapshot_xmin(pg_current_snapshot()),
      due = now() + interval '60 s'
    where due <= now() returning trimmed_below)
  delete from feed_changes
  where xid < coalesce((select trimmed_below from due), (select trimmed_below from feed_trim))"""


class Feed:
    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._connection: asyncpg.Connection | None = None
        # A connection runs one statement at a time.
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()
        self._committed = asyncio.Event()

    def on_commit(self) -> None:
        self._committed.set()

    async def run(self) -> None:
        """Keeps a connection, notifies the other replicas of commits, and trims the outbox."""
        while True:
            try:
                connection = await asyncpg.connect(
                    self._database_url,
                    timeout=5,
                    command_timeout=5,
                    # Only the newest part of the outbox is read, whatever the planner's statistics are.
                    server_settings={"enable_seqscan": "off", "application_name": "reviews-feed"},
                )
                try:
                    await begin_session(connection)
                    await connection.add_listener(CHANNEL, lambda *_: self._wake())
                    # The next statement then fails, and the connection is opened again.
                    connection.add_termination_listener(lambda _: self._committed.set())
                    self._connection = connection
                    await self._notify_and_trim(connection)
                finally:
                    self._connection = None
                    self._wake()
                    connection.terminate()
            except (*UNAVAILABLE, asyncpg.PostgresError) as error:
                logging.warning("change feed lost its database: %r", error)
                await asyncio.sleep(REOPEN_SECONDS)

    async def _notify_and_trim(self, connection: asyncpg.Connection) -> None:
        trimmed_at = -math.inf
        while True:
            async with self._lock:
                if self._committed.is_set():
                    self._committed.clear()
                    # Not in the transaction of the write: NOTIFY would make all writes commit one after another.
                    await connection.execute(f"notify {CHANNEL}")
                if time.monotonic() - trimmed_at > TRIM_SECONDS:
                    trimmed_at = time.monotonic()
                    await connection.execute(TRIM)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._committed.wait(), TRIM_SECONDS)
            await asyncio.sleep(READ_SECONDS_MIN)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def events(self, since: str | None) -> AsyncIterator[str]:
        """Ends when the database is lost: the reader then resumes at another replica."""
        position = since if since is not None and POSITION.fullmatch(since) else None
        while (connection := self._connection) is not None:
            # Before the read: a change during it ends the wait below.
            changed = self._changed
            try:
                async with self._lock:
                    row = await connection.fetchrow(READ, position and position.split("/")[1])
            except (*UNAVAILABLE, asyncpg.PostgresError):
                return
            is_same_epoch = position is not None and position.split("/")[0] == row["position"].split("/")[0]
            is_reset = not is_same_epoch or row["is_gap"] or len(row["groups"]) > GROUPS_MAX
            position = row["position"]
            kind, data = ("reset", {}) if is_reset else ("changes", {"groups": row["groups"]})
            yield f"event: {kind}\nid: {position}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
            await asyncio.sleep(READ_SECONDS_MIN)
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), POLL_SECONDS - READ_SECONDS_MIN)


def create_feed_app(feed: Feed, config: Config) -> FastAPI:
    app = FastAPI(openapi_url=None)
    streams = 0

    @asynccontextmanager
    async def count_stream() -> AsyncIterator[None]:
        nonlocal streams
        streams += 1
        try:
            yield
        finally:
            streams -= 1

    async def stream(since: str | None) -> AsyncIterator[str]:
        async with count_stream():
            # The reader knows before the first event that it is connected.
            yield ": connected\n"
            async for event in feed.events(since):
                yield event

    # Group names show what exists, and how much is written.
    @app.get("/changes")
    async def changes(request: Request) -> Response:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        # Compares with every key: the time must not depend on them.
        is_known = [hmac.compare_digest(key.encode(), known.encode()) for known in config.feed_keys]
        if scheme.lower() != "bearer" or not any(is_known):
            return Response(status_code=401, headers={"WWW-Authenticate": 'Bearer realm="feed"'})
        if streams >= STREAMS_MAX:
            return Response(status_code=503)
        return StreamingResponse(
            stream(request.headers.get("last-event-id")),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )

    return app
