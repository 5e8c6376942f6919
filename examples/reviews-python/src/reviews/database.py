"""The connections to PostgreSQL, and where a write is in the change feed."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from importlib.resources import files

import asyncpg

from .errors import AppError

CONNECTIONS_MAX = 10
ACQUIRE_SECONDS_MAX = 2
STATEMENT_MS_MAX = "5000"
# Of all advisory locks of this database, that of the migrations.
MIGRATION_LOCK = 7_304_153
# Of the request, by the time of the event loop.
DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)

UNAVAILABLE = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.QueryCanceledError,
    asyncpg.OperatorInterventionError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TooManyConnectionsError,
)


async def begin_session(connection: asyncpg.Connection) -> None:
    await connection.execute("select ensure_epoch()")
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)


class Database:
    def __init__(self, pool: asyncpg.Pool, on_commit: Callable[[], None]) -> None:
        self._pool = pool
        self._on_commit = on_commit

    @asynccontextmanager
    async def read(self) -> AsyncIterator[asyncpg.Connection]:
        """Until the deadline of the request; asyncpg then cancels the statement."""
        try:
            async with asyncio.timeout_at(DEADLINE.get()), self._connection() as connection:
                yield connection
        except TimeoutError as error:
            raise AppError("SERVICE_UNAVAILABLE", "The deadline of the request passed.") from error

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[asyncpg.Connection]:
        try:
            async with self._pool.acquire(timeout=ACQUIRE_SECONDS_MAX) as connection:
                yield connection
        except UNAVAILABLE as error:
            if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
                # The primary became a standby: the next sessions find the new primary.
                await self._pool.expire_connections()
            logging.warning("database is not available: %r", error)
            raise AppError("SERVICE_UNAVAILABLE", "The database is not available. Retry after 1 s.") from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[asyncpg.Connection]:
        # Once a request has begun to write, it is completed, with what its response reads.
        DEADLINE.set(None)
        async with self._connection() as connection:
            async with connection.transaction():
                yield connection
            self._on_commit()

    async def position(self) -> str | None:
        """Of `write-position`: a position in the feed that includes everything committed so far."""
        try:
            async with self._connection() as connection:
                return await connection.fetchval("select id || '/' || pg_current_xact_id() from feed_epoch")
        except AppError:
            # A response without a receipt is better than an error for a write that was made.
            return None

    async def is_ready(self) -> bool:
        try:
            async with self._connection() as connection:
                return await connection.fetchval("select not pg_is_in_recovery()")
        except AppError:
            return False


@asynccontextmanager
async def open_database(url: str, on_commit: Callable[[], None]) -> AsyncIterator[Database]:
    # Without connections at first: the service also starts, and is not ready, while the database is down.
    async with asyncpg.create_pool(
        url,
        min_size=0,
        max_size=CONNECTIONS_MAX,
        timeout=ACQUIRE_SECONDS_MAX,
        init=begin_session,
        server_settings={"statement_timeout": STATEMENT_MS_MAX, "application_name": "reviews"},
    ) as pool:
        yield Database(pool, on_commit)


async def migrate(url: str) -> None:
    """Forward only. Of several processes at once, the first applies the migrations."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute("select pg_advisory_xact_lock($1)", MIGRATION_LOCK)
            await connection.execute("create table if not exists migrations (name text primary key)")
            applied = {row["name"] for row in await connection.fetch("select name from migrations")}
            for file in sorted(files("reviews").joinpath("migrations").iterdir(), key=lambda file: file.name):
                if file.name not in applied:
                    await connection.execute(file.read_text())
                    await connection.execute("insert into migrations values ($1)", file.name)
    finally:
        await connection.close()
