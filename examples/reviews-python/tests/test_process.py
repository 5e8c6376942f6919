"""Start, health, draining, and what is in the log."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
from conftest import Service, execute, free_port, wait_until


def test_the_problems_of_the_configuration_are_reported_at_once() -> None:
    environment = os.environ | {"PROFILE": "production", "PORT": "x", "FEED_KEYS": "short"}
    environment.pop("DATABASE_URL")
    command = [sys.executable, "-m", "reviews"]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 1
    assert all(name in process.stderr for name in ("database_url", "port", "feed_keys"))
    production = os.environ | {"PROFILE": "production"}
    process = subprocess.run(command, env=production, capture_output=True, text=True, check=False)
    assert "production requires FEED_KEYS, ISSUER, JWKS_URL" in process.stderr


def test_it_drains_on_sigterm(start_service: Callable[..., Service], database_url: str) -> None:
    service = start_service(DRAIN_DELAY_MS="1000")
    execute(database_url, "create table if not exists held (id int)")
    with httpx.Client() as client:
        assert client.get(f"{service.url}/health/ready").status_code == 200
        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: client.get(f"{service.url}/health/ready").status_code == 503)
        assert client.get(f"{service.url}/health/live").status_code == 200
        response = client.get(f"{service.url}/rest/v2/reviews")
        assert (response.status_code, response.headers["connection"]) == (200, "close")
    assert service.process.wait() == 0


def test_a_pending_response_is_completed_before_the_process_exits(
    start_service: Callable[..., Service], database_url: str, post: str
) -> None:
    service = start_service()
    review = service.create("1", post)
    lock = subprocess.Popen(
        [sys.executable, "-c", LOCK, database_url, review["id"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert lock.stdout is not None and lock.stdin is not None and lock.stdout.readline() == b"locked\n"
    replies: list[httpx.Response] = []
    path = f"/rest/v2/reviews/{review['id']}"
    thread = threading.Thread(target=lambda: replies.append(service.request("DELETE", path, user="1")))
    thread.start()
    waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'delete from reviews%'"
    wait_until(lambda: execute(database_url, waiting))
    service.process.send_signal(signal.SIGTERM)
    wait_until(lambda: is_closed(service))
    lock.stdin.close()
    thread.join()
    assert replies[0].status_code == 204
    assert service.process.wait() == 0
    lock.wait()


LOCK = """
import asyncio, asyncpg, sys
async def main():
    connection = await asyncpg.connect(sys.argv[1])
    async with connection.transaction():
        await connection.execute("select from reviews where id = $1 for update", int(sys.argv[2]))
        print("locked", flush=True)
        await asyncio.to_thread(sys.stdin.read)
asyncio.run(main())
"""


def is_closed(service: Service) -> bool:
    try:
        httpx.get(f"{service.url}/health/live")
    except httpx.ConnectError:
        return True
    return False


def test_the_log_has_each_request_and_each_bug_but_nothing_that_clients_send(
    service: Service, database_url: str, post: str
) -> None:
    def log_of(request_id: str, run: Callable[[dict[str, str]], object]) -> str:
        before = len(service.log.read_text())
        run({"x-request-id": request_id, "traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"})
        wait_until(lambda: request_id in service.log.read_text()[before:])
        return service.log.read_text()[before:]

    def send_query(headers: dict[str, str]) -> httpx.Response:
        body = {"query": '{ reviews(after: "sent text") { nodes { stars } } }'}
        return service.request("POST", "/graphql", json=body, headers=headers)

    rejected = log_of("query-1", send_query)
    assert json.loads(rejected) == {
        "requestId": "query-1",
        "trace_id": "ab" * 16,
        "method": "POST",
        "path": "/graphql",
        "status": 200,
    }
    wrong = {"postId": post, "stars": 9, "title": "sent text", "body": "b"}
    write = log_of(
        "write-1", lambda h: service.request("POST", "/rest/v2/reviews?a=sent", json=wrong, user="1", headers=h)
    )
    assert "sent" not in write and "Traceback" not in write
    execute(database_url, "alter table reviews rename column stars to renamed")
    try:
        query = {"query": '{ review(id: "12345") { stars } }'}
        bug = log_of("bug-1", lambda headers: service.request("POST", "/graphql", json=query, headers=headers))
        reply = service.graphql(query["query"])
        rest = service.request("GET", "/rest/v2/reviews/12345")
    finally:
        execute(database_url, "alter table reviews rename column renamed to stars")
    assert "Traceback" in bug and "12345" not in bug
    assert reply["errors"][0]["extensions"] == {"code": "INTERNAL_SERVER_ERROR"}
    assert reply["errors"][0]["message"] == rest.json()["detail"] == "Internal error. Retry later."
    assert (rest.status_code, rest.headers["content-type"]) == (500, "application/problem+json")


def test_a_request_that_ends_before_its_body_changes_nothing(service: Service, post: str) -> None:
    path = f"/rest/v2/reviews/{service.create('1', post)['id']}"
    headers = [
        "Host: a",
        f"Authorization: Bearer {service.issuer.token()}",
        "X-Request-Id: cut-off",
        "Content-Length: 9",
    ]
    head = "\r\n".join([f"DELETE {path} HTTP/1.1", *headers, "", ""])
    port = int(service.url.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head.encode())
    wait_until(lambda: "cut-off" in service.log.read_text())
    assert service.request("GET", path).status_code == 200


def test_the_admin_listener_has_metrics_and_health(start_service: Callable[..., Service]) -> None:
    port = free_port()
    service = start_service(ADMIN_PORT=str(port), DRAIN_DELAY_MS="1000")
    for path in ("/rest/v2/reviews", "/rest/v2/reviews/12345", "/a", "/rest/v2/reviews/1/a"):
        service.request("GET", path)
    service.request("PURGE", "/rest/v2/reviews")
    service.graphql("{ reviews { nodes { id } } }")
    admin = f"http://127.0.0.1:{port}"
    assert [httpx.get(admin + path).status_code for path in ("/health/live", "/health/ready", "/graphql")] == [
        200,
        200,
        404,
    ]
    metrics = httpx.get(f"{admin}/metrics").text
    for labels in (
        'endpoint="rest",method="GET",route="/rest/v2/reviews",status="200"',
        'endpoint="rest",method="GET",route="/rest/v2/reviews/{id}",status="404"',
        'endpoint="rest",method="GET",route="other",status="404"',
        'endpoint="rest",method="other",route="/rest/v2/reviews",status="405"',
        'endpoint="graphql",method="POST",route="/graphql",status="200"',
    ):
        assert f"tributary_service_requests_total{{{labels}}} " in metrics
    assert 'tributary_service_request_duration_seconds_count{endpoint="graphql",route="/graphql"} 1.0' in metrics
    assert "tributary_service_requests_in_flight 0.0" in metrics
    assert "process_start_time_seconds" in metrics
    assert service.request("GET", "/metrics").status_code == 404
    service.process.send_signal(signal.SIGTERM)
    wait_until(lambda: httpx.get(f"{admin}/health/ready").status_code == 503)


def test_a_file_may_have_the_value_of_a_variable(start_service: Callable[..., Service], tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("a-key-that-is-in-a-file\n")
    service = start_service(FEED_KEYS="", FEED_KEYS_FILE=str(keys))
    headers = {"authorization": "Bearer a-key-that-is-in-a-file"}
    with httpx.stream("GET", f"{service.feed_url}/changes", headers=headers) as response:
        assert response.status_code == 200
