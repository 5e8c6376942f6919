"""The REST endpoint. Version 1 has bare arrays, and `text`; version 2 has objects with a list, and `body`."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request, Response
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from . import model
from .actions import Actions
from .etags import body_etag, matches, read_precondition, row_etag
from .groups import groups_of_change, groups_of_list, groups_of_review
from .idempotency import read_key_header
from .lists import ListCursors
from .model import Filters, Input, Model, Review
from .tokens import Identity

# Only the REST proxy, which follows the change feed, may use a stale response: browsers and CDNs would obey it too.
PUBLIC = {
    "Cache-Control": "public, max-age=2, s-maxage=10",
    "CDN-Cache-Control": "public, max-age=10",
    "Tributary-Cache-Control": "public, max-age=10, stale-while-revalidate=10, stale-if-error=300",
}


Id = Annotated[str, Field(examples=["1"])]


class ReviewV2(Model):
    id: Id
    post_id: Id
    author_id: Id
    stars: model.Stars
    title: model.Title
    body: model.Body
    created_at: model.Timestamp
    updated_at: model.Timestamp | None


class ReviewV1(ReviewV2):
    body: model.Body = Field(alias="text")


class NewReviewV1(model.NewReview):
    body: model.Body = Field(alias="text")


class ReviewChangeV1(model.ReviewChange):
    body: model.Body = Field(alias="text", default_factory=lambda: None)


class PageLinks(Model):
    next: str | None
    prev: str | None


class ReviewPage(Model):
    data: list[ReviewV2]
    page: PageLinks


class ProblemDocument(Model):
    type: str
    title: str
    status: int
    detail: str
    instance: str
    request_id: str
    errors: list[dict[str, str]] | None = None


@dataclass(frozen=True)
class Version:
    number: int
    review: type[ReviewV2]
    page: type
    new: type[model.NewReview]
    change: type[model.ReviewChange]

    @property
    def representation(self) -> str:
        """Part of every ETag: a release that represents reviews differently confirms no older body."""
        schema = json.dumps(self.review.model_json_schema(mode="serialization")).encode()
        return f"v{self.number}.{hashlib.sha256(schema).hexdigest()[:6]}"


VERSIONS = [
    Version(1, ReviewV1, list[ReviewV1], NewReviewV1, ReviewChangeV1),
    Version(2, ReviewV2, ReviewPage, model.NewReview, model.ReviewChange),
]


class PageQuery(Input):
    limit: int = Field(20, ge=1, le=100, description="How many at most.")
    cursor: str | SkipJsonSchema[None] = Field(None, max_length=512, description="Of the previous page.")


class ListQuery(PageQuery):
    post_id: str | SkipJsonSchema[None] = Field(None, description="Only reviews of this post.")
    author_id: str | SkipJsonSchema[None] = Field(None, description="Only reviews by this user.")


def require_scope(*scopes: str) -> Any:
    """Before the input is validated: a caller without the scope gets 401 or 403, not 422. The actions check it too."""

    def require(request: Request) -> Identity:
        request.state.identity.require(*scopes)
        return request.state.identity

    return Depends(require)


Scopes = Sequence[str]
WRITE = ("reviews:write",)
DELETE = ("reviews:write", "reviews:write:all")
Author = Annotated[Identity, require_scope(*WRITE)]
Deleter = Annotated[Identity, require_scope(*DELETE)]
PostId = Annotated[str, Path(description="The post.", examples=["1"])]
UserId = Annotated[str, Path(description="The user.", examples=["1"])]
ReviewId = Annotated[str, Path(description="The review.", examples=["1"])]
IfMatch = Annotated[
    str | SkipJsonSchema[None],
    Header(
        alias="If-Match", description="The `ETag` of the version that the client knows; `*` for any.", examples=["*"]
    ),
]
IfNoneMatch = Annotated[str | None, Header(include_in_schema=False)]
IdempotencyKey = Annotated[
    str | SkipJsonSchema[None],
    Header(alias="Idempotency-Key", description="With the same key, a repeated request gets the first result."),
]
PROBLEM: Any = {
    "description": "A problem document (RFC 9457).",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
}


def write_groups(groups: list[str]) -> str:
    return ", ".join(f'"{group}"' for group in groups)


def write_links(request: Request, links: PageLinks) -> str:
    path = request.scope["raw_path"].decode().removeprefix("/rest")
    others = {name: value for name, value in request.query_params.items() if name != "cursor"}
    pages = {"first": others}
    pages |= {rel: others | {"cursor": cursor} for rel, cursor in links.model_dump().items() if cursor is not None}
    queries = {rel: f"?{urlencode(query)}" if query else "" for rel, query in pages.items()}
    return ", ".join(f'<{path}{query}>; rel="{rel}"' for rel, query in queries.items())


def respond_to_read(request: Request, body: str, etag: str, groups: list[str], headers: dict[str, str]) -> Response:
    headers |= PUBLIC | {"ETag": etag} | ({"Cache-Groups": write_groups(groups)} if groups else {})
    if matches(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def write_headers(review: Review) -> dict[str, str]:
    """The REST proxy drops what it has cached of these groups before it sends the response (RFC 9875, 3)."""
    return {"Cache-Control": "no-store", "Cache-Group-Invalidation": write_groups(groups_of_change(review))}


def create_router(version: Version, actions: Actions) -> APIRouter:
    router = APIRouter(prefix=f"/rest/v{version.number}", responses={"default": PROBLEM})

    def etag_of(review: Review) -> str:
        return row_etag(review.row_version, version.representation)

    def to_json(review: Review) -> str:
        return version.review.model_validate(review).model_dump_json(by_alias=True)

    def respond_to_write(review: Review, status: int = 200) -> Response:
        headers = write_headers(review) | {"ETag": etag_of(review)}
        return Response(to_json(review), status, headers, "application/json")

    async def respond_with_list(request: Request, query: PageQuery, filters: Filters) -> Response:
        cursors = ListCursors("rest", filters)
        page = await actions.store.load_page(filters, query.limit, cursors.read(query.cursor) if query.cursor else None)
        links = PageLinks(
            next=cursors.write("next", page.items[-1]) if page.has_next and page.items else None,
            prev=cursors.write("prev", page.items[0]) if page.has_prev and page.items else None,
        )
        items = ",".join(map(to_json, page.items))
        body = f"[{items}]" if version.number == 1 else f'{{"data":[{items}],"page":{links.model_dump_json()}}}'
        link = {"Link": write_links(request, links)}
        return respond_to_read(request, body, body_etag(body.encode()), groups_of_list(filters), link)

    def route(
        method: str,
        path: str,
        name: str,
        summary: str,
        model: Any = None,
        status: int = 200,
        scopes: Scopes = (),
        problems: Sequence[int] = (),
    ) -> Any:
        operation_id = f"{name}V{version.number}"
        options = {"summary": summary, "response_model": model, "status_code": status}
        # For the reference: `require_scope` enforces them.
        options["openapi_extra"] = {"security": [{"bearer": [scope]} for scope in scopes]} if scopes else {}
        descriptions = {
            None: "The review is deleted.",
            version.review: "The review.",
            version.page: "A page of the list.",
        }
        options["response_description"] = descriptions[model]
        options["responses"] = dict.fromkeys(problems, PROBLEM)
        return router.api_route(path, methods=[method], operation_id=operation_id, **options)

    @route("GET", "/reviews", "listReviews", "Reviews, newest first", version.page)
    async def list_reviews(request: Request, query: Annotated[ListQuery, Query()]) -> Response:
        return await respond_with_list(request, query, Filters(post_id=query.post_id, author_id=query.author_id))

    @route("GET", "/posts/{id}/reviews", "listPostReviews", "Reviews of a post, newest first", version.page)
    async def list_post_reviews(request: Request, id: PostId, query: Annotated[PageQuery, Query()]) -> Response:
        return await respond_with_list(request, query, Filters(post_id=id))

    @route("GET", "/users/{id}/reviews", "listUserReviews", "Reviews by a user, newest first", version.page)
    async def list_user_reviews(request: Request, id: UserId, query: Annotated[PageQuery, Query()]) -> Response:
        return await respond_with_list(request, query, Filters(author_id=id))

    @route("GET", "/reviews/{id}", "getReview", "One review", version.review, problems=[404])
    async def get_review(request: Request, id: ReviewId) -> Response:
        review = await actions.get(id)
        return respond_to_read(request, to_json(review), etag_of(review), groups_of_review(review.id), {})

    @route("POST", "/reviews", "createReview", "Review a post", version.review, 201, WRITE, [403, 409, 422])
    async def create_review(
        identity: Author,
        body: Annotated[version.new, Body()],
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        review, is_replay = await actions.create(identity, body, read_key_header(idempotency_key))
        response = respond_to_write(review, 201)
        response.headers["Location"] = f"/v{version.number}/reviews/{review.id}"
        if is_replay:
            response.headers["Idempotency-Replayed"] = "true"
        return response

    @route(
        "PATCH",
        "/reviews/{id}",
        "changeReview",
        "Change a review",
        version.review,
        200,
        WRITE,
        [403, 404, 412, 422, 428],
    )
    async def change_review(
        identity: Author,
        id: ReviewId,
        body: Annotated[version.change, Body(media_type="application/merge-patch+json")],
        if_match: IfMatch = None,
        if_none_match: IfNoneMatch = None,
    ) -> Response:
        versions = read_precondition(if_match, if_none_match, is_required=True)
        return respond_to_write(await actions.change(identity, id, body, versions))

    @route("DELETE", "/reviews/{id}", "deleteReview", "Delete a review", None, 204, DELETE, [403, 404, 412])
    async def delete_review(
        identity: Deleter,
        id: ReviewId,
        if_match: IfMatch = None,
        if_none_match: IfNoneMatch = None,
    ) -> Response:
        versions = read_precondition(if_match, if_none_match, is_required=False)
        return Response(status_code=204, headers=write_headers(await actions.delete(identity, id, versions)))

    return router
