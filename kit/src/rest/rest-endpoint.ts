// Serves a service's REST routes. The order of a request: method (405, or 204 to OPTIONS), `Vary`, token (401), query (400),
// body (413, 415, 400), deadline passed (503), handler, conditions (304), response.
import express, { type Request, type Response, type Router } from "express";
import { AppError, type ParameterProblem } from "../errors/app-error.ts";
import type { Authenticate, Identity } from "../identity/tokens.ts";
import { mediaTypes, readBody } from "./body.ts";
import { doesVaryByCaller, type RepresentationMetadata, toCachingHeaders, writeGroups } from "./caching.ts";
import { hasConditions, isNotModified, toValidatorHeaders } from "./conditions.ts";
import { invalidQuery, parseQuery } from "./query.ts";
import { listMethods, publicPath, respondWithError, respondToUndeclaredMethod } from "./error-responses.ts";
import type { RouteDeclaration } from "./routes.ts";
import { runAndAddWritePosition } from "../consistency/write-position-header.ts";
import type { Writer } from "../postgres/postgres.ts";
import { requireWaiting } from "../postgres/waiting-caller.ts";
import type { RequestFailures } from "../telemetry/request-failures.ts";
import type { ServiceObserver } from "../telemetry/service-observer.ts";

/** Only the syntax of query and body is checked before; a handler validates the values. */
export interface RestRequest {
  readonly identity: Identity;
  readonly params: Readonly<Record<string, string>>;
  /** Of a repeated parameter the first value. */
  readonly query: Readonly<Record<string, string>>;
  /** Reported by the handler of a GET that declares query parameters, with its own. Empty for other requests, which are rejected. */
  readonly queryProblems: readonly ParameterProblem[];
  readonly header: (name: string) => string | undefined;
  readonly body: unknown;
  readonly path: string;
  readonly isConditional: boolean;
}

/** The `:id` of the route's path. */
export function idOf({ params }: RestRequest): string {
  return params["id"] ?? "";
}

export interface RestResponse {
  readonly status: number;
  /** Set after the caching and validator headers; replace those of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** JSON; takes precedence over `body`. */
  readonly bytes?: Buffer;
  readonly representation?: RepresentationMetadata;
  readonly invalidates?: readonly string[];
}

/** The body is loaded later, and only if the conditions of the request do not lead to a 304. */
export interface ConditionalResponse extends RepresentationMetadata {
  load(): Promise<RestResponse>;
}

export type RestHandler = (request: RestRequest) => Promise<RestResponse | ConditionalResponse>;

export type Handlers<R extends readonly RouteDeclaration[]> = Readonly<Record<R[number]["id"], RestHandler>>;

export interface RestEndpointOptions<R extends readonly RouteDeclaration[]> {
  readonly version: number;
  readonly routes: R;
  readonly handlers: Handlers<R>;
  readonly authenticate: Authenticate;
  readonly database: Pick<Writer, "write">;
  readonly failures: RequestFailures;
  readonly observer?: ServiceObserver | undefined;
}

/** Serves one version of a service's REST endpoint: exactly its declared routes. */
export function createRestEndpoint<const R extends readonly RouteDeclaration[]>(
  options: RestEndpointOptions<R>,
): Router {
  const { version, failures, observer } = options;
  const router = express.Router({ caseSensitive: true, strict: true });
  const routes = options.routes.filter((route) => route.versions.includes(version));
  const paths = new Set(routes.map((route) => route.path));
  for (const path of paths) {
    const pathRoutes = routes.filter((route) => route.path === path);
    observer?.announceRoute("rest", `/v${version}${path}`, listMethods(pathRoutes));
    router.all(path, (request, response) => {
      observer?.nameRoute("rest", `/v${version}${path}`);
      void serve(options, pathRoutes, request, response).catch((error: unknown) =>
        respondWithError(failures, request, response, error),
      );
    });
  }
  router.use((request, response) => {
    observer?.nameRoute("rest", "other");
    respondWithError(failures, request, response, new AppError("NOT_FOUND", "There is nothing at this path."));
  });
  return router;
}

/** The limit of the REST proxy too. */
const bodyBytesMax = 65_536;

async function serve<R extends readonly RouteDeclaration[]>(
  options: RestEndpointOptions<R>,
  pathRoutes: readonly RouteDeclaration[],
  request: Request,
  response: Response,
): Promise<void> {
  const routeMethod = request.method === "HEAD" ? "GET" : request.method;
  const route = pathRoutes.find(({ method }) => method === routeMethod);
  if (!route) return respondToUndeclaredMethod(options.failures, pathRoutes, request, response);
  const queryNames = new Set(new URLSearchParams(queryOf(request.url)).keys());
  const variesByCaller = doesVaryByCaller(route, queryNames);
  // Here, since the request can be rejected later, and by `varyByAudience` before `load` can fail: problem documents need the header too.
  if (variesByCaller) response.setHeader("Vary", "Authorization");
  if (route.method === "PATCH") response.setHeader("Accept-Patch", mediaTypes.PATCH.join(", "));
  const isRead = route.method === "GET";
  const result = await (isRead ? handle(options, route, request) : handleWrite(options, route, request, response));
  await respond({ route, variesByCaller, request, response }, result);
}

