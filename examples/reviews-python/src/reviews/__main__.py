"""`python -m reviews` migrates the database and serves; `python -m reviews contract FOLDER` writes the contract."""

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from pydantic import ValidationError

from .app import create_admin_app, create_api, create_app, create_health
from .config import Config, read_config
from .database import migrate, open_database
from .feed import Feed, create_feed_app
from .graphql import schema

# Longer than the gateway and the REST proxy keep an idle connection (1 s), so that they never use one that closes.
KEEP_ALIVE_SECONDS = 10


class Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """`serve` below handles the signals: it drains first."""
        yield


def create_server(app: Any, host: str, port: int, grace_seconds: float) -> Server:
    return Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            access_log=False,
            server_header=False,
            log_level="warning",
            lifespan="off",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=grace_seconds,
        )
    )


async def serve(config: Config) -> None:
    await migrate(config.database_url)
    feed = Feed(config.database_url)
    async with open_database(config.database_url, feed.on_commit) as database:
        app = create_app(config, database)
        servers = [
            create_server(app, config.host, config.port, config.shutdown_grace_ms / 1000),
            create_server(create_feed_app(feed, config), config.host, config.feed_port, 1),
        ]
        if config.admin_port is not None:
            admin_app = create_admin_app(create_health(app, database))
            servers.append(create_server(admin_app, config.host, config.admin_port, 1))
        stop = asyncio.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, stop.set)
        feed_task = asyncio.create_task(feed.run())
        serving = [asyncio.create_task(server.serve()) for server in servers]
        await asyncio.wait([asyncio.create_task(stop.wait()), *serving], return_when=asyncio.FIRST_COMPLETED)
        # Load balancers notice that readiness is 503 before the listener closes.
        app.is_draining = True
        await asyncio.sleep(config.drain_delay_ms / 1000)
        for server in servers:
            server.should_exit = True
        feed_task.cancel()
        await asyncio.gather(*serving)


def write_contract(folder: Path) -> None:
    import yaml

    folder.joinpath("schema.graphql").write_text(schema.as_str() + "\n")
    openapi = create_api(None).openapi()
    folder.joinpath("openapi.yaml").write_text(yaml.safe_dump(openapi, sort_keys=False, allow_unicode=True))


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    match sys.argv[1:]:
        case []:
            try:
                config = read_config()
            except (ValidationError, OSError) as error:
                sys.exit(str(error))
            asyncio.run(serve(config))
        case ["contract", folder]:
            write_contract(Path(folder))
        case _:
            sys.exit(__doc__)


main()
