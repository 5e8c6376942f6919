import type { RequestListener } from "node:http";
import type { ApolloServerPlugin } from "@apollo/server";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { isPreflight } from "@tributary/kit/http/cors";
import { hasOneHost } from "@tributary/kit/http/host";
import express, { type NextFunction, type Request, type Response } from "express";
import { createOperationCors } from "./admit/cors.ts";
import { applyHeaders, createExchangeFactory, type GatewayExchange } from "./admit/exchange.ts";
import { prefersPage } from "./admit/negotiation.ts";
import type { Config } from "./config.ts";
import { Rejection, rejectRequest } from "./errors/rejections.ts";
import { buildGeneration } from "./generation.ts";
import { createGraphiql, type Graphiql } from "./graphiql.ts";
import type { GatewayObserver } from "./observations.ts";
import { createFastPath } from "./paths/fast.ts";
import { createFullPath, type FullPath, type Received } from "./paths/full.ts";
import { createPipeline } from "./pipeline.ts";
import type { PlannerPool } from "./plan/planner/planner-pool.ts";
import type { ClientResponse } from "./response.ts";
import { createWriteCounts } from "./run/write-counts.ts";
import { createResponseSender, type SendResponse } from "./shape/send-response.ts";
import { createFileSource } from "./supergraph/file-source.ts";
import { createGenerations, type Generations } from "./supergraph/generations.ts";
import { type SupergraphSource, watchSupergraph } from "./supergraph/supergraph-source.ts";
import { createUrlSource } from "./supergraph/url-source.ts";
import type { CacheSizes } from "./telemetry/cache-metrics.ts";
import type { GatewayObservers } from "./telemetry/gateway-telemetry.ts";

export interface Gateway {
  readonly handler: RequestListener;
  /** True once a supergraph is loaded. */
  isReady(): boolean;
  cacheSizes(): CacheSizes;
  /** A hash of the supergraph in use. */
  supergraphId(): string | undefined;
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: Config;
  readonly observe: GatewayObserver;
  /** Closed with the gateway. */
  readonly plannerPool: PlannerPool;
  readonly graphiqlFolder: string;
  readonly watchers?: GatewayObservers;
  /** A plugin with hooks for requests sees all requests: the fast path is off then. */
  readonly apolloPlugins?: readonly ApolloServerPlugin[];
}

/** The weight is in characters. A client sends an evicted query again. */
const persistedQueryBounds = { entriesMax: 10_000, weightMax: 20_000_000 };

const emptyCache = { entries: 0, bytes: 0 };

/** The gateway without a listener. Starts to load its supergraph at once, and serves as soon as it has loaded one. */
export function createGateway({
  config,
  observe,
  plannerPool,
  graphiqlFolder,
  apolloPlugins = [],
  watchers,
}: GatewayOptions): Gateway {
  const { subgraphUrls, subgraphKeyChecks, pollMs } = config.supergraph;
  const onEvicted = () => observe({ kind: "cache-evicted", cache: "persisted-queries" });
  const persistedQueries = createBoundedMap<string>({ ...persistedQueryBounds, onEvicted });
  const { requests, fetches } = { ...watchers };
  const overrides = { subgraphUrls, subgraphKeyChecks };
  // The same for all generations.
  const shared = { persistedQueries, writesOf: createWriteCounts() };
  const about = { ...config, ...shared, ...overrides, plannerPool, plugins: apolloPlugins, fetches, observe };
  const generations = createGenerations({
    build: (supergraphSdl) => buildGeneration(supergraphSdl, about),
    graceMs: config.requestTimeoutMs + config.responseTimeoutMs,
    observe,
  });
  const pipeline = createPipeline({ ...config, exposesPlans: config.profile === "development", observe });
  const send = createResponseSender({ ...config, observe });
  const parts = { pipeline, generations, send, observe };
  const createExchange = createExchangeFactory(createOperationCors(config.corsOrigins), requests);
  const graphiql = createGraphiql({ folder: graphiqlFolder, issuerUrl: config.issuerUrl });
  const app = createApp({ ...parts, config, graphiql, fullPath: createFullPath(parts) });
  const handle = config.fastPath ? createFastPath({ ...parts, persistedQueries, continueInFull: app }) : app;
  const unwatch = watchSupergraph({ source: createSource(config), pollMs, observe, onSupergraph: generations.load });
  return {
    handler: (request, response) => handle(createExchange(request, response)),
    cacheSizes: () => ({
      documents: generations.current?.operations.size() ?? emptyCache,
      plans: generations.current?.sizeOfPlans() ?? emptyCache,
      introspection: generations.current?.stages.sizeOfIntrospection() ?? emptyCache,
      "persisted-queries": persistedQueries.size(),
    }),
    supergraphId: () => generations.currentId,
    isReady: () => generations.current !== undefined,
    async close() {
      unwatch();
      await generations.close();
      await plannerPool.close();
    },
  };
}

