"""What a caller may do, for both endpoints. Everyone may read reviews."""

from collections.abc import Callable

from .errors import AppError
from .etags import ANY_VERSION, Precondition
from .idempotency import write_once
from .model import NewReview, Review, ReviewChange, is_id
from .store import Store
from .tokens import Identity


class Actions:
    def __init__(self, store: Store) -> None:
        self.store = store

    async def get(self, review_id: str) -> Review:
        [review] = await self.store.find([review_id])
        if review is None:
            raise AppError("NOT_FOUND", "There is no such review.")
        return review

    async def create(self, identity: Identity, new: NewReview, key: str | None) -> tuple[Review, bool]:
        """Returns the review, and whether an earlier request with the same key created it."""
        user_id = identity.require("reviews:write")
        return await write_once(
            self.store.database, user_id, key, new, lambda connection: self.store.insert(connection, user_id, new)
        )

    async def change(
        self, identity: Identity, review_id: str, change: ReviewChange, versions: Precondition = ANY_VERSION
    ) -> Review:
        """Only the author may change a review."""
        user_id = identity.require("reviews:write")
        if is_id(review_id) and (review := await self.store.update(review_id, user_id, versions, change)):
            return review
        raise await self._reason(review_id, lambda review: review.author_id == user_id)

    async def delete(self, identity: Identity, review_id: str, versions: Precondition = ANY_VERSION) -> Review:
        """Its author, or a caller with the scope `reviews:write:all`."""
        user_id = identity.require("reviews:write", "reviews:write:all")
        may_delete_all = "reviews:write:all" in identity.scopes
        author_id = None if may_delete_all else user_id
        if is_id(review_id) and (review := await self.store.delete(review_id, author_id, versions)):
            return review
        raise await self._reason(review_id, lambda review: may_delete_all or review.author_id == user_id)

    async def _reason(self, review_id: str, is_permitted: Callable[[Review], bool]) -> AppError:
        """Why a conditional statement matched no row."""
        if not is_permitted(await self.get(review_id)):
            return AppError("FORBIDDEN", "This is the review of another user.")
        return AppError("PRECONDITION_FAILED", "The review has changed since you read it. Read it again.")
