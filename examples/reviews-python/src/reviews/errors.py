"""Errors that a client may read. Every other error is a bug: clients get a masked 500."""

from collections.abc import Sequence
from typing import Any

from fastapi.responses import JSONResponse
from pydantic_core import ErrorDetails

STATUSES = {
    "MALFORMED_REQUEST": 400,
    "UNKNOWN_PARAMETER": 400,
    "INVALID_CURSOR": 400,
    "UNAUTHENTICATED": 401,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "CONFLICT": 409,
    "IDEMPOTENCY_KEY_IN_FLIGHT": 409,
    "GONE": 410,
    "PRECONDITION_FAILED": 412,
    "PAYLOAD_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "BAD_USER_INPUT": 422,
    "IDEMPOTENCY_KEY_REUSED": 422,
    "PRECONDITION_REQUIRED": 428,
    "INTERNAL_SERVER_ERROR": 500,
    "SERVICE_UNAVAILABLE": 503,
}

Problem = dict[str, str]


class AppError(Exception):
    def __init__(self, code: str, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.problems = list(problems)
        # graphql-core copies it to the entry in `errors`.
        self.extensions: dict[str, Any] = {"code": code} | ({"problems": self.problems} if problems else {})


INTERNAL_ERROR = AppError("INTERNAL_SERVER_ERROR", "Internal error. Retry later.")


def invalid_input(problems: Sequence[Problem], code: str = "BAD_USER_INPUT") -> AppError:
    message = problems[0]["detail"] if len(problems) == 1 else f"{len(problems)} values are invalid."
    return AppError(code, message, problems)


def problems_of(errors: Sequence[ErrorDetails], skip: int = 0) -> list[Problem]:
    """With a JSON Pointer (RFC 6901) into the value as sent, which begins after `skip` steps of the path."""
    return [
        {
            "pointer": "#" + "".join(f"/{step}" for step in error["loc"][skip:]),
            "code": error["type"],
            "detail": error["msg"],
        }
        for error in errors
    ]


def problem_response(error: AppError, path: str, request_id: str, *, has_token: bool) -> JSONResponse:
    """RFC 9457."""
    document = {
        "type": "/problems/" + error.code.lower().replace("_", "-"),
        "title": error.code.replace("_", " ").capitalize(),
        "status": STATUSES[error.code],
        "detail": error.message,
        "instance": path.removeprefix("/rest"),
        "requestId": request_id,
    }
    if error.problems:
        document["errors"] = error.problems
    return JSONResponse(
        document, STATUSES[error.code], headers_of(error, has_token=has_token), media_type="application/problem+json"
    )


def headers_of(error: AppError, *, has_token: bool) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    if error.code == "UNAUTHENTICATED":
        headers["WWW-Authenticate"] = 'Bearer realm="tributary"' + (', error="invalid_token"' if has_token else "")
    if error.code == "FORBIDDEN":
        headers["WWW-Authenticate"] = 'Bearer error="insufficient_scope"'
    if error.code in ("SERVICE_UNAVAILABLE", "IDEMPOTENCY_KEY_IN_FLIGHT"):
        headers["Retry-After"] = "1"
    return headers