function createSource({ supergraph: { file, url } }: Config): SupergraphSource {
  if (file !== undefined) return createFileSource(file);
  if (url !== undefined) return createUrlSource({ url });
  throw new Error("readConfig accepts no configuration without SUPERGRAPH_FILE and SUPERGRAPH_URL");
}

interface AppOptions {
  readonly config: Config;
  readonly observe: GatewayObserver;
  readonly generations: Generations;
  readonly send: SendResponse;
  readonly graphiql: Graphiql;
  readonly fullPath: FullPath;
}

/** Express's `response.locals`. */
interface Locals {
  readonly exchange: GatewayExchange;
  readonly received: Received | undefined;
}

/** The Express app, for requests that the fast path does not take. Routes are in the order in which Express tries them. */
function createApp({ config, observe, generations, send, graphiql, fullPath }: AppOptions) {
  const app = express();
  app.disable("x-powered-by").disable("etag").disable("query parser").enable("case sensitive routing");
  const cors = createOperationCors(config.corsOrigins);

  app.use((request, response, next) => {
    if (!hasOneHost(request)) {
      throw new Rejection("MALFORMED_REQUEST", "A request has one Host header.", { Connection: "close" });
    }
    if (!isPreflight(request)) return next();
    applyHeaders(localsOf(response).exchange);
    cors.permitPreflight(request, response, "GET, POST, OPTIONS");
    response.status(204).end();
  });
  app.all("/graphql", (request, response, next) => {
    const { exchange, received } = localsOf(response);
    if (request.method !== "GET" || !prefersPage(request.headers.accept)) return void fullPath(exchange, received);
    applyHeaders(exchange);
    if (graphiql.sendPage(response)) return;
    next(new Rejection("NOT_FOUND", "GraphiQL is not built. Clients: accept application/json."));
  });
  app.all("/schema.graphql", (request, response) =>
    send(localsOf(response).exchange, readSchema(request, generations, config.introspection)),
  );
  app.use(
    "/graphiql",
    (_request, response, next) => (applyHeaders(localsOf(response).exchange), next()),
    graphiql.router,
  );
  app.use(() => {
    throw new Rejection("NOT_FOUND");
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const { exchange } = localsOf(response);
    send(exchange, rejectRequest(observe, exchange, "application/json", toRejection(error)));
  });

  return (exchange: GatewayExchange, received?: Received): void => {
    const { request, response } = exchange;
    const locals: Locals = { exchange, received };
    app(request as Request, Object.assign(response as Response, { locals }), () => {
      // Express calls this for a request target that it cannot parse: it then runs no route, not even the error handler.
      const rejection = new Rejection("MALFORMED_REQUEST", "The request target is not a valid URL path.");
      send(exchange, rejectRequest(observe, exchange, "application/json", rejection));
    });
  };
}

function localsOf(response: Response): Locals {
  return response.locals as unknown as Locals;
}

function readSchema({ method }: Request, { current }: Generations, introspectionIsOn: boolean): ClientResponse {
  if (method !== "GET" && method !== "HEAD")
    throw new Rejection("METHOD_NOT_ALLOWED", undefined, { Allow: "GET, HEAD" });
  if (!introspectionIsOn) throw new Rejection("NOT_FOUND");
  if (!current) throw new Rejection("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
  return {
    status: 200,
    contentType: "text/plain; charset=utf-8",
    headers: ["Cache-Control", "no-cache"],
    body: Buffer.from(current.apiSdl),
  };
}

/** Errors of Express and its static files have a `status`. Their messages are not for clients. */
function toRejection(error: unknown): unknown {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (error instanceof Rejection || typeof status !== "number" || status >= 500) return error;
  return status === 404
    ? new Rejection("NOT_FOUND")
    : new Rejection("MALFORMED_REQUEST", "The request could not be parsed.");
}
