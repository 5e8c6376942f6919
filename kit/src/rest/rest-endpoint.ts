import express, { type Request, type Response, type Router } from "express";
import { deadlineHeader, startDeadline } from "../http/deadline.ts";
import { AppError, invalidInput, type ParameterProblem } from "../errors/app-error.ts";
import type { Authenticate, Identity } from "../identity/tokens.ts";
import { mediaTypes, readBody } from "./body.ts";
import { dependsOnCaller, type RepresentationMetadata, toCachingHeaders, writeGroups } from "./caching.ts";
import { hasConditions, isNotModified, toValidatorHeaders } from "./conditions.ts";
import { invalidQuery, parseQuery } from "./query.ts";
import { listMethods, publicPath, rejectRequest, rejectMethod } from "./rejections.ts";
import type { RouteDeclaration } from "./routes.ts";
import type { RequestFailures } from "../telemetry/request-failures.ts";
import type { ServiceObserver } from "../telemetry/service-observer.ts";

/** What a REST handler is given: read, typed and checked, but for the body, which only its route can read. */
export interface RestRequest {
  readonly identity: Identity;
  readonly params: Readonly<Record<string, string>>;
  /** Only names that the route declares, each at most once. */
  readonly query: Readonly<Record<string, string>>;
  /** Unknown, repeated and undecodable parameters. What reads the values reports these with its own (`rest-lists.ts`). */
  readonly queryProblems: readonly ParameterProblem[];
  readonly header: (name: string) => string | undefined;
  /** The parsed body; undefined when none came. */
  readonly body: unknown;
  /** The public path of the request, such as `/v1/users`. */
  readonly path: string;
  /** A GET that asks for what it has not got yet (RFC 9110, 13.1): what it finds may be answered without being loaded. */
  readonly isConditional: boolean;
}

export interface RestResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body that is bytes already, sent as it is. */
  readonly bytes?: Buffer;
  /** What a GET is known by: its validators and who may keep it. */
  readonly representation?: RepresentationMetadata;
  /** The groups of what a write has changed: no copy of theirs is used any more (RFC 9875, 3). */
  readonly invalidates?: readonly string[];
}

/** An answer to a GET that is loaded only when the conditions of the request do not answer it already. */
export interface ConditionalResponse extends RepresentationMetadata {
  load(): Promise<RestResponse>;
}

export type RestHandler = (request: RestRequest) => Promise<RestResponse | ConditionalResponse>;

/** One handler for each route; a missing one does not compile. */
export type Handlers<R extends readonly RouteDeclaration[]> = Readonly<Record<R[number]["id"], RestHandler>>;

export interface RestEndpointOptions<R extends readonly RouteDeclaration[]> {
  readonly version: number;
  readonly routes: R;
  readonly handlers: Handlers<R>;
  readonly authenticate: Authenticate;
  readonly failures: RequestFailures;
  readonly observer?: ServiceObserver | undefined;
  /** 64 KiB: what a REST body may weigh on this platform. */
  readonly bodyBytesMax?: number;
}

/**
 * One version of a service's REST door: its declared routes and nothing else. What the routes do not allow is refused here, as a
 * problem document: unknown paths and methods, parameters, media types and bodies.
 */
export function createRestEndpoint<const R extends readonly RouteDeclaration[]>(o: RestEndpointOptions<R>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const routes = o.routes.filter((route) => route.versions.includes(o.version));
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    o.observer?.announceRoute("rest", `/v${o.version}${path}`, listMethods(here));
    router.all(path, (request, response) => {
      o.observer?.nameRoute("rest", `/v${o.version}${path}`);
      void answer(o, here, request, response).catch((error: unknown) => rejectRequest(o.failures, request, response, error));
    });
  }
  router.use((request, response) => {
    o.observer?.nameRoute("rest", "other");
    rejectRequest(o.failures, request, response, new AppError("NOT_FOUND", "There is nothing at this path."));
  });
  return router;
}

/** A list's answer ends at this many bytes, whatever its limit; the rest comes with the next page. */
export const listBytesMax = 1_048_576;

