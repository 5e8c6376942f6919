// Assembles the gateway from its configuration, and routes requests: the fast path first, then Express.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createAdmission } from "@tributary/kit/admission/admission";
import { createHeldRejections, type HeldRejections } from "@tributary/kit/admission/held-rejections";
import { createCallers } from "@tributary/kit/caller/caller";
import { chooseMediaType } from "@tributary/kit/http/accept";
import { createCompression } from "@tributary/kit/http/compression";
import { isPreflight } from "@tributary/kit/http/cors";
import { hasOneHost } from "@tributary/kit/http/host";
import { createIncompleteRequests, type IncompleteRequests } from "@tributary/kit/http/incomplete-requests";
import { limitConnections } from "@tributary/kit/caller/connection-limit";
import { createRevocations, type Revocations } from "@tributary/kit/caller/revocations";
import type { PendingResponses } from "@tributary/kit/process/lifecycle";
import type { ProcessState } from "@tributary/kit/process/process-status";
import { type CallerLimits, createCallerLimits } from "@tributary/kit/rate-limit/caller-limits";
import { createSharedTexts, type SharedTexts } from "@tributary/kit/valkey/shared-texts";
import express, { type NextFunction, type Request, type Response } from "express";
import { createReceipts } from "@tributary/kit/consistency/receipts";
import { rejectBrokenHttp } from "./admit/broken-request.ts";
import { createCharges } from "./admit/charges.ts";
import { applyHeaders, createExchangeFactory, type GatewayExchange } from "./admit/exchange.ts";
import { createOperationAdmission } from "./admit/operation-admission.ts";
import { prefersPage } from "./admit/negotiation.ts";
import type { Config } from "./config.ts";
import { type DocumentsStatus, type DocumentStore, openDocumentStore } from "./documents/document-store.ts";
import { Rejection } from "./errors/rejections.ts";
import { buildGeneration, type GenerationOptions } from "./engine/generation/generation.ts";
import { createFrontPageResponder } from "./front-page.ts";
import { createStateReader } from "./gateway-state.ts";
import { createOwnersPage, listOwners } from "./owners-page.ts";
import { createGraphiql, type Graphiql } from "./graphiql.ts";
import type { GatewayObserver } from "./observations.ts";
import { createEventLoopQueue, type NextIteration } from "./engine/parse/event-loop-queue.ts";
import { createPersistedQueries, type PersistedQueries } from "./engine/parse/persisted-queries.ts";
import { createFastPath } from "./paths/fast.ts";
import { createFullPath, endpointMethods, type FullPath } from "./paths/full.ts";
import type { ReceivedParameters, ReceiveOptions } from "./paths/receive.ts";
import { rejectRequest } from "./paths/rejected-response.ts";
import { createResponseSender, type SendResponse } from "./paths/send-response.ts";
import { createPipeline } from "./pipeline.ts";
import type { PlannerPool } from "./engine/plan/planner/planner-pool.ts";
import type { ClientResponse } from "./response.ts";
import { createEntityCache, type EntityCache } from "./engine/run/caching/entity-cache.ts";
import { createWriteCounts } from "./engine/run/write-counts.ts";
import { followedNameOf } from "./subgraph-settings/subgraph-variables.ts";
import type { SupergraphSubgraph } from "./subgraph-settings/subgraph-settings.ts";
import { createGenerations, type Generation, type Generations } from "./engine/generation/generations.ts";
import type { Settings } from "./settings.ts";
import type { SettingsStore } from "./settings-store.ts";
import { createLastGood } from "./supergraph/last-good.ts";
import { type SupergraphStatus, type SupergraphWatcher, watchSupergraph } from "./supergraph/supergraph-watcher.ts";
import { createSource } from "./supergraph/source.ts";
import type { CacheSizes } from "./telemetry/cache-metrics.ts";
import type { TelemetryObservers } from "./telemetry/gateway-telemetry.ts";

