"""The REST endpoint, as the REST proxy calls it."""

import asyncio
from typing import Any

import asyncpg
from conftest import Service, execute, wait_until

from reviews.errors import STATUSES


def test_a_review_is_created_read_changed_and_deleted(service: Service, post: str) -> None:
    body = {"postId": post, "stars": 4, "title": "Short", "body": "And good."}
    created = service.request("POST", "/rest/v2/reviews", user="1", json=body)
    review = created.json()
    path = f"/rest/v2/reviews/{review['id']}"
    assert created.status_code == 201
    assert review | {"id": "x", "createdAt": "x"} == {
        **body,
        "id": "x",
        "authorId": "1",
        "createdAt": "x",
        "updatedAt": None,
    }
    assert review["createdAt"].endswith("Z") and len(review["createdAt"]) == len("2026-01-02T03:04:05.678Z")
    assert created.headers["location"] == f"/v2/reviews/{review['id']}"
    read = service.request("GET", path)
    assert (read.status_code, read.json(), read.headers["etag"]) == (200, review, created.headers["etag"])
    changed = service.request("PATCH", path, user="1", patch={"stars": 2}, headers={"if-match": read.headers["etag"]})
    assert (changed.status_code, changed.json()["stars"], changed.json()["title"]) == (200, 2, "Short")
    assert changed.headers["etag"] != read.headers["etag"]
    assert service.request("DELETE", path, user="1").status_code == 204
    assert service.request("GET", path).status_code == 404


def test_version_1_has_bare_lists_and_text_instead_of_body(service: Service, post: str) -> None:
    body = {"postId": post, "stars": 4, "title": "Short", "text": "And good."}
    review = service.request("POST", "/rest/v1/reviews", user="1", json=body).json()
    assert review["text"] == "And good." and "body" not in review
    assert service.request("GET", f"/rest/v1/posts/{post}/reviews").json() == [review]
    assert service.request("GET", f"/rest/v2/posts/{post}/reviews").json()["data"][0]["body"] == "And good."
    wrong = service.request("POST", "/rest/v1/reviews", user="1", json=body | {"text": ""}).json()
    assert [error["pointer"] for error in wrong["errors"]] == ["#/text"]


def test_responses_say_how_long_and_for_whom_they_may_be_cached(service: Service, post: str) -> None:
    review = service.create("1", post)
    for path, group in [
        (f"/reviews/{review['id']}", f"reviews:{review['id']}"),
        (f"/posts/{post}/reviews", f"reviews:on-{post}"),
        ("/users/1/reviews", "reviews:by-1"),
        ("/reviews", "reviews"),
    ]:
        headers = service.request("GET", "/rest/v2" + path).headers
        assert headers["cache-control"] == "public, max-age=2, s-maxage=10"
        assert headers["cache-groups"] == f'"{group}"'
    deleted = service.request("DELETE", f"/rest/v2/reviews/{review['id']}", user="1")
    names = [f"reviews:{review['id']}", "reviews", f"reviews:on-{post}", "reviews:by-1"]
    assert deleted.headers["cache-group-invalidation"] == ", ".join(f'"{name}"' for name in names)
    assert deleted.headers["cache-control"] == "no-store"


def test_a_conditional_read_is_304_and_a_head_has_no_body(service: Service, post: str) -> None:
    review = service.create("1", post)
    for path in (f"/rest/v2/reviews/{review['id']}", f"/rest/v1/posts/{post}/reviews"):
        read = service.request("GET", path)
        etag = read.headers["etag"]
        for tags in (etag, f'"other", W/{etag}', "*"):
            response = service.request("GET", path, headers={"if-none-match": tags})
            assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", etag)
        assert service.request("GET", path, headers={"if-none-match": '"other"'}).status_code == 200
        head = service.request("HEAD", path)
        assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", etag)