async function answer<R extends readonly RouteDeclaration[]>(
  o: RestEndpointOptions<R>,
  here: readonly RouteDeclaration[],
  request: Request,
  response: Response,
): Promise<void> {
  const route = here.find(({ method }) => method === (request.method === "HEAD" ? "GET" : request.method));
  if (!route) return rejectMethod(o.failures, here, request, response);
  const sent = new URLSearchParams(queryOf(request.url));
  const isCallers = dependsOnCaller(route, new Set(sent.keys()));
  // Whatever becomes of the request: refusals say these too.
  if (isCallers) response.setHeader("Vary", "Authorization");
  if (route.method === "PATCH") response.setHeader("Accept-Patch", mediaTypes.PATCH.join(", "));
  const found = await handle(o, route, request);
  await settle({ route, isCallers, request, response }, found);
}

async function handle<R extends readonly RouteDeclaration[]>(
  o: RestEndpointOptions<R>,
  route: RouteDeclaration,
  request: Request,
): Promise<RestResponse | ConditionalResponse> {
  const deadline = startDeadline(request.get(deadlineHeader));
  const header = (name: string) => request.get(name);
  const isRead = route.method === "GET";
  const identity = await o.authenticate(request.headers.authorization);
  const { values, problems } = parseQuery(queryOf(request.url), route.query ?? []);
  if (problems.length > 0 && !(isRead && route.query?.length)) throw invalidQuery(problems);
  const asked: RestRequest = {
    identity,
    params: request.params as Record<string, string>,
    query: Object.fromEntries(values),
    queryProblems: problems,
    header,
    body: isRead ? undefined : await readBody(request, route.method, o.bodyBytesMax ?? 65_536),
    path: publicPath(request),
    isConditional: isRead && hasConditions(header),
  };
  deadline.requireTime();
  const found = await o.handlers[route.id as R[number]["id"]](asked);
  // A handler that reads no value of the query does not report them.
  if (problems.length > 0) throw invalidQuery(problems);
  return found;
}

function queryOf(url: string): string {
  return url.replace(/^[^?]*\??/, "");
}

interface RestExchange {
  readonly route: RouteDeclaration;
  /** Whether the caller can change the answer. */
  readonly isCallers: boolean;
  readonly request: Request;
  readonly response: Response;
}

/** Answers from the version alone where that will do. What was loaded after all may have moved on since, and is asked once more. */
async function settle(exchange: RestExchange, found: RestResponse | ConditionalResponse): Promise<void> {
  if (!("load" in found)) return writeUnlessKnown(exchange, found);
  if (isKnown(exchange, found)) return writeNotModified(exchange, found);
  writeUnlessKnown(exchange, await found.load());
}

function writeUnlessKnown(exchange: RestExchange, result: RestResponse): void {
  const { representation } = result;
  const mayBeKnown = exchange.route.method === "GET" && result.status === 200;
  if (mayBeKnown && representation && isKnown(exchange, representation))
    return writeNotModified(exchange, representation);
  write(exchange, result);
}

function isKnown({ request, response }: RestExchange, shows: RepresentationMetadata): boolean {
  if (shows.audience === "caller") response.setHeader("Vary", "Authorization");
  return isNotModified((name) => request.get(name), shows);
}

/** What a 200 would have said about the copy that the caller has (RFC 9110, 15.4.5). */
function writeNotModified({ route, isCallers, response }: RestExchange, shows: RepresentationMetadata): void {
  response.statusCode = 304;
  setHeaders(response, toCachingHeaders(route, isCallers, shows));
  setHeaders(response, toValidatorHeaders(shows));
  response.end();
}

function write({ route, isCallers, request, response }: RestExchange, result: RestResponse): void {
  const bytes = result.bytes ?? (result.body === undefined ? undefined : Buffer.from(JSON.stringify(result.body)));
  const changed = result.invalidates ?? [];
  response.statusCode = result.status;
  setHeaders(response, toCachingHeaders(route, isCallers, result.representation));
  if (result.representation) setHeaders(response, toValidatorHeaders(result.representation));
  if (changed.length > 0) response.setHeader("Cache-Group-Invalidation", writeGroups(changed));
  setHeaders(response, result.headers ?? {});
  if (bytes === undefined) return void response.end();
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "application/json");
  response.setHeader("Content-Length", bytes.length);
  response.end(request.method === "HEAD" ? undefined : bytes);
}

function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

/** @throws AppError BAD_USER_INPUT when a body that is needed did not come. */
export function requireBody(body: unknown): unknown {
  if (body !== undefined) return body;
  throw invalidInput([{ pointer: "#", code: "required", detail: "This needs a body." }]);
}
