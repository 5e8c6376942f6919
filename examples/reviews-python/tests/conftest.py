"""A running service with a database of its own (in the cluster of DATABASE_URL), and an issuer of tokens."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

FEED_KEY = "a-key-for-the-feed-of-tests"
AUDIENCE = "tributary"
CLIENT = httpx.Client(timeout=30)


@dataclass
class Issuer:
    url: str
    key: ec.EllipticCurvePrivateKey

    def token(self, user: str = "1", scope: str = "reviews:write", key: Any = None, **claims: Any) -> str:
        headers = {"kid": "test", **claims.pop("headers", {})}
        payload = {"iss": self.url, "aud": AUDIENCE, "sub": user, "scope": scope, "exp": time.time() + 60, **claims}
        return jwt.encode(payload, key or self.key, "ES256", headers=headers)


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    key = ec.generate_private_key(ec.SECP256R1())
    jwk = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": "test", "alg": "ES256"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"keys": [jwk]}).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Issuer(f"http://127.0.0.1:{server.server_port}", key)
    server.shutdown()


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    cluster = os.environ["DATABASE_URL"]
    name = f"reviews_test_{uuid.uuid4().hex[:12]}"
    execute(cluster, f"create database {name}")
    yield urlunsplit(urlsplit(cluster)._replace(path=f"/{name}"))
    execute(cluster, f"drop database {name} with (force)")


def execute(url: str, sql: str) -> Any:
    async def run() -> Any:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetch(sql)
        finally:
            await connection.close()

    return asyncio.run(run())


@dataclass
class Service:
    log: Path
    url: str
    feed_url: str
    process: subprocess.Popen[bytes]
    issuer: Issuer

    def request(self, method: str, path: str, *, user: str | None = None, **options: Any) -> httpx.Response:
        headers = options.pop("headers", {})
        if user is not None:
            headers = headers | {"authorization": f"Bearer {self.issuer.token(user)}"}
        if "patch" in options:
            headers = headers | {"content-type": "application/merge-patch+json"}
            options["content"] = json.dumps(options.pop("patch"))
        return CLIENT.request(method, self.url + path, headers=headers, **options)

    def graphql(self, query: str, *, user: str | None = None, **body: Any) -> dict[str, Any]:
        return self.request("POST", "/graphql", user=user, json={"query": query, **body}).json()

    def create(self, user: str, post: str, **fields: Any) -> dict[str, Any]:
        review = {"postId": post, "stars": 5, "title": "Good", "body": "Read it.", **fields}
        response = self.request("POST", "/rest/v2/reviews", user=user, json=review)
        assert response.status_code == 201, response.text
        return response.json()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="session")
def start_service(
    database_url: str, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Service]]:
    processes = []

    def start(**variables: str) -> Service:
        port, feed_port = free_port(), free_port()
        environment = os.environ | {
            "DATABASE_URL": database_url,
            "PORT": str(port),
            "FEED_PORT": str(feed_port),
            "FEED_KEYS": FEED_KEY,
            "ISSUER": issuer.url,
            "JWKS_URL": issuer.url,
            **variables,
        }
        log = tmp_path_factory.mktemp("service") / "log"
        with log.open("wb") as output:
            command = [sys.executable, "-m", "reviews"]
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        processes.append(process)
        service = Service(log, f"http://127.0.0.1:{port}", f"http://127.0.0.1:{feed_port}", process, issuer)
        wait_until(lambda: process.poll() is None and is_ready(service))
        return service

    yield start
    for process in processes:
        process.send_signal(signal.SIGTERM)
        process.wait()


def is_ready(service: Service) -> bool:
    try:
        return service.request("GET", "/health/ready").status_code == 200
    except httpx.TransportError:
        return False


def wait_until(condition: Callable[[], Any]) -> None:
    while not condition():
        time.sleep(0.02)


@pytest.fixture(scope="session")
def service(start_service: Callable[..., Service]) -> Service:
    return start_service()


@pytest.fixture
def post() -> str:
    """The id of a post that no other test has."""
    return str(uuid.uuid4().int % 10**15 + 1)
