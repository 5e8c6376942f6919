import type { RequestListener } from "node:http";
import type { ApolloServerPlugin } from "@apollo/server";
import { isPreflight } from "@tributary/kit/http/cors";
import { hasOneHost } from "@tributary/kit/http/host";
import express, { type NextFunction, type Request, type Response } from "express";
import { createOperationCors } from "./admit/cors.ts";
import { createIntroduction, type Exchange, setHeaders } from "./admit/exchange.ts";
import { prefersPage } from "./admit/negotiation.ts";
import type { Config } from "./config.ts";
import { Refusal } from "./errors/codes.ts";
import { createGraphiql, type Graphiql } from "./graphiql.ts";
import { createFastLane } from "./paths/fast.ts";
import { createFullLane, type FullLane, type Received } from "./paths/full.ts";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { createPipeline } from "./pipeline.ts";
import type { PlannerPool } from "./plan/planner/planner-pool.ts";
import { createWriteCounts } from "./run/write-counts.ts";
import { refuse } from "./errors/rejections.ts";
import { type Answer, createWriter, type WriteAnswer } from "./shape/send-response.ts";
import { createFileSource } from "./supergraph/file-source.ts";
import { buildGeneration } from "./generation.ts";
import { createGenerations, type Generations } from "./supergraph/generations.ts";
import { type SupergraphSource, watchSupergraph } from "./supergraph/supergraph-source.ts";
import { createUrlSource } from "./supergraph/url-source.ts";
import type { Watchers } from "./telemetry/gateway-telemetry.ts";
import type { CacheSizes } from "./telemetry/cache-metrics.ts";
import type { Observe } from "./telemetry/observation-log.ts";

export interface Gateway {
  readonly handler: RequestListener;
  /** True once a supergraph is loaded. */
  isReady(): boolean;
  /** How full what it keeps is, by the name of the cache. */
  cacheSizes(): CacheSizes;
  /** A hash of the supergraph that is served. */
  supergraphId(): string | undefined;
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: Config;
  readonly observe: Observe;
  /** Closed with the gateway. */
  readonly planner: PlannerPool;
  readonly graphiqlFolder: string;
  /** Nobody unless given. */
  readonly watchers?: Watchers;
  /** One with hooks for requests sees them all: the fast lane is closed then. */
  readonly apolloPlugins?: readonly ApolloServerPlugin[];
}

/** Automatic persisted queries, by their characters: clients send them again when they were dropped. */
const persistedQueryBounds = { entriesMax: 10_000, weightMax: 20_000_000 };

const nothingKept = { entries: 0, bytes: 0 };

/** The gateway without a port: starts to look for its supergraph at once, and serves as soon as it has one. */
export function createGateway({
  config,
  observe,
  planner,
  graphiqlFolder,
  apolloPlugins = [],
  watchers,
}: GatewayOptions): Gateway {
  const { subgraphUrls, subgraphKeyChecks, pollMs } = config.supergraph;
  const onEvicted = () => observe({ kind: "cache-evicted", cache: "persisted-queries" });
  const persistedQueries = createBoundedMap<string>({ ...persistedQueryBounds, onEvicted });
  const { requests, fetches } = { ...watchers };
  const overrides = { subgraphUrls, subgraphKeyChecks };
  // Of all generations.
  const shared = { persistedQueries, writesOf: createWriteCounts() };
  const about = { ...config, ...shared, ...overrides, planner, plugins: apolloPlugins, fetches, observe };
  const generations = createGenerations({
    build: (supergraphSdl) => buildGeneration(supergraphSdl, about),
    graceMs: config.requestTimeoutMs + config.responseTimeoutMs,
    observe,
  });
  const pipeline = createPipeline({ ...config, exposesPlans: config.profile === "development", observe });
  const write = createWriter({ ...config, observe });
  const lanes = { pipeline, generations, write, observe };
  const introduce = createIntroduction(createOperationCors(config.corsOrigins), requests);
  const graphiql = createGraphiql({ folder: graphiqlFolder, issuerUrl: config.issuerUrl });
  const goOn = createApp({ ...lanes, config, graphiql, fullLane: createFullLane(lanes) });
  const fastLane = config.fastLane ? createFastLane({ ...lanes, persistedQueries, goOn }) : goOn;
  const unwatch = watchSupergraph({ source: createSource(config), pollMs, observe, onSupergraph: generations.load });
  return {
    handler: (request, response) => fastLane(introduce(request, response)),
    cacheSizes: () => ({
      documents: generations.current?.operations.size() ?? nothingKept,
      plans: generations.current?.sizeOfPlans() ?? nothingKept,
      introspection: generations.current?.engine.sizeOfIntrospection() ?? nothingKept,
      "persisted-queries": persistedQueries.size(),
    }),
    supergraphId: () => generations.currentId,
    isReady: () => generations.current !== undefined,
    async close() {
      unwatch();
      await generations.close();
      await planner.close();
    },
  };
}

