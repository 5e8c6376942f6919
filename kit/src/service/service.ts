// `main.ts` calls `runService`, which calls the `createApp` of the service's app.ts, which calls `createServiceApp`.
import { AsyncLocalStorage } from "node:async_hooks";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { createAdmission } from "../admission/admission.ts";
import { createAdmittedHandler } from "./admitted-handler.ts";
import { createCursors, type Cursors } from "../lists/cursor.ts";
import { ConfigError, type Profile } from "../process/env.ts";
import { AppError } from "../errors/app-error.ts";
import { createAuthenticator } from "../identity/token-verifier.ts";
import type { Authenticate, Identity } from "../identity/tokens.ts";
import { type RunningServer, startServer } from "../process/lifecycle.ts";
import { stopOnSignals } from "../process/main.ts";
import { createLog, type Log } from "../process/log.ts";
import { readAppliedMigrations, readMigrationState } from "../postgres/applied-migrations.ts";
import { migrate } from "../postgres/migrate.ts";
import { warnOfMisspeltVariables } from "../process/misspelt-variables.ts";
import { createDatabase, type Database, type DatabaseOptions, type Writer } from "../postgres/postgres.ts";
import { createCaller, runForCaller } from "../postgres/waiting-caller.ts";
import { writeProblem } from "../http/problem.ts";
import { readRequestId } from "../http/request-id.ts";
import { createRestEndpoint, type Handlers } from "../rest/rest-endpoint.ts";
import { publicPath, respondWithError } from "../rest/error-responses.ts";
import { type ChangeFeed, createChangeFeed, type RevocationSource } from "../feed/change-feed.ts";
import { startFeedListener } from "../feed/feed-listener.ts";
import { createFloodLog } from "../feed/feed-telemetry.ts";
import { openOutbox, type RecordedChange } from "../feed/outbox.ts";
import type { RouteDeclaration } from "../rest/routes.ts";
import type { ServiceConfig } from "./service-config.ts";
import type { FieldGroups } from "../graphql/cache-metadata.ts";
import { createSubgraphEndpoint } from "../graphql/subgraph-endpoint.ts";
import { createFailureLog } from "../telemetry/failure-log.ts";
import { createRequestFailures } from "../telemetry/request-failures.ts";
import { createServiceTelemetry, type ServiceTelemetry } from "../telemetry/service-telemetry.ts";
import type { ServiceObserver } from "../telemetry/service-observer.ts";

export interface ServiceParts {
  readonly name: string;
  readonly profile: Profile;
  readonly database: Database;
  readonly authenticate: Authenticate;
  readonly cursors: Cursors;
  readonly log: Log;
  /** Without it requests are neither counted nor traced nor in the access log. */
  readonly observer?: ServiceObserver | undefined;
}

export interface ServiceApp {
  readonly handler: Express;
  readonly groupsOfChange: (change: RecordedChange) => readonly string[] | undefined;
  readonly revocations: RevocationSource | undefined;
  /** Does not close the database. */
  stop(): Promise<void>;
}

export interface ServiceCaching {
  readonly freshSeconds: number;
  /** After that, while the service fails. */
  readonly staleIfErrorSeconds: number;
  readonly fieldGroups: FieldGroups;
  /** Undefined for a kind of change that this release does not know. */
  readonly groupsOfChange: (change: RecordedChange) => readonly string[] | undefined;
}

export interface ServiceEndpoints<Context extends object, R extends readonly RouteDeclaration[]> {
  readonly schema: URL;
  readonly resolvers: object;
  readonly createContext: (identity: Identity) => Context;
  readonly routes: R;
  readonly caching: ServiceCaching;
  /** Absent if the service revokes no tokens. */
  readonly revocations?: RevocationSource;
  /** By REST version. */
  readonly handlers: Readonly<Record<number, Handlers<R>>>;
}

interface ServiceAppParts extends Omit<ServiceParts, "cursors" | "database"> {
  readonly database: Pick<Writer, "write">;
}

/** Any other path than those of the two endpoints is a 404. @throws ConfigError that names each route without a handler, and vice versa. */
export async function createServiceApp<Context extends object, const R extends readonly RouteDeclaration[]>(
  { name, profile, database, authenticate, log, observer }: ServiceAppParts,
  endpoints: ServiceEndpoints<Context, R>,
): Promise<ServiceApp> {
  const { routes, caching, handlers } = endpoints;
  requireHandlers(routes, handlers);
  const typeDefs = await readFile(endpoints.schema, "utf8");
  const failures = createRequestFailures({ service: name, log, observer });
  const graphql = await createSubgraphEndpoint({
    typeDefs,
    resolvers: endpoints.resolvers,
    createContext: endpoints.createContext,
    ...caching,
    profile,
    authenticate,
    database,
    log,
    failures,
    observer,
  });
  const app = express().disable("x-powered-by").disable("etag").enable("case sensitive routing");
  if (observer) app.use((request, response, next) => observer.observe(request, response, next));
  app.use((request, response, next) => runForCaller(createCaller(request, response), next));
  app.use("/graphql", graphql.router);
  for (const [version, versionHandlers] of Object.entries(handlers)) {
    const options = {
      version: Number(version),
      routes,
      handlers: versionHandlers,
      authenticate,
      database,
      failures,
      observer,
    };
    app.use(`/rest/v${version}`, createRestEndpoint(options));
  }
  app.use(respondNotFound);
  // A path that is not percent-encoded UTF-8: Express would respond with an HTML page.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    respondWithError(failures, request, response, toPathError(error));
  });
  return {
    handler: app,
    groupsOfChange: caching.groupsOfChange,
    revocations: endpoints.revocations,
    stop() {
      failures.close();
      observer?.close();
      return graphql.stop();
    },
  };
}

