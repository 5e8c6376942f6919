import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors";
import { writeProblem } from "@tributary/kit/problem";
import { readRequestId } from "@tributary/kit/request-id";
import express, { type ErrorRequestHandler, type Request, type Response } from "express";
import { abandonBody, ClientGone, createBodyReader } from "./body.ts";
import { prepareServer } from "./connections.ts";
import { createResourceCors } from "./cors.ts";
import { toServiceHeaders } from "./headers.ts";
import { createInFlightLimit } from "./in-flight.ts";
import { isOpen } from "./problems.ts";
import { createProxy } from "./proxy.ts";
import { readQuery } from "./query.ts";
import { type Place, type RouteTable, upstreamPath } from "./route-table.ts";
import type { Route } from "./routes.ts";
import { isHost, readTarget, type Target } from "./target.ts";
import type { Observe } from "./telemetry.ts";
import { readVersion } from "./versions.ts";

export interface RestProxyOptions {
  readonly table: RouteTable;
  /** Scheme, host and port of each service that the table names. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly defaultVersion: number;
  readonly corsOrigins: readonly string[];
  readonly bodyBytesMax: number;
  readonly bodiesInFlightMax: number;
  /** Requests under way at once, for each service. */
  readonly inFlightMax: number;
  readonly upstreamTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly observe: Observe;
}

export interface RestProxy {
  readonly handler: RequestListener;
  /** Has to see the server before it listens. */
  prepare(server: Server): void;
  close(): void;
}

/** The proxy from its parts. READ `answer` FIRST: it is the life of a request. */
export function createRestProxy(o: RestProxyOptions): RestProxy {
  const cors = createResourceCors(o.corsOrigins);
  const readBody = createBodyReader(o);
  const inFlight = createInFlightLimit({ perKeyMax: o.inFlightMax });
  const proxy = createProxy(o);

  async function answer(request: Request, response: Response): Promise<void> {
    // Name and CORS first: refusals carry them too.
    const requestId = nameRequest(request, response);
    watch(request, response, o.observe);
    cors.allowOrigin(request, response);
    // What costs nothing before what waits. Only the table decides where a request goes: never Host, never a header.
    const target = readRequestTarget(request);
    const host = readHost(request, target);
    const { place, version } = findPlace(o, target.path, response);
    if (request.method === "OPTIONS") {
      cors.permitPreflight(request, response, place.allow);
      return answerOptions(request, response, place);
    }
    const route = findRoute(place, request.method, response);
    const query = readQuery(target.query, route.query);
    // The body before the place at the service: a slow sender must not hold one.
    const body = await readBody(request, response);
    const leave = inFlight.enter(route.service);
    if (!leave)
      throw new AppError("SERVICE_UNAVAILABLE", "Too much is under way. Try again.", { retryAfterSeconds: 1 });
    response.once("close", leave);
    const path = upstreamPath(route, version, place.params);
    await proxy.forward(request, response, {
      service: route.service,
      origin: addressOf(o, route),
      path: query === "" ? path : `${path}?${query}`,
      headers: toServiceHeaders(request, { requestId, host, bodyBytes: bodyBytesOf(request, body) }),
      body,
      requestId,
      instance: target.path,
    });
  }

  const app = express().disable("x-powered-by").disable("etag").disable("query parser");
  app.use(answer);
  app.use(createRefusal(o.observe));

  return {
    handler: (request, response) => {
      // Express reads request.url with url.parse, which throws and warns on odd ones, and answers them in HTML: it sees none of it.
      Object.assign(request, { originalUrl: request.url ?? "", url: "/" });
      app(request, response);
    },
    prepare: (server) => prepareServer(server, o.observe),
    close: () => proxy.close(),
  };
}

function nameRequest(request: IncomingMessage, response: ServerResponse): string {
  const requestId = readRequestId(request.headers["x-request-id"]);
  response.setHeader("X-Request-Id", requestId);
  response.setHeader("X-Content-Type-Options", "nosniff");
  return requestId;
}

function watch(request: Request, response: Response, observe: Observe): void {
  const begin = performance.now();
  response.once("close", () => {
    const milliseconds = Math.round(performance.now() - begin);
    const { statusCode: status, writableFinished: finished } = response;
    observe({ kind: "answered", status, finished, milliseconds, ...about(request, response) });
  });
}

function readRequestTarget(request: Request): Target {
  const target = readTarget(request.originalUrl);
  if (!target) throw new AppError("MALFORMED_REQUEST", "The request's target is not a path as URLs have it.");
  return target;
}

/** The host that was asked, for `Forwarded`; exactly one in HTTP/1.1 (RFC 9112, 3.2). */
function readHost(request: IncomingMessage, target: Target): string | undefined {
  const hosts = request.headersDistinct["host"] ?? [];
  const [host] = hosts;
  const isMissing = hosts.length === 0 && request.httpVersion !== "1.0";
  if (isMissing || hosts.length > 1 || (host !== undefined && host !== "" && !isHost(host))) {
    throw new AppError("MALFORMED_REQUEST", "A request has one Host header, with a host in it.");
  }
  return target.authority ?? (host === "" ? undefined : host);
}

function findPlace(
  { table, defaultVersion }: RestProxyOptions,
  fullPath: string,
  response: ServerResponse,
): { readonly place: Place; readonly version: number } {
  const { version, path } = readVersion(fullPath, defaultVersion);
  const place = table.find(version, path);
  if (!place) throw new AppError("NOT_FOUND", "There is nothing at this path.");
  response.setHeader("API-Version", version);
  return { place, version };
}

function answerOptions(request: IncomingMessage, response: ServerResponse, { allow }: Place): void {
  abandonBody(request, response);
  response.writeHead(204, { Allow: allow }).end();
}

function findRoute(place: Place, method: string, response: ServerResponse): Route {
  const route = place.routes.get(method);
  if (route) return route;
  response.setHeader("Allow", place.allow);
  throw new AppError("METHOD_NOT_ALLOWED", `This path takes ${place.allow}.`);
}

function addressOf({ addresses }: RestProxyOptions, { service }: Route): string {
  const address = addresses[service];
  if (address === undefined) throw new Error(`There is no address for the service ${service}.`);
  return address;
}

/** A length is said wherever there is a body or the method makes one expected (RFC 9110, 8.6). */
function bodyBytesOf({ method }: IncomingMessage, body: Buffer | undefined): number | undefined {
  return body?.length ?? (method === "GET" || method === "HEAD" ? undefined : 0);
}

/** Express's place for errors: whatever was thrown above becomes a problem document. */
function createRefusal(observe: Observe): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    if (error instanceof ClientGone) return;
    const known = error instanceof AppError;
    if (!known) observe({ kind: "bug", cause: error, ...about(request, response) });
    if (!isOpen(response)) return void response.destroy();
    abandonBody(request, response);
    const told = known ? error : new AppError("INTERNAL_SERVER_ERROR", "Something went wrong on our side.");
    const instance = readTarget(request.originalUrl)?.path;
    writeProblem(response, told, { instance, requestId: about(request, response).requestId });
  };
}

function about(request: Request, response: Response): { requestId: string; method: string; path: string } {
  const path = request.originalUrl.split("?", 1)[0] ?? "";
  return { requestId: String(response.getHeader("X-Request-Id")), method: request.method, path: path.slice(0, 256) };
}