function createSource({ supergraph: { file, url } }: Config): SupergraphSource {
  if (file !== undefined) return createFileSource(file);
  if (url !== undefined) return createUrlSource({ url });
  throw new Error("readConfig lets no configuration through that has neither SUPERGRAPH_FILE nor SUPERGRAPH_URL");
}

interface AppOptions {
  readonly config: Config;
  readonly observe: Observe;
  readonly generations: Generations;
  readonly write: WriteAnswer;
  readonly graphiql: Graphiql;
  readonly fullLane: FullLane;
}

/** What Express hands from door to door. */
interface Locals {
  readonly exchange: Exchange;
  readonly received: Received | undefined;
}

/** Doors in the order in which a request meets them that the fast lane has not taken. */
function createApp({ config, observe, generations, write, graphiql, fullLane }: AppOptions) {
  const app = express();
  app.disable("x-powered-by").disable("etag").disable("query parser").enable("case sensitive routing");
  const cors = createOperationCors(config.corsOrigins);

  app.use((request, response, next) => {
    if (!hasOneHost(request)) {
      throw new Refusal("MALFORMED_REQUEST", "A request has one Host header.", { Connection: "close" });
    }
    if (!isPreflight(request)) return next();
    setHeaders(localsOf(response).exchange);
    cors.permitPreflight(request, response, "GET, POST, OPTIONS");
    response.status(204).end();
  });
  app.all("/graphql", (request, response, next) => {
    const { exchange, received } = localsOf(response);
    if (request.method !== "GET" || !prefersPage(request.headers.accept)) return void fullLane(exchange, received);
    setHeaders(exchange);
    if (graphiql.sendPage(response)) return;
    next(new Refusal("NOT_FOUND", "GraphiQL is not built. Clients: accept application/json."));
  });
  app.all("/schema.graphql", (request, response) =>
    write(localsOf(response).exchange, readSchema(request, generations, config.introspection)),
  );
  app.use(
    "/graphiql",
    (_request, response, next) => (setHeaders(localsOf(response).exchange), next()),
    graphiql.router,
  );
  app.use(() => {
    throw new Refusal("NOT_FOUND");
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const { exchange } = localsOf(response);
    write(exchange, refuse(observe, exchange, "application/json", toRefusal(error)));
  });

  return (exchange: Exchange, received?: Received): void => {
    const { request, response } = exchange;
    const locals: Locals = { exchange, received };
    app(request as Request, Object.assign(response as Response, { locals }), () => {
      // Express has no door for a target that it cannot read, not even that for errors, and would answer with a page of its own.
      const refusal = new Refusal("MALFORMED_REQUEST", "The request's target is not an address.");
      write(exchange, refuse(observe, exchange, "application/json", refusal));
    });
  };
}

function localsOf(response: Response): Locals {
  return response.locals as unknown as Locals;
}

function readSchema({ method }: Request, { current }: Generations, open: boolean): Answer {
  if (method !== "GET" && method !== "HEAD") throw new Refusal("METHOD_NOT_ALLOWED", undefined, { Allow: "GET, HEAD" });
  if (!open) throw new Refusal("NOT_FOUND");
  if (!current) throw new Refusal("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
  return {
    status: 200,
    contentType: "text/plain; charset=utf-8",
    headers: ["Cache-Control", "no-cache"],
    body: Buffer.from(current.apiSdl),
  };
}

/** Express and its static files say what is wrong by `status`; their texts and pages are not for us. */
function toRefusal(error: unknown): unknown {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (error instanceof Refusal || typeof status !== "number" || status >= 500) return error;
  return status === 404
    ? new Refusal("NOT_FOUND")
    : new Refusal("MALFORMED_REQUEST", "The request cannot be understood.");
}
