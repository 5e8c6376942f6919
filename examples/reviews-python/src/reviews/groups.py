"""Cache groups (RFC 9875): names for data that changes together. migrations/0002-feed.sql names those of a change."""

from .model import Filters, Review, is_id


def groups_of_review(review_id: str) -> list[str]:
    """A malformed id has none: there is no such review."""
    return [f"reviews:{review_id}"] if is_id(review_id) else []


def groups_of_list(filters: Filters) -> list[str]:
    """With both filters the group of the post suffices: each change of a review names it."""
    if filters.post_id is not None:
        return [f"reviews:on-{filters.post_id}"] if is_id(filters.post_id) else []
    if filters.author_id is not None:
        return [f"reviews:by-{filters.author_id}"] if is_id(filters.author_id) else []
    return ["reviews"]


def groups_of_change(review: Review) -> list[str]:
    lists = [Filters(), Filters(post_id=review.post_id), Filters(author_id=review.author_id)]
    return groups_of_review(review.id) + [group for filters in lists for group in groups_of_list(filters)]