export interface Gateway {
  readonly handler: RequestListener;
  readonly incompleteRequests: IncompleteRequests;
  readonly heldRejections: HeldRejections;
  /** Of a response that the listener sends itself, as a raw list: so that pages can read it. */
  overloadedHeaders(request: IncomingMessage): readonly string[];
  /** Call it before the server listens. */
  prepare(server: Server, pendingResponses: PendingResponses): void;
  isReady(): boolean;
  /** All sizes but that of the persisted queries are 0 before a supergraph is loaded. */
  cacheSizes(): CacheSizes;
  /** Undefined before a supergraph is loaded. */
  supergraphId(): string | undefined;
  /** Whether the source of the supergraph has the one in use. */
  supergraphStatus(): SupergraphStatus;
  /** Of the registered documents; undefined if none are configured. */
  documentsStatus(): DocumentsStatus | undefined;
  readState(): ProcessState;
  /** Of the supergraph in use. */
  listSubgraphs(): readonly SupergraphSubgraph[];
  /** Called after the last request. */
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: Config;
  /** Watched until the gateway closes. */
  readonly settings: SettingsStore;
  readonly observe: GatewayObserver;
  /** Closed with the gateway. */
  readonly plannerPool: PlannerPool;
  readonly graphiqlFolder: string;
  /** Observe each client request and each subgraph fetch. Without them there are no metrics, traces and access log. */
  readonly observers?: TelemetryObservers;
}

/** Responses wait for a compression thread outside of the event loop, so admission would not notice this queue by itself. */
function createResponding({ config, observe, observers }: GatewayOptions) {
  const compression = createCompression();
  const { queueDelayMs } = compression;
  const observer = observers?.admissionObserver;
  return {
    admission: createAdmission({ isOn: config.admission, queueDelayMs, observer }),
    send: createResponseSender({ responseTimeoutMs: config.responseTimeoutMs, compression, observe }),
  };
}

const emptyCache = { entries: 0, weight: 0 };

/** The gateway without a listener. Starts to load its supergraph at once, and serves /graphql as soon as it has loaded one. */
export function createGateway(o: GatewayOptions): Gateway {
  const { config, settings, observe, plannerPool, observers } = o;
  const persistedQueries = createConfiguredQueries(config, observe);
  const documents = openConfiguredDocuments(config, () => generations.current, observe);
  const nextIteration = createEventLoopQueue();
  const revocations = createRevocations();
  const entityCache = createConfiguredEntityCache(config, revocations, observe);
  const generations: Generations = createConfiguredGenerations(
    config,
    { nextIteration, persistedQueries, observe },
    {
      configuration: () => settings.current.subgraphs,
      entityCache,
      plannerPool,
      fetchObserver: observers?.fetchObserver,
      observe,
    },
    documents,
  );
  const { callerLimits, ...checks } = createCallerChecks(config, revocations, nextIteration, observe, observers);
  const receiving: ReceiveOptions = { ...checks.receiving, documents };
  const { admission, send } = createResponding(o);
  const heldRejections = createHeldRejections();
  const pipeline = createPipeline({
    ...receiving, // The charges, and the queue of long steps.
    requestTimeoutMs: config.requestTimeoutMs,
    measuresStages: config.serverTiming,
    isDevelopment: config.profile === "development",
    tagHeader: config.tagHeader,
    receipts: createReceipts(config.consistencyKeys),
    admission: createOperationAdmission(admission),
    heldRejections,
    send,
    observe,
  });
  const createExchange = createExchangeFactory(() => settings.current, observers?.requestObserver);
  const paths = { pipeline, receiving, generations, persistedQueries };
  const fullPath = createFullPath({ ...paths, send, observe });
  const watcher = watchConfiguredSupergraph(config, generations, observe);
  const cacheSizes = () => listCacheSizes(generations.current, persistedQueries, entityCache);
  const parts = { config, settings, generations, watcher, documents, entityCache, admission, callerLimits, cacheSizes };
  const readState = createStateReader(parts);
  const graphiql = createGraphiql(o.graphiqlFolder, config);
  const app = createApp({ config, observe, generations, send, graphiql, fullPath, readState });
  const handle = config.fastPath ? createFastPath({ ...paths, continueInFull: app }) : app;
  settings.watch({ observe, onChange: (changed) => applySettings(changed, generations, observers) });
  return {
    handler: (request, response) => handle(createExchange(request, response)),
    incompleteRequests: receiving.incompleteRequests,
    heldRejections,
    overloadedHeaders: ({ headers }) => settings.current.cors.headersFor(headers.origin),
    prepare: (server, pendingResponses) => prepareServer(server, pendingResponses, config, observe),
    cacheSizes,
    readState,
    supergraphId: () => generations.currentId,
    supergraphStatus: watcher.status,
    documentsStatus: () => documents?.status(),
    listSubgraphs: () => generations.current?.subgraphs ?? [],
    isReady: () => generations.current !== undefined && hasRequiredDocuments(settings.current, documents),
    async close() {
      watcher.stop();
      documents?.stop();
      settings.close();
      admission.close();
      await generations.close();
      await Promise.all([entityCache?.close(), plannerPool.close(), callerLimits.close()]);
      persistedQueries.close();
    },
  };
}

