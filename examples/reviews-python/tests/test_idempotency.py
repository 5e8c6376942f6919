"""A repeated request with the same idempotency key writes once."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from conftest import Service

CREATE = "mutation ($input: CreateReviewInput!) { createReview(input: $input) { review { id body } } }"


@pytest.fixture
def new(post: str) -> dict[str, Any]:
    return {"postId": post, "stars": 3, "title": "a", "body": "b"}


@pytest.fixture
def key() -> str:
    return str(uuid.uuid4())


def send(service: Service, new: dict[str, Any], key: str, user: str = "1") -> Any:
    return service.request("POST", "/rest/v2/reviews", user=user, json=new, headers={"idempotency-key": key})


def test_a_repetition_gets_the_first_response(service: Service, new: dict[str, Any], key: str) -> None:
    first, second = send(service, new, key), send(service, new, f'"{key}"')
    assert (second.status_code, second.json(), second.headers["etag"]) == (201, first.json(), first.headers["etag"])
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert second.headers["write-position"] != ""


def test_keys_are_the_same_at_both_endpoints_and_in_both_versions(
    service: Service, new: dict[str, Any], key: str
) -> None:
    review = send(service, new, key).json()
    graphql = service.graphql(CREATE, user="1", variables={"input": new | {"idempotencyKey": key}})
    assert graphql["data"]["createReview"]["review"] == {"id": review["id"], "body": "b"}
    old = {name: value for name, value in new.items() if name != "body"} | {"text": "b"}
    v1 = service.request("POST", "/rest/v1/reviews", user="1", json=old, headers={"idempotency-key": key})
    assert (v1.json()["id"], v1.json()["text"]) == (review["id"], "b")


def test_a_key_is_for_one_input_of_one_caller(service: Service, new: dict[str, Any], key: str) -> None:
    assert send(service, new, key).status_code == 201
    reused = send(service, new | {"stars": 1}, key)
    assert (reused.status_code, reused.json()["type"]) == (422, "/problems/idempotency-key-reused")
    assert send(service, new, key, user="2").status_code == 201


def test_a_failed_write_stores_nothing_and_a_deleted_review_is_gone(
    service: Service, new: dict[str, Any], key: str
) -> None:
    review = service.create("1", new["postId"])
    assert send(service, new, key).status_code == 409
    service.request("DELETE", f"/rest/v2/reviews/{review['id']}", user="1")
    again = send(service, new, key)
    assert again.status_code == 201
    service.request("DELETE", f"/rest/v2/reviews/{again.json()['id']}", user="1")
    assert send(service, new, key).status_code == 410


def test_requests_at_once_create_one_review(service: Service, new: dict[str, Any], key: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: send(service, new, key), range(8)))
    created = {reply.json()["id"] for reply in replies if reply.status_code == 201}
    assert len(created) == 1
    assert {reply.status_code for reply in replies} <= {201, 409}
    others = [reply for reply in replies if reply.status_code == 409]
    assert {reply.json()["type"] for reply in others} <= {"/problems/idempotency-key-in-flight"}


@pytest.mark.parametrize("key", ["", "a b", "ü".encode().decode("latin1"), "a" * 256, '"a'])
def test_an_invalid_key_is_400(service: Service, new: dict[str, Any], key: str) -> None:
    headers = {"idempotency-key": key.encode("latin1")}
    assert service.request("POST", "/rest/v2/reviews", user="1", json=new, headers=headers).status_code == 400
