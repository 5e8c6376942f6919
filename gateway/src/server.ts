import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { isPreflight } from "@tributary/kit/cors";
import { readRequestId } from "@tributary/kit/request-id";
import express, { type NextFunction, type Request, type Response } from "express";
import { createOperationCors } from "./admit/cors.ts";
import { requireHost } from "./admit/host.ts";
import { prefersPage } from "./admit/negotiation.ts";
import { createTraceParent, readTraceContext } from "@tributary/kit/trace-context";
import type { Config } from "./config.ts";
import { Refusal } from "./errors.ts";
import { createGraphiql, type Graphiql } from "./graphiql.ts";
import { type Caller, createFullLane, refuse } from "./lanes/full.ts";
import { createBoundedCache } from "./parse/bounded-cache.ts";
import { writeAnswer } from "./shape/write.ts";
import { createFileSource } from "./supergraph/file-source.ts";
import { buildGeneration } from "./supergraph/generation.ts";
import { createGenerations, type Generations } from "./supergraph/generations.ts";
import { type SupergraphSource, watchSupergraph } from "./supergraph/supergraph-source.ts";
import { createUrlSource } from "./supergraph/url-source.ts";
import type { Observe } from "./telemetry/observations.ts";

export interface Gateway {
  readonly handler: RequestListener;
  /** True once a supergraph is loaded. */
  isReady(): boolean;
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: Config;
  readonly observe: Observe;
  readonly graphiqlFolder: string;
}

/** Automatic persisted queries: clients send them again when they were dropped. */
const persistedQueryBounds = { entriesMax: 10_000, charactersMax: 20_000_000 };

/** The gateway without a port: starts to look for its supergraph at once, and serves as soon as it has one. */
export function createGateway({ config, observe, graphiqlFolder }: GatewayOptions): Gateway {
  const { subgraphUrls, pollMs } = config.supergraph;
  const persistedQueries = createBoundedCache(persistedQueryBounds);
  const generations = createGenerations({
    build: (supergraphSdl) => buildGeneration(supergraphSdl, { ...config, subgraphUrls, persistedQueries, observe }),
    observe,
  });
  const graphiql = createGraphiql({ folder: graphiqlFolder, issuerUrl: config.issuerUrl });
  const handler = createApp({ config, observe, generations, graphiql });
  const unwatch = watchSupergraph({ source: createSource(config), pollMs, observe, onSupergraph: generations.load });
  return {
    handler,
    isReady: () => generations.current !== undefined,
    close() {
      unwatch();
      return generations.close();
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
  readonly graphiql: Graphiql;
}

/** Doors in the order in which a request meets them. */
function createApp({ config, observe, generations, graphiql }: AppOptions): RequestListener {
  const app = express();
  app.disable("x-powered-by").disable("etag").disable("query parser").enable("case sensitive routing");
  const cors = createOperationCors(config.corsOrigins);
  const fullLane = createFullLane({ ...config, generations, bodyBytesMax: config.graphqlBodyBytesMax, observe });

  app.use((request, response, next) => {
    response.locals["caller"] = introduce(request, response);
    requireHost(request);
    cors.allowOrigin(request, response);
    if (!isPreflight(request)) return next();
    cors.permitPreflight(request, response, "GET, POST, OPTIONS");
    response.status(204).end();
  });
  app.get("/graphql", (request, response, next) => {
    if (request.method !== "GET" || !prefersPage(request.headers.accept)) return next();
    if (!graphiql.sendPage(response))
      throw new Refusal("NOT_FOUND", "GraphiQL is not built. Clients: accept application/json.");
  });
  app.all("/graphql", (request, response) => fullLane(request, response, callerOf(response)));
  app.all("/schema.graphql", (request, response) => answerSchema(request, response, generations, config.introspection));
  app.use("/graphiql", graphiql.router);
  app.use(() => {
    throw new Refusal("NOT_FOUND");
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    writeAnswer(request, response, refuse(observe, callerOf(response), "application/json", toRefusal(error))),
  );
  return (request, response) =>
    app(request as Request, response as Response, () => void refuseTarget(observe, request, response));
}

/** Express has no door for a target that it cannot read, not even that for errors, and would answer with a page of its own. */
function refuseTarget(observe: Observe, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const caller = introduce(request, response);
  const refusal = new Refusal("MALFORMED_REQUEST", "The request's target is not an address.");
  return writeAnswer(request, response, refuse(observe, caller, "application/json", refusal));
}

/** Names the request for everybody: its id and its trace are in the answer's headers, and in what subgraphs get. */
function introduce(request: IncomingMessage, response: ServerResponse): Caller {
  const caller: Caller = {
    requestId: readRequestId(request.headers["x-request-id"]),
    trace: readTraceContext(request.headers["traceparent"]),
  };
  response.setHeader("X-Request-Id", caller.requestId);
  response.setHeader("traceparent", createTraceParent(caller.trace));
  return caller;
}

function callerOf(response: Response): Caller {
  return response.locals["caller"] as Caller;
}

async function answerSchema(
  request: Request,
  response: Response,
  generations: Generations,
  open: boolean,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new Refusal("METHOD_NOT_ALLOWED", undefined, { Allow: "GET, HEAD" });
  if (!open) throw new Refusal("NOT_FOUND");
  const { current } = generations;
  if (!current) throw new Refusal("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
  const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-cache" };
  await writeAnswer(request, response, { status: 200, headers, body: current.apiSdl });
}

/** Express and its static files say what is wrong by `status`; their texts and pages are not for us. */
function toRefusal(error: unknown): unknown {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (error instanceof Refusal || typeof status !== "number" || status >= 500) return error;
  return status === 404
    ? new Refusal("NOT_FOUND")
    : new Refusal("MALFORMED_REQUEST", "The request cannot be understood.");
}
