"""The SQL of reviews."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import asyncpg

from .database import Database
from .errors import AppError
from .etags import Precondition
from .lists import Page, Position, to_page
from .model import Filters, NewReview, Review, ReviewChange, is_id

COLUMNS = """id::text, post_id::text, author_id::text, stars, title, body, created_at, updated_at, row_version"""
# Of a REST version and an ETag only the row's version counts.
VERSION_IS_ACCEPTED = "($2::bigint[] is null or row_version = any($2)) and row_version <> all($3::bigint[])"


@dataclass(frozen=True)
class ParentPage:
    """The first `limit` reviews of a post or of an author, after a review."""

    parent: Literal["post", "author"]
    parent_id: str
    limit: int
    position: Position | None


class Store:
    def __init__(self, database: Database) -> None:
        self.database = database

    async def find(self, ids: Sequence[str]) -> list[Review | None]:
        rows = await self._fetch(f"select {COLUMNS} from reviews where id = any($1)", _to_bigints(ids))
        by_id = {review.id: review for review in rows}
        return [by_id.get(review_id) for review_id in ids]

    async def load_page(self, filters: Filters, limit: int, position: Position | None) -> Page:
        conditions, values = ["true"], [limit + 1]
        is_backward = position is not None and position.direction == "prev"
        given = {"post_id =": filters.post_id, "author_id =": filters.author_id}
        if position is not None:
            given["id >" if is_backward else "id <"] = str(position.id)
        for condition, value in given.items():
            if value is None:
                continue
            if not is_id(value):
                return Page([], has_next=False, has_prev=False)
            values.append(int(value))
            conditions.append(f"{condition} ${len(values)}")
        rows = await self._fetch(
            f"""select {COLUMNS} from reviews where {" and ".join(conditions)}
                order by reviews.id {"asc" if is_backward else "desc"} limit $1""",
            *values,
        )
        return to_page(rows, limit, position)

    async def load_pages(self, requests: Sequence[ParentPage]) -> list[Page]:
        """In one statement per kind of parent; an index scan for each page."""
        rows: list[list[Review]] = [[] for _ in requests]
        for parent in ("post", "author"):
            valid = [(i, r) for i, r in enumerate(requests) if r.parent == parent and is_id(r.parent_id)]
            if not valid:
                continue
            sql = f"""select page.i, {COLUMNS}
                from unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[]) as page (i, parent_id, before_id, length)
                cross join lateral (select * from reviews
                  where {parent}_id = page.parent_id and (page.before_id is null or id < page.before_id)
                  order by id desc limit page.length) as review order by page.i, review.id desc"""
            columns = zip(
                *((i, int(r.parent_id), r.position and r.position.id, r.limit + 1) for i, r in valid), strict=True
            )
            async with self.database.read() as connection:
                for row in await connection.fetch(sql, *columns):
                    rows[row["i"]].append(Review.model_validate(dict(row)))
        return [to_page(page, r.limit, r.position) for page, r in zip(rows, requests, strict=True)]

    async def average_stars(self, post_ids: Sequence[str]) -> list[float | None]:
        sql = "select post_id::text, avg(stars)::float8 from reviews where post_id = any($1) group by post_id"
        async with self.database.read() as connection:
            averages = dict(await connection.fetch(sql, _to_bigints(post_ids)))
        return [averages.get(post_id) for post_id in post_ids]

    async def insert(self, connection: asyncpg.Connection, author_id: str, new: NewReview) -> Review:
        row = await connection.fetchrow(
            f"""insert into reviews (post_id, author_id, stars, title, body) values ($1, $2, $3, $4, $5)
                on conflict (post_id, author_id) do nothing returning {COLUMNS}""",
            int(new.post_id), int(author_id), new.stars, new.title, new.body,
        )  # fmt: skip
        if row is None:
            raise AppError("CONFLICT", "You have reviewed this post. Change that review.")
        return Review.model_validate(dict(row))

    async def update(
        self, review_id: str, author_id: str, versions: Precondition, change: ReviewChange
    ) -> Review | None:
        return await self._write(
            f"""update reviews set stars = coalesce($4, stars), title = coalesce($5, title), body = coalesce($6, body),
                  updated_at = now()
                where id = $1 and {VERSION_IS_ACCEPTED} and author_id = $7 returning {COLUMNS}""",
            int(review_id), versions.only, versions.not_, change.stars, change.title, change.body, int(author_id),
        )  # fmt: skip

    async def delete(self, review_id: str, author_id: str | None, versions: Precondition) -> Review | None:
        """Without `author_id` that of any author."""
        return await self._write(
            f"""delete from reviews where id = $1 and {VERSION_IS_ACCEPTED} and ($4::bigint is null or author_id = $4)
                returning {COLUMNS}""",
            int(review_id), versions.only, versions.not_, author_id and int(author_id),
        )  # fmt: skip

    async def _fetch(self, sql: str, *values: Any) -> list[Review]:
        async with self.database.read() as connection:
            return [Review.model_validate(dict(row)) for row in await connection.fetch(sql, *values)]

    async def _write(self, sql: str, *values: Any) -> Review | None:
        async with self.database.transaction() as connection:
            row = await connection.fetchrow(sql, *values)
            return None if row is None else Review.model_validate(dict(row))


def _to_bigints(ids: Sequence[str]) -> list[int]:
    return [int(text) for text in ids if is_id(text)]