function openConfiguredDocuments(
  { documents, supergraph: { pollMs } }: Config,
  generationInUse: () => Generation | undefined,
  observe: GatewayObserver,
): DocumentStore | undefined {
  return documents && openDocumentStore({ source: documents, pollMs, generationInUse, observe });
}

/** Without documents, `enforce` would reject every request. */
function hasRequiredDocuments({ documentsMode }: Settings, documents: DocumentStore | undefined): boolean {
  return documentsMode !== "enforce" || documents?.loadedAtMs !== undefined;
}

function createConfiguredGenerations(
  config: Config,
  validation: Pick<GenerationOptions["documents"], "nextIteration" | "persistedQueries" | "observe">,
  parts: Pick<GenerationOptions, "configuration" | "entityCache" | "plannerPool" | "fetchObserver" | "observe">,
  documents: DocumentStore | undefined,
): Generations {
  const { introspection, documentTokensMax, operationLimits } = config;
  // A request fetches for at most `requestTimeoutMs`, and its response is sent within `responseTimeoutMs`.
  const graceMs = config.requestTimeoutMs + config.responseTimeoutMs;
  const options: GenerationOptions = {
    documents: { introspection, documentTokensMax, operationLimits, ...validation },
    planning: config.planning,
    introspectionBytesMax: config.introspectionBytesMax,
    overrideLabels: config.overrideLabels,
    fetchSharing: config.fetchSharing,
    writesOf: createWriteCounts(),
    graceMs,
    ...parts,
  };
  return createGenerations({
    build: (supergraphSdl) => buildGeneration(supergraphSdl, options),
    prepare: documents?.prepare,
    graceMs,
    observe: parts.observe,
  });
}

/** At once, so that new connections and names without a subgraph do not wait for a request. */
function applySettings(changed: Settings, { current }: Generations, observers: TelemetryObservers | undefined): void {
  current?.connect(changed.subgraphs);
  observers?.setLogLevel?.(changed.logLevel);
}

function listCacheSizes(
  generation: Generation | undefined,
  persistedQueries: PersistedQueries,
  entityCache: EntityCache | undefined,
): CacheSizes {
  return {
    documents: generation?.operations.size() ?? emptyCache,
    plans: generation?.sizeOfPlans() ?? emptyCache,
    introspection: generation?.stages.sizeOfIntrospection() ?? emptyCache,
    "persisted-queries": persistedQueries.size(),
    entities: entityCache?.size() ?? emptyCache,
  };
}

function createConfiguredQueries(config: Config, observe: GatewayObserver): PersistedQueries {
  return createPersistedQueries({
    shared: createStoreOfQueries(config),
    onEvicted: () => observe({ kind: "cache-evicted", cache: "persisted-queries" }),
  });
}

/** In the store of rate limits, but by a connection of its own: a long text would delay leases. */
function createStoreOfQueries({ rateLimitConfig: { storeUrl, storePassword } }: Config): SharedTexts | undefined {
  if (storeUrl === undefined) return undefined;
  return createSharedTexts(storeUrl, storePassword, "tributary:persisted-queries");
}

function createConfiguredEntityCache(
  config: Config,
  revocations: Revocations,
  observe: GatewayObserver,
): EntityCache | undefined {
  const { entityCache } = config.subgraphs;
  if (!entityCache) return undefined;
  const { requestTimeoutMs } = config;
  return createEntityCache({ ...entityCache, revocations, nameOf: followedNameOf, requestTimeoutMs, observe });
}

