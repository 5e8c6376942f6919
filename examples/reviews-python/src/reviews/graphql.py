"""The subgraph. Fields of other services' entities, and references to them, are nullable: a service fails alone."""

import logging
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Annotated, Any, NewType, Self, TypeVar

import strawberry
from fastapi import Request
from graphql import GraphQLError
from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from strawberry.dataloader import DataLoader
from strawberry.extensions import MaskErrors, MaxTokensLimiter, SchemaExtension
from strawberry.fastapi import BaseContext, GraphQLRouter
from strawberry.federation.schema import FederationAny
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext
from strawberry.types.graphql import OperationType

from . import model
from .actions import Actions
from .errors import INTERNAL_ERROR, AppError, invalid_input, problems_of
from .groups import groups_of_list, groups_of_review
from .idempotency import KEY, KEY_RULE
from .lists import ListCursors, Page, Position
from .model import Filters
from .store import ParentPage
from .tokens import Identity

TOKENS_MAX = 20_000
FIRST_MAX = 100
FRESH_SECONDS = 10
STALE_IF_ERROR_SECONDS = 300
# Of one response (RFC 9875, 2).
GROUPS_MAX = 32

First = Annotated[int | None, strawberry.argument(description="1 to 100.")]
After = Annotated[
    str | None,
    strawberry.argument(description="A `cursor` or `endCursor` of the previous page; the list continues after it."),
]
DateTime = NewType("DateTime", datetime)
M = TypeVar("M", bound=model.Input)


class CacheRecord:
    """The cache groups of what a query has loaded: of the whole response, and of each entity."""

    def __init__(self) -> None:
        self.groups: set[str] = set()
        self.entities: dict[str, list[set[str]]] = {}

    def add(self, info: "Info", groups: Sequence[str], index: int | None = None) -> None:
        """`index`: of the entity, if `info` is of the field `_entities` itself."""
        self.groups.update(groups)
        match info.path.as_list() + ([] if index is None else [index]):
            case [str(name), int(index), *_] if name in self.entities:
                self.entities[name][index].update(groups)

    def to_json(self) -> dict[str, Any]:
        groups = sorted(self.groups) if len(self.groups) <= GROUPS_MAX else groups_of_list(Filters())
        entities = {name: [sorted(names) for names in lists] for name, lists in self.entities.items()}
        freshness = {"seconds": FRESH_SECONDS, "staleIfErrorSeconds": STALE_IF_ERROR_SECONDS}
        return freshness | {"groups": groups} | ({"entities": entities} if entities else {})


class Context(BaseContext):
    """Of one request. Its loaders batch, and keep nothing for another request."""

    def __init__(self, actions: Actions, identity: Identity) -> None:
        super().__init__()
        self.actions = actions
        self.identity = identity
        self.cache = CacheRecord()
        self.clear()

    def clear(self) -> None:
        """After each mutation: a later one of the same operation must not read values from before."""
        store = self.actions.store
        self.reviews = DataLoader(load_fn=store.find)
        self.pages = DataLoader(load_fn=store.load_pages)
        self.averages = DataLoader(load_fn=store.average_stars)


Info = strawberry.Info[Context, None]


@strawberry.federation.type(shareable=True, description="The position of a page in its list (Relay).")
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@strawberry.federation.type(keys=["id"], description="A review of a post.")
class Review:
    id: strawberry.ID
    stars: int = strawberry.field(description="1 to 5.")
    title: str = strawberry.field(description="1 to 200 characters.")
    body: str = strawberry.field(description="1 to 2,000 characters.")
    created_at: DateTime
    updated_at: DateTime | None = strawberry.field(
        description="When the author last changed the review; null if never."
    )
    row: strawberry.Private[model.Review]

    @strawberry.field(
        description="The post that is reviewed; null if it cannot be loaded, or the caller may not read it."
    )
    def post(self) -> "Post | None":
        return Post(id=strawberry.ID(self.row.post_id))

    @strawberry.field(description="The user who wrote the review; null if the user cannot be loaded.")
    def author(self) -> "User | None":
        return User(id=strawberry.ID(self.row.author_id))

    @classmethod
    def of(cls, row: model.Review) -> Self:
        return cls(
            id=strawberry.ID(row.id),
            stars=row.stars,
            title=row.title,
            body=row.body,
            created_at=DateTime(row.created_at),
            updated_at=row.updated_at and DateTime(row.updated_at),
            row=row,
        )

    @classmethod
    async def find(cls, info: Info, review_id: str, index: int | None = None) -> Self | None:
        """`index`: of the representation."""
        info.context.cache.add(info, groups_of_review(review_id), index)
        row = await info.context.reviews.load(review_id)
        return row and cls.of(row)


@strawberry.type
class ReviewEdge:
    cursor: str
    node: Review


