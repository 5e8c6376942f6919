"""What each request gets before a route: an id, the caller, a bounded body; and the log line after it."""

import asyncio
import json
import logging
import re
import time
import uuid

from prometheus_client import Counter, Gauge, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .database import DEADLINE, Database
from .errors import AppError, problem_response
from .tokens import Identity, Tokens

REST_BODY_BYTES_MAX = 65_536
# For the entity requests of the gateway.
GRAPHQL_BODY_BYTES_MAX = 2_097_152
REQUESTS_MAX = 1_000
METHODS = {"GET", "HEAD", "POST", "PATCH", "DELETE"}
MEDIA_TYPES = {"POST": "application/json", "PATCH": "application/merge-patch+json", "DELETE": "application/json"}
REQUEST_ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)
TRACE_PARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}.*")
MILLISECONDS = re.compile(r"\d{1,9}", re.ASCII)
# Their responses depend on the service's data: a client that reads next must not see older data.
POSITION_STATUSES = {200, 201, 204, 404, 409, 410, 412}

# The names of the platform's own services, so that its dashboards and alerts cover this one.
REQUESTS = Counter(
    "tributary_service_requests",
    "Requests by endpoint, route, method and status; 499 if the client disconnected first.",
    ["endpoint", "route", "method", "status"],
)
REQUEST_SECONDS = Histogram(
    "tributary_service_request_duration_seconds",
    "Time from a request's headers to the end of its response.",
    ["endpoint", "route"],
    buckets=[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
)
IN_FLIGHT = Gauge("tributary_service_requests_in_flight", "Requests that have not been responded to yet.")


class Requests:
    """Wraps the application. While it `is_draining`, clients send further requests to other replicas."""

    def __init__(self, app: ASGIApp, tokens: Tokens, database: Database) -> None:
        self._app = app
        self._tokens = tokens
        self._database = database
        self._in_flight = 0
        self.is_draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/health/"):
            await self._app(scope, receive, send)
            return
        headers, started = Headers(scope=scope), time.monotonic()
        request_id = headers.get("x-request-id", "")
        if not REQUEST_ID.fullmatch(request_id):
            request_id = str(uuid.uuid4())
        is_write = scope["path"].startswith("/rest/") and scope["method"] not in ("GET", "HEAD")
        scope["state"] |= {"identity": Identity(), "request_id": request_id}
        status = 0

        async def respond(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                response_headers = MutableHeaders(scope=message)
                if is_write and status in POSITION_STATUSES and (position := await self._database.position()):
                    response_headers["write-position"] = position
                if self.is_draining:
                    response_headers["connection"] = "close"
            await send(message)

        self._in_flight += 1
        IN_FLIGHT.set(self._in_flight)
        try:
            await self._handle(scope, headers, started, receive, respond)
        except AppError as error:
            response = problem_response(error, scope["path"], request_id, has_token="authorization" in headers)
            await response(scope, receive, respond)
        finally:
            self._in_flight -= 1
            IN_FLIGHT.set(self._in_flight)
            count(scope, status, time.monotonic() - started)
            trace = TRACE_PARENT.fullmatch(headers.get("traceparent", ""))
            line = {"requestId": request_id, "trace_id": trace and trace[1], "method": scope["method"]}
            logging.info(json.dumps(line | {"path": scope["path"], "status": status}))

    async def _handle(self, scope: Scope, headers: Headers, started: float, receive: Receive, send: Send) -> None:
        if self._in_flight > REQUESTS_MAX:
            raise AppError("SERVICE_UNAVAILABLE", "Too many requests are in flight. Retry after 1 s.")
        scope["state"]["identity"] = await self._tokens.identify(headers.get("authorization"))
        is_graphql = scope["path"] == "/graphql"
        body = await read_body(receive, GRAPHQL_BODY_BYTES_MAX if is_graphql else REST_BODY_BYTES_MAX)
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if body and media_type != (expected := MEDIA_TYPES.get(scope["method"], media_type)):
            raise AppError("UNSUPPORTED_MEDIA_TYPE", f"Send the body as {expected}, in UTF-8.")
        deadline = headers.get("x-deadline-ms", "")
        if MILLISECONDS.fullmatch(deadline):
            remaining = int(deadline) / 1000 - (time.monotonic() - started)
            if remaining <= 0:
                raise AppError(
                    "SERVICE_UNAVAILABLE",
                    "The deadline of the request passed before it was started. Nothing was changed.",
                )
            DEADLINE.set(asyncio.get_running_loop().time() + remaining)
        # The server leaves out the body of a response to HEAD.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        pending = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return pending.pop() if pending else await receive()

        inner = {**scope, "method": method}
        try:
            await self._app(inner, replay, send)
        finally:
            scope["route"] = inner.get("route")


def count(scope: Scope, status: int, seconds: float) -> None:
    """By the declared path of the route: a client can choose no label."""
    route = getattr(scope.get("route"), "path", "other")
    endpoint = "graphql" if route == "/graphql" else "rest"
    method = scope["method"] if scope["method"] in METHODS else "other"
    REQUESTS.labels(endpoint, route, method, status or 499).inc()
    REQUEST_SECONDS.labels(endpoint, route).observe(seconds)


async def read_body(receive: Receive, bytes_max: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise AppError("MALFORMED_REQUEST", "The request ended before its body.")
        body += message.get("body", b"")
        if len(body) > bytes_max:
            raise AppError("PAYLOAD_TOO_LARGE", f"A body has at most {bytes_max:,} bytes.")
        if not message.get("more_body", False):
            return bytes(body)