function createCallerChecks(
  config: Config,
  revocations: Revocations,
  nextIteration: NextIteration,
  observe: GatewayObserver,
  observers: TelemetryObservers | undefined,
): { readonly callerLimits: CallerLimits; readonly receiving: Omit<ReceiveOptions, "documents"> } {
  const { callerConfig, rateLimitConfig, graphqlBodiesBytesMax: bytesMax } = config;
  const { graphqlBodyBytesMax, jsonLimits, documentCharactersMax } = config;
  const { trustedProxies } = callerConfig;
  const callers = createCallers({
    ...callerConfig,
    revocations,
    onKeysError: (cause) => observe({ kind: "token-keys-failed", cause }),
    onKeysFetched: (isOk) => observe({ kind: "token-keys-fetched", isOk }),
  });
  const incompleteRequests = createIncompleteRequests({ addressKeyOf: callers.addressKeyOf, bytesMax, observe });
  const observeRateLimits = observers?.observeRateLimits;
  const callerLimits = createCallerLimits({ ...rateLimitConfig, trustedProxies, callers, observe: observeRateLimits });
  const charges = createCharges(callerLimits);
  const limits = { graphqlBodyBytesMax, jsonLimits, documentCharactersMax };
  return { callerLimits, receiving: { callers, charges, incompleteRequests, nextIteration, ...limits } };
}

function prepareServer(
  server: Server,
  pendingResponses: PendingResponses,
  { callerConfig, rateLimitConfig }: Config,
  observe: GatewayObserver,
): void {
  rejectBrokenHttp(server, pendingResponses, observe);
  limitConnections(server, { unlimited: [...callerConfig.trustedProxies, ...rateLimitConfig.exempt], observe });
}

function watchConfiguredSupergraph(
  { supergraph: { lastGood, pollMs, ...supergraph } }: Config,
  { load }: Generations,
  observe: GatewayObserver,
): SupergraphWatcher {
  return watchSupergraph({
    subject: "supergraph",
    source: createSource(supergraph),
    pollMs,
    lastGood: lastGood === undefined ? undefined : createLastGood(lastGood, observe),
    load,
    observe,
  });
}

interface AppOptions {
  readonly config: Config;
  readonly observe: GatewayObserver;
  readonly generations: Generations;
  readonly send: SendResponse;
  readonly graphiql: Graphiql;
  readonly fullPath: FullPath;
  readonly readState: Gateway["readState"];
}

interface Locals {
  readonly exchange: GatewayExchange;
  /** Undefined if the fast path has not read the body. */
  readonly received: ReceivedParameters | undefined;
}

/**
 * The Express app, for requests that the fast path does not handle, and for all requests with FAST_PATH=false. Express tries the routes in this
 * order. A response that Express sends, instead of `send`, needs `applyHeaders` first.
 */