def test_a_change_requires_if_match_with_the_current_version(service: Service, post: str) -> None:
    path = f"/rest/v2/reviews/{service.create('1', post)['id']}"
    etag = service.request("GET", path.replace("v2", "v1")).headers["etag"]
    change = {"user": "1", "patch": {"stars": 1}}
    assert problem(service.request("PATCH", path, **change)) == "PRECONDITION_REQUIRED"
    assert service.request("PATCH", path, **change, headers={"if-match": etag}).status_code == 200
    assert problem(service.request("PATCH", path, **change, headers={"if-match": etag})) == "PRECONDITION_FAILED"
    assert problem(service.request("DELETE", path, user="1", headers={"if-match": etag})) == "PRECONDITION_FAILED"
    assert (
        problem(service.request("PATCH", path, **change, headers={"if-match": "*", "if-none-match": "*"}))
        == "PRECONDITION_FAILED"
    )
    assert service.request("PATCH", path, **change, headers={"if-match": "*"}).status_code == 200


def test_every_problem_of_a_body_is_reported_with_its_pointer(service: Service) -> None:
    body = {"postId": "x", "stars": 6, "title": None, "body": "a\0b", "more": 1}
    response = service.request("POST", "/rest/v2/reviews", user="1", json=body)
    assert problem(response) == "BAD_USER_INPUT"
    assert {error["pointer"] for error in response.json()["errors"]} == {
        "#/postId",
        "#/stars",
        "#/title",
        "#/body",
        "#/more",
    }
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"
    assert (response.json()["instance"], response.json()["status"]) == ("/v2/reviews", 422)
    for stars in ("5", 4.5, True, None):
        patch = service.request(
            "PATCH", "/rest/v2/reviews/1", user="1", patch={"stars": stars}, headers={"if-match": "*"}
        )
        assert problem(patch) == "BAD_USER_INPUT"


def test_bad_requests_are_problem_documents(service: Service) -> None:
    def post(**options: Any) -> str:
        return problem(service.request("POST", "/rest/v2/reviews", **options))

    json_type = {"content-type": "application/json"}
    assert post(user="1", content="{", headers=json_type) == "MALFORMED_REQUEST"
    assert post(user="1", content="[" * 50_000, headers=json_type) == "MALFORMED_REQUEST"
    assert post(user="1", content=b'"\xff"', headers=json_type) == "MALFORMED_REQUEST"
    assert post(user="1", content='{"title":"\\ud800"}', headers=json_type) == "BAD_USER_INPUT"
    assert post(user="1", content="a", headers={"content-type": "text/plain"}) == "UNSUPPORTED_MEDIA_TYPE"
    assert post(user="1", content=" " * 65_537, headers=json_type) == "PAYLOAD_TOO_LARGE"
    assert post(user="1") == "BAD_USER_INPUT"
    assert problem(service.request("PUT", "/rest/v2/reviews")) == "METHOD_NOT_ALLOWED"
    assert problem(service.request("GET", "/rest/v3/reviews")) == "NOT_FOUND"
    for review_id in ("0", "x", "9" * 30, "%00", "-1"):
        assert problem(service.request("GET", f"/rest/v2/reviews/{review_id}")) == "NOT_FOUND"
        assert problem(service.request("DELETE", f"/rest/v2/reviews/{review_id}", user="1")) == "NOT_FOUND"
        assert service.request("GET", f"/rest/v2/posts/{review_id}/reviews").json()["data"] == []


def test_bad_query_parameters_are_named(service: Service) -> None:
    response = service.request("GET", "/rest/v2/reviews?limit=101&color=red")
    assert response.status_code == 400
    assert {error["parameter"] for error in response.json()["errors"]} == {"limit", "color"}
    assert problem(service.request("GET", "/rest/v2/reviews?color=red")) == "UNKNOWN_PARAMETER"
    for cursor in ("x", "AAAA", "a" * 100, "ü"):
        assert problem(service.request("GET", f"/rest/v2/reviews?cursor={cursor}")) == "INVALID_CURSOR"