@strawberry.type
class ReviewConnection:
    edges: list[ReviewEdge]
    nodes: list[Review]
    page_info: PageInfo

    @classmethod
    async def load(cls, info: Info, filters: Filters, first: int | None, after: str | None) -> Self:
        limit = 20 if first is None else first
        if not 1 <= limit <= FIRST_MAX:
            raise invalid_input([{"pointer": "#/first", "code": "range", "detail": "first is from 1 to 100."}])
        cursors = ListCursors("graphql", filters)
        position = cursors.read(after) if after else None
        info.context.cache.add(info, groups_of_list(filters))
        page = await cls._load_page(info.context, filters, limit, position)
        nodes = [Review.of(row) for row in page.items]
        edges = [ReviewEdge(cursor=cursors.write("next", node.row), node=node) for node in nodes]
        page_info = PageInfo(
            has_next_page=page.has_next,
            has_previous_page=page.has_prev,
            start_cursor=edges[0].cursor if edges else None,
            end_cursor=edges[-1].cursor if edges else None,
        )
        return cls(edges=edges, nodes=nodes, page_info=page_info)

    @staticmethod
    async def _load_page(context: Context, filters: Filters, limit: int, position: Position | None) -> Page:
        """The lists of many posts, or of many users, are one statement."""
        match filters:
            case Filters(post_id=str(post_id), author_id=None):
                return await context.pages.load(ParentPage("post", post_id, limit, position))
            case Filters(post_id=None, author_id=str(author_id)):
                return await context.pages.load(ParentPage("author", author_id, limit, position))
        return await context.actions.store.load_page(filters, limit, position)


@strawberry.federation.type(keys=["id"])
class Post:
    id: strawberry.ID

    @strawberry.field(description="The reviews of the post, newest first.")
    async def reviews(self, info: Info, first: First = 20, after: After = None) -> ReviewConnection | None:
        return await ReviewConnection.load(info, Filters(post_id=self.id), first, after)

    @strawberry.field(description="The average of all stars; null without reviews.")
    async def average_stars(self, info: Info) -> float | None:
        info.context.cache.add(info, groups_of_list(Filters(post_id=self.id)))
        return await info.context.averages.load(self.id)


@strawberry.federation.type(keys=["id"])
class User:
    id: strawberry.ID

    @strawberry.field(description="The user's reviews, newest first.")
    async def reviews(self, info: Info, first: First = 20, after: After = None) -> ReviewConnection | None:
        return await ReviewConnection.load(info, Filters(author_id=self.id), first, after)


@strawberry.type
class Query:
    @strawberry.field(description="The review with this id; null if no review has it.")
    async def review(self, info: Info, id: strawberry.ID) -> Review | None:
        return await Review.find(info, id)

    @strawberry.field(description="Reviews, newest first.")
    async def reviews(
        self,
        info: Info,
        first: First = 20,
        after: After = None,
        post_id: Annotated[strawberry.ID | None, strawberry.argument(description="Only reviews of this post.")] = None,
        author_id: Annotated[
            strawberry.ID | None, strawberry.argument(description="Only reviews by this user.")
        ] = None,
    ) -> ReviewConnection | None:
        return await ReviewConnection.load(info, Filters(post_id=post_id, author_id=author_id), first, after)


@strawberry.input
class CreateReviewInput:
    post_id: strawberry.ID
    stars: int = strawberry.field(description="1 to 5.")
    title: str = strawberry.field(description="1 to 200 characters.")
    body: str = strawberry.field(description="1 to 2,000 characters.")
    idempotency_key: str | None = strawberry.field(
        default=None,
        description="1 to 255 visible ASCII characters. A second request within 24 hours with the same key and input "
        "returns the review that the first one created.",
    )


@strawberry.input
class ChangeReviewInput:
    id: strawberry.ID
    stars: int | None = strawberry.UNSET
    title: str | None = strawberry.UNSET
    body: str | None = strawberry.UNSET


@strawberry.input
class DeleteReviewInput:
    id: strawberry.ID


@strawberry.type
class CreateReviewPayload:
    review: Review | None


@strawberry.type
class ChangeReviewPayload:
    review: Review | None


@strawberry.type
class DeleteReviewPayload:
    deleted_review_id: strawberry.ID | None