function createApp({ config, observe, generations, send, graphiql, fullPath, readState }: AppOptions) {
  const respondWithFrontPage = createFrontPageResponder(config, graphiql.isBuilt, readState);
  const app = express();
  app.disable("x-powered-by").disable("etag").disable("query parser").enable("case sensitive routing");

  app.use((request, response, next) => {
    if (!hasOneHost(request)) {
      throw new Rejection("MALFORMED_REQUEST", "A request has one Host header.", { Connection: "close" });
    }
    // A preflight is 204 on every path: the request after it gets the 404.
    if (!isPreflight(request)) return next();
    const { exchange } = localsOf(response);
    applyHeaders(exchange);
    exchange.settings.cors.permitPreflight(request, response, endpointMethods);
    response.status(204).end();
  });
  app.all("/graphql", (request, response, next) => {
    const { exchange, received } = localsOf(response);
    const isRead = request.method === "GET" || request.method === "HEAD";
    const isForPage = isRead && prefersPage(request.headers.accept);
    if (!isForPage) {
      void fullPath(exchange, received);
      return;
    }
    applyHeaders(exchange);
    if (graphiql.sendPage(response)) return;
    const message = "GraphiQL is not built: run npm run bundle:graphiql. Clients send Accept: application/json.";
    next(new Rejection("NOT_FOUND", message));
  });
  if (config.documents) {
    app.all(/^\/graphql\/[^/]+$/, (_request, response) => {
      void fullPath(localsOf(response).exchange);
    });
  }
  // The string "/" would match the path // too.
  app.all(/^\/$/, (request, response) => send(localsOf(response).exchange, respondWithFrontPage(request)));
  app.all("/schema.graphql", (request, response) =>
    send(localsOf(response).exchange, readSchema(request, generations, config.introspection)),
  );
  app.all("/owners", (request, response) =>
    send(localsOf(response).exchange, readOwners(request, generations, localsOf(response).exchange.settings, config)),
  );
  app.use(
    "/graphiql",
    (_request, response, next) => {
      applyHeaders(localsOf(response).exchange);
      next();
    },
    graphiql.router,
  );
  app.use(() => {
    throw new Rejection("NOT_FOUND");
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const { exchange } = localsOf(response);
    send(exchange, rejectRequest(observe, exchange, "application/json", convertExpressError(error)));
  });

  return (exchange: GatewayExchange, received?: ReceivedParameters): void => {
    const { request, response } = exchange;
    localsOfResponses.set(response, { exchange, received });
    app(request as Request, response as Response, () => {
      // Express calls this for a request target that it cannot parse: it then runs no route, not even the error handler.
      const rejection = new Rejection("MALFORMED_REQUEST", "The request target is not a valid URL path.");
      send(exchange, rejectRequest(observe, exchange, "application/json", rejection));
    });
  };
}

/** Not in `response.locals`, which may be those of a program that embeds the gateway. */
const localsOfResponses = new WeakMap<ServerResponse, Locals>();

function localsOf(response: ServerResponse): Locals {
  const locals = localsOfResponses.get(response);
  if (!locals) throw new Error("The response is of no request of the gateway");
  return locals;
}

/** `GET /schema.graphql`. @throws Rejection */
function readSchema({ method }: Request, { current }: Generations, isIntrospectionOn: boolean): ClientResponse {
  if (method !== "GET" && method !== "HEAD")
    throw new Rejection("METHOD_NOT_ALLOWED", undefined, { Allow: "GET, HEAD" });
  if (!isIntrospectionOn) throw new Rejection("NOT_FOUND");
  if (!current) throw new Rejection("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
  return {
    status: 200,
    contentType: "text/plain; charset=utf-8",
    headers: ["Cache-Control", "no-cache"],
    body: Buffer.from(current.apiSdl),
  };
}

/** `GET /owners`, in development: names of teams are not for clients. HTML, or JSON for GraphiQL. @throws Rejection */
function readOwners(
  { method, headers }: Request,
  { current }: Generations,
  { subgraphs }: Settings,
  { profile }: Config,
): ClientResponse {
  if (profile !== "development") throw new Rejection("NOT_FOUND");
  if (method !== "GET" && method !== "HEAD")
    throw new Rejection("METHOD_NOT_ALLOWED", undefined, { Allow: "GET, HEAD" });
  if (!current) throw new Rejection("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
  const connected = current.connect(subgraphs);
  const owners = listOwners(current.supergraph, (service) => connected.get(service)?.settings.owner);
  const cacheHeaders = ["Cache-Control", "no-store"];
  if (chooseMediaType(headers.accept, ["text/html", "application/json"]) === "application/json")
    return {
      status: 200,
      contentType: "application/json",
      headers: cacheHeaders,
      body: Buffer.from(JSON.stringify(owners)),
    };
  const page = createOwnersPage(owners);
  return {
    status: 200,
    contentType: "text/html; charset=utf-8",
    headers: [...cacheHeaders, "Content-Security-Policy", page.policy, "Referrer-Policy", "no-referrer"],
    body: Buffer.from(page.html),
  };
}

/**
 * Express and its static files throw errors with a `status`, whose messages are not for clients: one below 500 becomes a Rejection. Returns any
 * other error unchanged: a Rejection, or a bug.
 */
function convertExpressError(error: unknown): unknown {
  if (error instanceof Rejection) return error;
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 404) return new Rejection("NOT_FOUND");
  const isClientFault = typeof status === "number" && status < 500;
  return isClientFault ? new Rejection("MALFORMED_REQUEST", "The request could not be parsed.") : error;
}