def test_pages_lead_through_a_list_in_both_directions(service: Service, database_url: str, post: str) -> None:
    # The next ids are as 98 and 101: in the order of texts, 101 is before 98.
    execute(
        database_url, "select setval('reviews_id_seq', (10 ^ length(last_value::text))::bigint - 3) from reviews_id_seq"
    )
    ids = [service.create(str(user), post)["id"] for user in range(1, 6)][::-1]
    path = f"/rest/v2/posts/{post}/reviews?limit=2"
    first = service.request("GET", path)
    assert "next" in first.links and "prev" not in first.links
    assert first.links["next"]["url"].startswith(f"/v2/posts/{post}/reviews?limit=2&cursor=")
    second = service.request("GET", f"{path}&cursor={first.json()['page']['next']}")
    third = service.request("GET", f"{path}&cursor={second.json()['page']['next']}")
    back = service.request("GET", f"{path}&cursor={third.json()['page']['prev']}")
    pages = [[review["id"] for review in page.json()["data"]] for page in (first, second, third, back)]
    assert pages == [ids[:2], ids[2:4], ids[4:], ids[2:4]]
    assert third.json()["page"]["next"] is None
    other = service.request("GET", f"/rest/v2/posts/1/reviews?cursor={first.json()['page']['next']}")
    assert problem(other) == "INVALID_CURSOR"


def test_only_the_author_changes_a_review_and_all_may_be_deleted_with_a_scope(service: Service, post: str) -> None:
    path = f"/rest/v2/reviews/{service.create('1', post)['id']}"
    body = {"postId": post, "stars": 1, "title": "a", "body": "b"}
    anonymous = service.request("POST", "/rest/v2/reviews", json={})
    assert problem(anonymous) == "UNAUTHENTICATED"
    assert anonymous.headers["www-authenticate"] == 'Bearer realm="tributary"'
    reader = {"authorization": f"Bearer {service.issuer.token(scope='')}"}
    assert problem(service.request("POST", "/rest/v2/reviews", json={}, headers=reader)) == "FORBIDDEN"
    assert problem(service.request("POST", "/rest/v2/reviews", user="1", json=body)) == "CONFLICT"
    assert problem(service.request("PATCH", path, user="2", patch={}, headers={"if-match": "*"})) == "FORBIDDEN"
    assert problem(service.request("DELETE", path, user="2")) == "FORBIDDEN"
    moderator = {"authorization": f"Bearer {service.issuer.token('2', scope='reviews:write:all')}"}
    assert service.request("DELETE", path, headers=moderator).status_code == 204


def test_a_request_whose_deadline_has_passed_changes_nothing(service: Service, post: str) -> None:
    body = {"postId": post, "stars": 1, "title": "a", "body": "b"}
    late = service.request("POST", "/rest/v2/reviews", user="1", json=body, headers={"x-deadline-ms": "0"})
    assert (problem(late), late.headers["retry-after"]) == ("SERVICE_UNAVAILABLE", "1")
    in_time = service.request("POST", "/rest/v2/reviews", user="1", json=body, headers={"x-deadline-ms": "5000"})
    assert in_time.status_code == 201


def test_a_read_is_cancelled_at_its_deadline(service: Service, database_url: str, post: str) -> None:
    path = f"/rest/v2/posts/{post}/reviews"
    waiting = "select from pg_stat_activity where application_name = 'reviews' and wait_event = 'relation'"

    def read_late() -> Any:
        headers = {"x-deadline-ms": "300"}
        query = {"query": "{ review(id: 1) { title } }"}
        graphql = service.request("POST", "/graphql", json=query, headers=headers)
        return service.request("GET", path, headers=headers), graphql.json()["errors"]

    async def read_while_locked() -> Any:
        connection = await asyncpg.connect(database_url)
        async with connection.transaction():
            await connection.execute("lock table reviews")
            late = await asyncio.to_thread(read_late)
            await asyncio.to_thread(wait_until, lambda: not execute(database_url, waiting))
        await connection.close()
        return late

    late, errors = asyncio.run(read_while_locked())
    assert (problem(late), late.headers["retry-after"]) == ("SERVICE_UNAVAILABLE", "1")
    assert "deadline" in late.json()["detail"]
    assert ["deadline" in error["message"] for error in errors] == [True]
    assert service.request("GET", path).json()["data"] == []


def problem(response: Any) -> str:
    document = response.json()
    code = document["type"].removeprefix("/problems/").upper().replace("-", "_")
    assert document["status"] == response.status_code == STATUSES[code]
    return code
