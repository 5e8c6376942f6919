import { fileURLToPath } from "node:url";
import express, { type Express, type Router } from "express";
import { AppError } from "./errors.ts";
import { type Authenticate, createAuthenticator } from "./identity.ts";
import { type RunningServer, startServer, stopOnSignals } from "./lifecycle.ts";
import { createLog, type Log } from "./log.ts";
import { migrate } from "./migrate.ts";
import { createDatabase, type Database } from "./postgres.ts";
import { writeProblem } from "./problem.ts";
import { readRequestId } from "./request-id.ts";
import type { ServiceConfig } from "./service-config.ts";
import type { SubgraphDoor } from "./subgraph.ts";
import { createCursors, type Cursors } from "./cursor.ts";

/** What a service's app is made of; tests hand in their own. */
export interface ServiceParts {
  readonly database: Database;
  readonly authenticate: Authenticate;
  readonly cursors: Cursors;
  readonly log: Log;
}

export interface ServiceApp {
  readonly handler: Express;
  stop(): Promise<void>;
}

/** The two doors of a service in one app: `/graphql`, and `/rest/v<N>` for each version. Anything else is a 404 problem. */
export function createServiceApp(doors: {
  readonly graphql: SubgraphDoor;
  readonly rest: Readonly<Record<number, Router>>;
}): ServiceApp {
  const app = express().disable("x-powered-by").disable("etag").enable("case sensitive routing");
  app.use("/graphql", doors.graphql.router);
  for (const [version, router] of Object.entries(doors.rest)) app.use(`/rest/v${version}`, router);
  app.use((request, response) => {
    writeProblem(response, new AppError("NOT_FOUND", "There is nothing at this path."), {
      instance: request.path,
      requestId: readRequestId(request.headers["x-request-id"]),
    });
  });
  return { handler: app, stop: () => doors.graphql.stop() };
}

export interface ServiceProcessOptions {
  readonly name: string;
  readonly config: ServiceConfig;
  /** The folder of the service's migrations. */
  readonly migrations: URL;
  readonly createApp: (parts: ServiceParts) => Promise<ServiceApp>;
  /** What has to hold before the service listens. */
  readonly check?: (database: Database) => Promise<void>;
  /** `migrate` applies the migrations and ends; nothing serves. */
  readonly command: string | undefined;
}

/** A service's process from its parts to its end. */
export async function runService(o: ServiceProcessOptions): Promise<void> {
  const log = createLog({ name: o.name, level: o.config.logLevel });
  if (o.command === "migrate") {
    await migrate({ databaseUrl: o.config.databaseUrl, directory: fileURLToPath(o.migrations), log });
    return;
  }
  const server = await serve(o, log);
  stopOnSignals([server], log);
  // Said last: whoever reads it may send a signal at once.
  log.info({ url: server.url }, "listening");
}

async function serve(o: ServiceProcessOptions, log: Log): Promise<RunningServer> {
  const { config } = o;
  const database = createDatabase({
    url: config.databaseUrl,
    applicationName: o.name,
    connectionsMax: config.connectionsMax,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    acquireTimeoutMs: config.acquireTimeoutMs,
    onError: (error) => log.warn({ err: error }, "a database connection broke"),
  });
  await o.check?.(database);
  const authenticate = createAuthenticator(config);
  const app = await o.createApp({ database, authenticate, cursors: createCursors(config.cursorKeys), log });
  return startServer({
    name: o.name,
    handler: app.handler,
    host: config.host,
    port: config.port,
    log,
    isReady: () => database.isReachable(),
    close: async () => {
      await app.stop();
      await database.close();
    },
    drainDelayMs: config.drainDelayMs,
    shutdownGraceMs: config.shutdownGraceMs,
  });
}
