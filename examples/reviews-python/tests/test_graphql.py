"""The subgraph, as the gateway calls it."""

from typing import Any

from conftest import Service


def entities(service: Service, selection: str, representations: list[Any], **body: Any) -> dict[str, Any]:
    query = f"query ($r: [_Any!]!) {{ _entities(representations: $r) {{ {selection} }} }}"
    return service.graphql(query, variables={"r": representations}, **body)


def test_entities_come_in_order_with_null_for_unknown_ones(service: Service, post: str) -> None:
    first, second = service.create("1", post), service.create("2", post)
    ids = [second["id"], "999999999", first["id"], "x", second["id"], 7, None]
    representations = [{"__typename": "Review", "id": review_id, "more": 1} for review_id in ids]
    result = entities(service, "... on Review { id post { id } author { id } }", representations)
    assert result == {
        "data": {
            "_entities": [
                {"id": second["id"], "post": {"id": post}, "author": {"id": "2"}},
                None,
                {"id": first["id"], "post": {"id": post}, "author": {"id": "1"}},
                None,
                {"id": second["id"], "post": {"id": post}, "author": {"id": "2"}},
                None,
                None,
            ]
        }
    }


def test_an_unknown_type_fails_only_its_own_entity(service: Service, post: str) -> None:
    result = entities(
        service, "__typename", [{"__typename": "Post", "id": post}, {"__typename": "Order", "id": "1"}, {}]
    )
    assert result["data"]["_entities"] == [{"__typename": "Post"}, None, None]
    errors = [(error["path"], error["extensions"]["code"]) for error in result["errors"]]
    assert errors == [(["_entities", 1], "BAD_USER_INPUT"), (["_entities", 2], "BAD_USER_INPUT")]


def test_the_service_contributes_to_posts_and_users(service: Service, post: str) -> None:
    first = service.create("1", post, stars=2)["id"]
    second = service.create("2", post, stars=5)["id"]
    page = "nodes { id } pageInfo { hasNextPage endCursor }"
    selection = f"... on Post {{ averageStars reviews(first: 1) {{ {page} }} }}"
    representations = [{"__typename": "Post", "id": value} for value in (post, "77777777777", "x")]
    posts = entities(service, selection, representations)["data"]["_entities"]
    assert posts[0]["averageStars"] == 3.5
    assert posts[0]["reviews"]["nodes"] == [{"id": second}]
    assert posts[0]["reviews"]["pageInfo"]["hasNextPage"] is True
    assert [(other["averageStars"], other["reviews"]["nodes"]) for other in posts[1:]] == [(None, []), (None, [])]
    cursor = posts[0]["reviews"]["pageInfo"]["endCursor"]
    more = entities(service, f'... on Post {{ reviews(after: "{cursor}") {{ nodes {{ id }} }} }}', representations[:1])
    assert more["data"]["_entities"][0]["reviews"]["nodes"] == [{"id": first}]
    user = entities(
        service, "... on User { reviews(first: 100) { nodes { id } } }", [{"__typename": "User", "id": "1"}]
    )
    assert {"id": first} in user["data"]["_entities"][0]["reviews"]["nodes"]


def test_the_schema_is_served(service: Service) -> None:
    sdl = service.graphql("{ _service { sdl } }")["data"]["_service"]["sdl"]
    assert 'type Review @key(fields: "id")' in sdl


def test_lists_and_lookups_accept_what_cannot_exist(service: Service) -> None:
    query = '{ review(id: "x") { id } reviews(postId: "0", authorId: "-") { nodes { id } } }'
    assert service.graphql(query) == {"data": {"review": None, "reviews": {"nodes": []}}}
    for arguments, code in (
        ("first: 0", "BAD_USER_INPUT"),
        ("first: 101", "BAD_USER_INPUT"),
        ('after: "x"', "INVALID_CURSOR"),
    ):
        result = service.graphql(f"{{ reviews({arguments}) {{ nodes {{ id }} }} }}")
        assert (result["data"], result["errors"][0]["extensions"]["code"]) == ({"reviews": None}, code)


CREATE = (
    "mutation ($input: CreateReviewInput!) { createReview(input: $input) { review { id stars createdAt updatedAt } } }"
)


def test_mutations_create_change_and_delete(service: Service, post: str) -> None:
    new = {"postId": post, "stars": 3, "title": "a", "body": "b"}
    review = service.graphql(CREATE, user="1", variables={"input": new})["data"]["createReview"]["review"]
    assert review["stars"] == 3 and review["updatedAt"] is None
    change = f'mutation {{ changeReview(input: {{id: "{review["id"]}", stars: 4}}) {{ review {{ stars title }} }} }}'
    assert service.graphql(change, user="1")["data"]["changeReview"]["review"] == {"stars": 4, "title": "a"}
    assert service.graphql(change, user="2")["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    delete = f'mutation {{ deleteReview(input: {{id: "{review["id"]}"}}) {{ deletedReviewId }} }}'
    assert service.graphql(delete, user="1")["data"]["deleteReview"] == {"deletedReviewId": review["id"]}
    assert service.graphql(delete, user="1")["errors"][0]["extensions"]["code"] == "NOT_FOUND"


def test_errors_have_a_code_and_every_problem_and_no_secret(service: Service, post: str) -> None:
    new = {"postId": "x", "stars": 6, "title": "", "body": "b"}
    anonymous = service.graphql(CREATE, variables={"input": new})
    assert anonymous["errors"][0]["extensions"] == {"code": "UNAUTHENTICATED"}
    [error] = service.graphql(CREATE, user="1", variables={"input": new})["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert {problem["pointer"] for problem in error["extensions"]["problems"]} == {"#/postId", "#/stars", "#/title"}


def test_a_response_names_its_cache_groups_if_the_gateway_asks(service: Service, post: str) -> None:
    review = service.create("1", post)
    selection = "... on Post { averageStars } ... on Review { stars }"
    representations = [{"__typename": "Post", "id": post}, {"__typename": "Review", "id": review["id"]}]
    assert "extensions" not in entities(service, selection, representations)
    cache = entities(service, selection, representations, extensions={"cacheMetadata": True})["extensions"]["cache"]
    groups = [f"reviews:on-{post}"], [f"reviews:{review['id']}"]
    assert cache == {
        "seconds": 10,
        "staleIfErrorSeconds": 300,
        "groups": sorted(groups[0] + groups[1]),
        "entities": {"_entities": [*groups]},
    }


def test_an_aliased_entities_field_names_its_groups_by_its_response_name(service: Service, post: str) -> None:
    query = "query ($r: [_Any!]!) { e: _entities(representations: $r) { ... on Post { reviews { nodes { id } } } } }"
    body = {"variables": {"r": [{"__typename": "Post", "id": post}]}, "extensions": {"cacheMetadata": True}}
    assert service.graphql(query, **body)["extensions"]["cache"]["entities"] == {"e": [[f"reviews:on-{post}"]]}
