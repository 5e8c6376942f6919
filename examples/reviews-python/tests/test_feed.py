"""The change feed, as the gateway and the REST proxy read it."""

import asyncio
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx
from conftest import FEED_KEY, Service, execute


@dataclass
class Event:
    kind: str
    position: str
    data: dict[str, Any]

    def includes(self, write_position: str) -> bool:
        """As the readers compare them."""
        epoch, snapshot = self.position.split("/")
        write_epoch, xid = write_position.split("/")
        _, xmax, running = snapshot.split(":")
        return epoch == write_epoch and int(xid) < int(xmax) and xid not in running.split(",")


@contextmanager
def follow(service: Service, since: str | None = None) -> Iterator[Iterator[Event]]:
    headers = {"authorization": f"Bearer {FEED_KEY}"} | ({"last-event-id": since} if since else {})
    with httpx.stream("GET", f"{service.feed_url}/changes", headers=headers) as response:
        assert (response.status_code, response.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
        yield read_events(response)


def read_events(response: httpx.Response) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if line == "" and fields:
            yield Event(fields["event"], fields["id"], json.loads(fields["data"]))
            fields = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value


def groups_until(events: Iterator[Event], write_position: str) -> set[str]:
    groups: set[str] = set()
    for event in events:
        assert event.kind == "changes"
        groups.update(event.data["groups"])
        if event.includes(write_position):
            return groups
    raise AssertionError("the stream ended")


def test_the_feed_needs_a_key(service: Service) -> None:
    url = f"{service.feed_url}/changes"
    for header in ({}, {"authorization": "Bearer wrong"}, {"authorization": FEED_KEY}):
        assert httpx.get(url, headers=header).status_code == 401
    assert httpx.get(f"{service.feed_url}/other").status_code == 404


def test_each_write_is_in_the_feed_with_the_groups_of_all_responses_that_show_it(service: Service, post: str) -> None:
    new = {"postId": post, "stars": 3, "title": "a", "body": "b"}
    with follow(service) as events:
        assert next(events).kind == "reset"
        created = service.request("POST", "/rest/v2/reviews", user="1", json=new)
        review_id = created.json()["id"]
        groups = {f"reviews:{review_id}", "reviews", f"reviews:on-{post}", "reviews:by-1"}
        assert groups_until(events, created.headers["write-position"]) == groups
        path = f"/rest/v1/reviews/{review_id}"
        changed = service.request("PATCH", path, user="1", patch={"stars": 1}, headers={"if-match": "*"})
        assert groups_until(events, changed.headers["write-position"]) == groups
        delete = f'mutation {{ deleteReview(input: {{id: "{review_id}"}}) {{ deletedReviewId }} }}'
        deleted = service.request("POST", "/graphql", user="1", json={"query": delete})
        assert groups_until(events, deleted.headers["write-position"]) == groups


def test_responses_that_depend_on_the_data_have_a_position_and_reads_have_none(service: Service) -> None:
    missing = service.request("DELETE", "/rest/v2/reviews/999999999", user="1")
    assert (missing.status_code, "write-position" in missing.headers) == (404, True)
    anonymous = service.request("DELETE", "/rest/v2/reviews/999999999")
    assert (anonymous.status_code, "write-position" in anonymous.headers) == (401, False)
    assert "write-position" not in service.request("GET", "/rest/v2/reviews").headers
    query = {"query": '{ review(id: "mutation") { id } }'}
    assert "write-position" not in service.request("POST", "/graphql", json=query).headers


def test_a_reader_resumes_where_it_was_at_any_replica(
    service: Service, start_service: Callable[..., Service], post: str
) -> None:
    other = start_service()
    with follow(service) as events:
        position = next(events).position
    service.create("1", post)
    with follow(other, position) as events:
        event = next(events)
        assert (event.kind, f"reviews:on-{post}" in event.data["groups"]) == ("changes", True)
        second = service.request(
            "POST", "/rest/v2/reviews", user="2", json={"postId": post, "stars": 1, "title": "a", "body": "b"}
        )
        assert "reviews:by-2" in groups_until(events, second.headers["write-position"])


def test_a_transaction_that_commits_late_is_not_missed(service: Service, database_url: str, post: str) -> None:
    async def run() -> set[str]:
        connection = await asyncpg.connect(database_url)
        transaction = connection.transaction()
        await transaction.start()
        insert = "insert into reviews (post_id, author_id, stars, title, body) values ($1, 7, 1, 'a', 'b')"
        await connection.execute(insert, int(post))
        xid = await connection.fetchval("select pg_current_xact_id()::text")
        # A later transaction commits first.
        later = await asyncio.to_thread(service.create, "8", post)
        assert later["authorId"] == "8"
        with follow(service) as events:
            position = (await asyncio.to_thread(next, events)).position
        await transaction.commit()
        await connection.close()
        with follow(service, position) as events:
            return await asyncio.to_thread(groups_until, events, f"{position.split('/')[0]}/{xid}")

    assert "reviews:by-7" in asyncio.run(run())


def test_a_position_that_cannot_be_resumed_is_a_reset(service: Service, database_url: str) -> None:
    with follow(service) as events:
        position = next(events).position
    epoch, snapshot = position.split("/")
    for unknown in (f"{uuid.uuid4()}/{snapshot}", "x", f"{epoch}/1:1:"):
        with follow(service, unknown) as events:
            assert next(events).kind == "reset"
    execute(database_url, "select publish_everything()")
    with follow(service, position) as events:
        assert next(events).kind == "reset"


def test_too_many_changes_at_once_are_a_reset(service: Service, database_url: str, post: str) -> None:
    with follow(service) as events:
        position = next(events).position
        values = f"select {post}, author, 1, 'a', 'b' from generate_series(1000, 2000) as author"
        execute(database_url, f"insert into reviews (post_id, author_id, stars, title, body) {values}")
        while (event := next(events)).kind != "reset":
            assert event.data == {"groups": []}
    with follow(service, position) as events:
        assert next(events).kind == "reset"


def test_an_epoch_begins_without_the_changes_of_a_dump(service: Service, database_url: str) -> None:
    execute(
        database_url,
        """do $$ begin
          insert into feed_changes (xid, groups) values ('999999999999', '{reviews}');
          update feed_trim set trimmed_below = '999999999999', next_below = '999999999999';
          delete from feed_epoch;
          perform ensure_epoch();
        end $$""",
    )
    assert execute(database_url, "select from feed_changes") == []
    with follow(service) as events:
        position = next(events).position
    with follow(service, position) as events:
        assert next(events).kind == "changes"