type HandlersByVersion = Readonly<Record<number, Readonly<Record<string, unknown>>>>;

// `npm start` runs the code without its types, so the compiler's check is not enough.
function requireHandlers(routes: readonly RouteDeclaration[], handlers: HandlersByVersion): void {
  const problems = [...findRoutesWithoutHandler(routes, handlers), ...findHandlersWithoutRoute(routes, handlers)];
  if (problems.length > 0)
    throw new ConfigError(problems, "The REST routes and handlers of this service do not match:");
}

function findRoutesWithoutHandler(routes: readonly RouteDeclaration[], handlers: HandlersByVersion): readonly string[] {
  return routes.flatMap(({ id, method, path, versions }) => {
    const unserved = versions.filter((version) => typeof handlers[version]?.[id] !== "function");
    if (unserved.length === 0) return [];
    const remedy = "Add one, or remove the route or version.";
    return [`${method} ${path} (${id}) has no handler in ${nameVersions(unserved)}. ${remedy}`];
  });
}

function findHandlersWithoutRoute(routes: readonly RouteDeclaration[], handlers: HandlersByVersion): readonly string[] {
  const servedVersions = Object.keys(handlers).map(Number);
  const routeIds = new Set(routes.map(({ id }) => id));
  const handlerIds = new Set(Object.values(handlers).flatMap((versionHandlers) => Object.keys(versionHandlers)));
  const unusedIds = [...handlerIds].filter((id) => !routeIds.has(id));
  return unusedIds.map((id) => {
    const versions = servedVersions.filter((version) => Object.hasOwn(handlers[version] ?? {}, id));
    return `The handler ${id} in ${nameVersions(versions)} has no route with this id. Declare the route, or remove the handler.`;
  });
}

function nameVersions(versions: readonly number[]): string {
  return `${versions.length === 1 ? "version" : "versions"} ${versions.join(", ")}`;
}

function respondNotFound(request: Request, response: Response): void {
  const error = new AppError("NOT_FOUND", "There is nothing at this path.");
  const requestId = readRequestId(request.headers["x-request-id"]);
  writeProblem(response, error, { instance: publicPath(request), requestId });
}

/** Express throws a URIError for a path that it cannot decode. */
function toPathError(error: unknown): unknown {
  if (!(error instanceof URIError)) return error;
  return new AppError("MALFORMED_REQUEST", "The path is not text in percent-encoded UTF-8.");
}

export interface ServiceProcessOptions {
  readonly name: string;
  readonly config: ServiceConfig;
  readonly migrations: URL;
  readonly createApp: (parts: ServiceParts) => Promise<ServiceApp>;
  /** Throws a ConfigError if the service must not run on this database. */
  readonly check?: (database: Database) => Promise<void>;
  /** `migrate` applies the pending migrations and exits. Without an argument the service starts, and applies none. */
  readonly args: readonly string[];
}

/** Resolves after the migration, or once the service listens. @throws ConfigError for an unknown argument. */
export async function runService(options: ServiceProcessOptions): Promise<void> {
  const { name, config } = options;
  if (readCommand(options.args) === "migrate") {
    const migrationLog = createLog({ name, level: config.logLevel });
    const directory = fileURLToPath(options.migrations);
    await migrate({ databaseUrl: config.databaseUrl, directory, log: migrationLog });
    await warnOfEditedMigrations(config.databaseUrl, directory, migrationLog);
    return;
  }
  const telemetry = await createServiceTelemetry(name, config);
  const { log } = telemetry;
  warnOfMisspeltVariables(log, config.misspeltVariables);
  const server = await serve(options, telemetry);
  stopOnSignals([server], log);
  // Last: a program that waits for this line may send a signal immediately.
  log.info({ url: server.url }, "listening");
}

/** No error: the previous release runs with the same database, so an edit must not prevent a deployment. */
async function warnOfEditedMigrations(databaseUrl: string, directory: string, log: Log): Promise<void> {
  const { edited } = await readAppliedMigrations(databaseUrl, directory);
  if (edited.length === 0) return;
  log.warn({ edited }, "migrations were edited after they were applied: this database does not have the edits");
}