function handleWrite<R extends readonly RouteDeclaration[]>(
  options: RestEndpointOptions<R>,
  route: RouteDeclaration,
  request: Request,
  response: Response,
): Promise<RestResponse | ConditionalResponse> {
  const addHeader = (name: string, value: string) => response.setHeader(name, value);
  return runAndAddWritePosition(options.database, addHeader, () => handle(options, route, request));
}

async function handle<R extends readonly RouteDeclaration[]>(
  options: RestEndpointOptions<R>,
  route: RouteDeclaration,
  request: Request,
): Promise<RestResponse | ConditionalResponse> {
  const header = (name: string) => request.get(name);
  const isRead = route.method === "GET";
  const identity = await options.authenticate(request.headers.authorization);
  const { values, problems } = parseQuery(queryOf(request.url), route.query ?? []);
  const mayBeReportedByHandler = isRead && route.query !== undefined && route.query.length > 0;
  if (problems.length > 0 && !mayBeReportedByHandler) throw invalidQuery(problems);
  const restRequest: RestRequest = {
    identity,
    params: request.params as Record<string, string>,
    query: Object.fromEntries(values),
    queryProblems: problems,
    header,
    body: isRead ? undefined : await readBody(request, route.method, bodyBytesMax),
    path: publicPath(request),
    isConditional: isRead && hasConditions(header),
  };
  requireWaiting();
  const handler = options.handlers[route.id as R[number]["id"]];
  const result = await handler(restRequest);
  // `readFilters` and `respondWithList` have thrown these problems, if the handler called them.
  if (problems.length > 0) throw invalidQuery(problems);
  return result;
}

function queryOf(url: string): string {
  const questionMarkIndex = url.indexOf("?");
  return questionMarkIndex === -1 ? "" : url.slice(questionMarkIndex + 1);
}

interface RestExchange {
  readonly route: RouteDeclaration;
  readonly variesByCaller: boolean;
  readonly request: Request;
  readonly response: Response;
}

/** Evaluates the conditions again after the body is loaded, because the row may have changed in between. */
async function respond(exchange: RestExchange, result: RestResponse | ConditionalResponse): Promise<void> {
  if (!("load" in result)) return writeUnlessNotModified(exchange, result);
  varyByAudience(exchange, result);
  if (isCachedResponseValid(exchange, result)) return writeNotModified(exchange, result);
  writeUnlessNotModified(exchange, await result.load());
}

function writeUnlessNotModified(exchange: RestExchange, result: RestResponse): void {
  const { representation } = result;
  // RFC 9110, 13.2.1: conditions count only if the response would be successful without them.
  const mayBeNotModified = exchange.route.method === "GET" && result.status === 200;
  if (mayBeNotModified && representation) {
    varyByAudience(exchange, representation);
    if (isCachedResponseValid(exchange, representation)) return writeNotModified(exchange, representation);
  }
  write(exchange, result);
}

function varyByAudience({ response }: RestExchange, { audience }: RepresentationMetadata): void {
  if (audience === "caller") response.setHeader("Vary", "Authorization");
}

function isCachedResponseValid({ request }: RestExchange, metadata: RepresentationMetadata): boolean {
  return isNotModified((name) => request.get(name), metadata);
}

/** RFC 9110, 15.4.5. */
function writeNotModified({ route, variesByCaller, response }: RestExchange, metadata: RepresentationMetadata): void {
  response.statusCode = 304;
  setHeaders(response, toCachingHeaders(route, variesByCaller, metadata));
  setHeaders(response, toValidatorHeaders(metadata));
  response.end();
}

function write({ route, variesByCaller, request, response }: RestExchange, result: RestResponse): void {
  const bytes = toBytes(result);
  const invalidatedGroups = result.invalidates ?? [];
  response.statusCode = result.status;
  setHeaders(response, toCachingHeaders(route, variesByCaller, result.representation));
  if (result.representation) setHeaders(response, toValidatorHeaders(result.representation));
  if (invalidatedGroups.length > 0) response.setHeader("Cache-Group-Invalidation", writeGroups(invalidatedGroups));
  setHeaders(response, result.headers ?? {});
  if (bytes === undefined) {
    response.end();
    return;
  }
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "application/json");
  response.setHeader("Content-Length", bytes.length);
  response.end(request.method === "HEAD" ? undefined : bytes);
}

function toBytes({ bytes, body }: RestResponse): Buffer | undefined {
  if (bytes !== undefined) return bytes;
  return body === undefined ? undefined : Buffer.from(JSON.stringify(body));
}

function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