@strawberry.type
class Mutation:
    @strawberry.mutation(description="Reviews a post, once. Requires the scope `reviews:write`.")
    async def create_review(self, info: Info, input: CreateReviewInput) -> CreateReviewPayload | None:
        new = read_input(info, model.NewReview, input, "post_id", "stars", "title", "body")
        key = input.idempotency_key
        if key is not None and not KEY.fullmatch(key):
            raise invalid_input([{"pointer": "#/idempotencyKey", "code": "invalid", "detail": KEY_RULE}])
        review, _ = await info.context.actions.create(info.context.identity, new, key)
        info.context.clear()
        return CreateReviewPayload(review=Review.of(review))

    @strawberry.mutation(description="Changes a review of the caller. Requires the scope `reviews:write`.")
    async def change_review(self, info: Info, input: ChangeReviewInput) -> ChangeReviewPayload | None:
        change = read_input(info, model.ReviewChange, input, "stars", "title", "body")
        review = await info.context.actions.change(info.context.identity, input.id, change)
        info.context.clear()
        return ChangeReviewPayload(review=Review.of(review))

    @strawberry.mutation(
        description="Deletes a review. Requires the scope `reviews:write` for the caller's own reviews, or "
        "`reviews:write:all`."
    )
    async def delete_review(self, info: Info, input: DeleteReviewInput) -> DeleteReviewPayload | None:
        review = await info.context.actions.delete(info.context.identity, input.id)
        info.context.clear()
        return DeleteReviewPayload(deleted_review_id=strawberry.ID(review.id))


def read_input(info: Info, to: type[M], given: Any, *names: str) -> M:
    """After the scope check, so that UNAUTHENTICATED and FORBIDDEN take precedence over errors in the input."""
    info.context.identity.require("reviews:write")
    values = {name: getattr(given, name) for name in names}
    try:
        return to.model_validate({to_camel(n): v for n, v in values.items() if v is not strawberry.UNSET})
    except ValidationError as error:
        raise invalid_input(problems_of(error.errors())) from error


class Schema(strawberry.federation.Schema):
    def entities_resolver(self, info: Info, representations: list[FederationAny]) -> list[FederationAny]:
        """Strawberry's own fails all entities for one unknown type, and an entity for a surplus field."""
        info.context.cache.entities[str(info.path.key)] = [set() for _ in representations]
        return [self._resolve(info, index, value) for index, value in enumerate(representations)]

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Strawberry's own logs every error, with the client's document."""
        for error in filter(is_bug, errors):
            logging.error("resolver failed", exc_info=error.original_error)

    @staticmethod
    def _resolve(info: Info, index: int, representation: Any) -> Any:
        """Null without an id. An exception is the error of this entity alone."""
        match representation:
            case {"__typename": "Review", "id": str(review_id)}:
                return Review.find(info, review_id, index)
            case {"__typename": "Post", "id": str(post_id)}:
                return Post(id=strawberry.ID(post_id))
            case {"__typename": "User", "id": str(user_id)}:
                return User(id=strawberry.ID(user_id))
            case {"__typename": "Review" | "Post" | "User"}:
                return None
        return AppError("BAD_USER_INPUT", "The type is not an entity of this service.")


def is_bug(error: GraphQLError) -> bool:
    """Without an original error it is GraphQL's own, about the document."""
    return not isinstance(error.original_error, AppError | None)


class Errors(MaskErrors):
    def __init__(self) -> None:
        super().__init__(is_bug)

    def anonymise_error(self, error: GraphQLError) -> GraphQLError:
        return GraphQLError(INTERNAL_ERROR.message, error.nodes, path=error.path, extensions=INTERNAL_ERROR.extensions)


class ResponseMetadata(SchemaExtension):
    """The position of a mutation's writes in the feed, and the cache groups of a query that asks for them."""

    async def on_operation(self) -> AsyncIterator[None]:
        yield
        context: Context = self.execution_context.context
        # Without a document the query was rejected.
        is_executed = self.execution_context.graphql_document is not None
        if not is_executed or self.execution_context.operation_type is not OperationType.MUTATION:
            return
        if position := await context.actions.store.database.position():
            context.response.headers["write-position"] = position

    def get_results(self) -> dict[str, Any]:
        asked = self.execution_context.operation_extensions or {}
        return {"cache": self.execution_context.context.cache.to_json()} if asked.get("cacheMetadata") is True else {}


schema = Schema(
    query=Query,
    mutation=Mutation,
    extensions=[Errors, ResponseMetadata, lambda: MaxTokensLimiter(TOKENS_MAX)],
    federation_version="2.9",
    config=StrawberryConfig(
        scalar_map={
            DateTime: strawberry.scalar(
                name="DateTime",
                description="An instant: RFC 3339 in UTC, with milliseconds, such as `2026-01-31T09:30:00.000Z`.",
                serialize=model.to_timestamp,
            )
        }
    ),
)


def create_router(actions: Actions) -> GraphQLRouter[Context, None]:
    async def create_context(request: Request) -> Context:
        return Context(actions, request.state.identity)

    return GraphQLRouter(
        schema,
        path="/graphql",
        graphql_ide=None,
        allow_queries_via_get=False,
        subscription_protocols=(),
        include_in_schema=False,
        context_getter=create_context,
    )