function readCommand([command, surplusArgument]: readonly string[]): "migrate" | "serve" {
  if (command !== undefined && command !== "migrate") throw unknownArgument(`command ${command}`);
  if (surplusArgument !== undefined) throw unknownArgument(`argument ${surplusArgument}`);
  return command ?? "serve";
}

function unknownArgument(argument: string): ConfigError {
  return new ConfigError([`Unknown ${argument}. The only command is migrate.`], "The arguments are invalid:");
}

/** The feed, the admin listener and, last, the server for clients. */
async function serve(options: ServiceProcessOptions, telemetry: ServiceTelemetry): Promise<RunningServer> {
  const { name, config } = options;
  const { log, observer } = telemetry;
  // `app` is assigned below: the feed reads changes only once it has a client.
  const feed = createServiceFeed(options, () => app, telemetry);
  const database = openDatabase(options, telemetry, () => feed.onCommit());
  await options.check?.(database);
  const authenticate = createAuthenticator({
    issuer: config.issuer,
    audience: config.audience,
    jwksUrl: config.jwksUrl,
    userIdClaim: config.userIdClaim,
    trace: telemetry.trace,
    onKeysFetched: telemetry.countKeysFetch,
    onKeysError: (error) => log.warn({ err: error }, "token keys could not be fetched: the known keys remain in use"),
  });
  const cursors = createCursors(config.cursorKeys);
  const app = await options.createApp({
    name,
    profile: config.profile,
    database,
    authenticate,
    cursors,
    log,
    observer,
  });
  const feedListener = await startFeedListener({
    feed,
    host: config.host,
    port: config.feedPort,
    keys: config.feedKeys,
    observer: telemetry.feedObserver,
  });
  log.debug({ url: `${feedListener.url}/changes` }, "change feed listening");
  const admin = await telemetry.startAdmin();
  const admission = createAdmission({ isOn: config.admission, observer: telemetry.admissionObserver });
  const server = await startServer({
    name,
    handler: createAdmittedHandler(admission, app.handler),
    requestsInFlightMax: config.requestsInFlightMax,
    onOverloaded: () => telemetry.admissionObserver.onRejected("unread"),
    host: config.host,
    port: config.port,
    log,
    isReady: () => database.isReachable(),
    readinessFields: () => config.build,
    servesStatus: config.profile === "development",
    readState: async () => {
      const migrations = await readMigrationState(database, fileURLToPath(options.migrations));
      const { total, idle, waiting } = database.readPool();
      return {
        ...config.build,
        admission: admission.readState(),
        database: { connections: total, idle, waiting, connectionsMax: config.connectionsMax, migrations },
        feedReaders: feedListener.countStreams(),
      };
    },
    close: async () => {
      admission.close();
      await Promise.all([feedListener.close(), feed.close(), app.stop()]);
      await database.close();
      await Promise.all([admin?.close(), telemetry.trace.stop()]);
    },
    drainDelayMs: config.drainDelayMs,
    shutdownGraceMs: config.shutdownGraceMs,
  });
  admin?.reportReadiness(server.readiness);
  admin?.reportStatus(server.status);
  return server;
}

function openDatabase(
  { name, config }: ServiceProcessOptions,
  { log, observePool, aroundStatement }: ServiceTelemetry,
  onCommit: () => void,
) {
  const options: DatabaseOptions = {
    url: config.databaseUrl,
    applicationName: name,
    connectionsMax: config.connectionsMax,
    statementTimeoutMs: config.statementTimeoutMs,
    lockTimeoutMs: config.lockTimeoutMs,
    acquireTimeoutMs: config.acquireTimeoutMs,
    // Outside of requests: a connection has the context of the request that opened it.
    onError: AsyncLocalStorage.bind((error: Error) => log.warn({ err: error }, "a database connection broke")),
    onCommit,
  };
  const database = createDatabase(aroundStatement ? { ...options, aroundStatement } : options);
  observePool(database, config.connectionsMax);
  return database;
}

function createServiceFeed(
  { name, config }: ServiceProcessOptions,
  app: () => ServiceApp,
  { log, countFeedDatabaseLost, showOutboxChanges }: ServiceTelemetry,
): ChangeFeed {
  const { databaseUrl } = config;
  const applicationName = `${name}-feed`;
  const failures = createFailureLog(log);
  return createChangeFeed({
    openOutbox: ({ onNotified, onLost }) => openOutbox({ databaseUrl, applicationName, onNotified, onLost }),
    groupsOf: (change) => app().groupsOfChange(change),
    revocations: {
      ofChange(change) {
        const { revocations } = app();
        return revocations ? revocations.ofChange(change) : [];
      },
      list: async (limit) => app().revocations?.list(limit) ?? [],
    },
    onTrimmed: showOutboxChanges,
    onFlood: createFloodLog(log),
    onError(error) {
      countFeedDatabaseLost();
      failures.report(
        { service: "database", replica: undefined, reason: "FEED_FAILED" },
        { err: error },
        "the change feed failed: its clients resume at another replica, or drop what they have cached; further failures are counted",
      );
    },
  });
}
