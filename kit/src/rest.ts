import { TextDecoder } from "node:util";
import express, { type Request, type Response, type Router } from "express";
import { AppError, invalidInput, statusOf } from "./errors.ts";
import type { Authenticate, Identity } from "./identity.ts";
import type { Log } from "./log.ts";
import { writeProblem } from "./problem.ts";
import { readRequestId } from "./request-id.ts";
import type { RouteDeclaration } from "./routes.ts";

/** What a REST handler is given: read, typed and checked, but for the body, which only its route can read. */
export interface RestRequest {
  readonly identity: Identity;
  readonly params: Readonly<Record<string, string>>;
  /** Only names that the route declares, each at most once. */
  readonly query: Readonly<Record<string, string>>;
  readonly header: (name: string) => string | undefined;
  /** The parsed body; undefined when none came. */
  readonly body: unknown;
  /** The public path of the request, such as `/v1/users`. */
  readonly path: string;
}

export interface RestAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body that is bytes already, sent as it is. */
  readonly bytes?: Buffer;
}

export type RestHandler = (request: RestRequest) => Promise<RestAnswer>;

/** One handler for each route; a missing one does not compile. */
export type Handlers<R extends readonly RouteDeclaration[]> = Readonly<Record<R[number]["id"], RestHandler>>;

export interface RestDoorOptions<R extends readonly RouteDeclaration[]> {
  readonly version: number;
  readonly routes: R;
  readonly handlers: Handlers<R>;
  readonly authenticate: Authenticate;
  readonly log: Log;
  /** 64 KiB: what a REST body may weigh on this platform. */
  readonly bodyBytesMax?: number;
}

/**
 * One version of a service's REST door: its declared routes and nothing else. What the routes do not allow is refused here, as a
 * problem document: unknown paths and methods, parameters, media types and bodies.
 */
export function createRestDoor<const R extends readonly RouteDeclaration[]>(o: RestDoorOptions<R>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const routes = o.routes.filter((route) => route.versions.includes(o.version));
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path);
    router.all(path, (request, response) => {
      void answer(o, here, request, response).catch((error: unknown) => refuse(o.log, request, response, error));
    });
  }
  router.use((request, response) => {
    refuse(o.log, request, response, new AppError("NOT_FOUND", "There is nothing at this path."));
  });
  return router;
}

/** A list's answer ends at this many bytes, whatever its limit; the rest comes with the next page. */
export const pageBytesMax = 1_048_576;

async function answer<R extends readonly RouteDeclaration[]>(
  o: RestDoorOptions<R>,
  here: readonly RouteDeclaration[],
  request: Request,
  response: Response,
): Promise<void> {
  const route = here.find(({ method }) => method === (request.method === "HEAD" ? "GET" : request.method));
  if (!route) return refuseMethod(o.log, here, request, response);
  setCacheHeaders(response, route);
  const identity = await o.authenticate(request.headers.authorization);
  const handler = o.handlers[route.id as R[number]["id"]];
  const result = await handler({
    identity,
    params: request.params as Record<string, string>,
    query: readQuery(route, request.url),
    header: (name) => request.get(name),
    body: route.method === "GET" ? undefined : await readBody(request, route.method, o.bodyBytesMax ?? 65_536),
    path: publicPath(request),
  });
  write(response, request, result);
}

/**
 * Where the caller can change the body, every answer says so, refusals too. Nothing is kept without asking again: what may be kept, and
 * for how long, comes with caching at the source.
 */
function setCacheHeaders(response: Response, route: RouteDeclaration): void {
  if (route.cache === "private") response.setHeader("Vary", "Authorization");
  response.setHeader(
    "Cache-Control",
    { public: "no-cache", private: "private, no-cache", none: "no-store" }[route.cache],
  );
}

function write(response: Response, request: Request, result: RestAnswer): void {
  const bytes = result.bytes ?? (result.body === undefined ? undefined : Buffer.from(JSON.stringify(result.body)));
  response.statusCode = result.status;
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, value);
  if (bytes === undefined) return void response.end();
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "application/json");
  response.setHeader("Content-Length", bytes.length);
  response.end(request.method === "HEAD" ? undefined : bytes);
}

/** Answers an AppError as its problem, and masks any other error, which the log gets whole. */
export function refuse(log: Log, request: Request, response: Response, error: unknown): void {
  const requestId = readRequestId(request.headers["x-request-id"]);
  const known = error instanceof AppError;
  const told = known ? error : new AppError("INTERNAL_SERVER_ERROR", "Something went wrong on our side.");
  // A caller's mistakes are theirs: strangers neither fill the log nor have what they sent kept in it.
  if (statusOf[told.code] >= 500) log[known ? "warn" : "error"]({ err: error, requestId }, "a REST request failed");
  // Express's Request.path is below the router; what the caller asked for is above it.
  writeProblem(response, told, { instance: publicPath(request), requestId });
}

function refuseMethod(log: Log, here: readonly RouteDeclaration[], request: Request, response: Response): void {
  const methods = here.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  response.setHeader("Allow", [...methods, "OPTIONS"].join(", "));
  if (request.method === "OPTIONS") return void response.writeHead(204).end();
  refuse(log, request, response, new AppError("METHOD_NOT_ALLOWED", `This path takes ${methods.join(", ")}.`));
}

function publicPath(request: Request): string {
  return (request.originalUrl.split("?", 1)[0] ?? "").replace(/^\/rest/, "");
}

function readQuery(route: RouteDeclaration, url: string): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(url.replace(/^[^?]*\??/, ""))) {
    if (!route.query?.includes(name)) {
      const known = route.query?.length ? `known are ${route.query.join(", ")}` : "this path takes none";
      throw new AppError("UNKNOWN_PARAMETER", `There is no such query parameter here: ${known}.`);
    }
    if (found.has(name)) throw new AppError("MALFORMED_REQUEST", `The query parameter ${name} may be given once.`);
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

const mediaTypes: Readonly<Record<string, readonly string[]>> = {
  POST: ["application/json"],
  PATCH: ["application/merge-patch+json"],
};

async function readBody(request: Request, method: string, bytesMax: number): Promise<unknown> {
  const bytes = await readBytes(request, bytesMax);
  if (bytes.length === 0) return undefined;
  const allowed = mediaTypes[method] ?? ["application/json"];
  const [type, ...parameters] = (request.get("content-type") ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice(8)
    .replaceAll('"', "");
  if (!allowed.includes(type ?? "") || (charset !== undefined && charset !== "utf-8")) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", `Send the body as ${allowed.join(" or ")}, in UTF-8.`);
  }
  if (request.get("content-encoding") !== undefined) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "Send the body without a content encoding.");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new AppError("MALFORMED_REQUEST", "The body is not JSON.", { cause: error });
  }
}

async function readBytes(request: Request, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax)
      throw new AppError("PAYLOAD_TOO_LARGE", `A body has at most ${bytesMax.toLocaleString("en")} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws AppError BAD_USER_INPUT when a body that is needed did not come. */
export function requireBody(body: unknown): unknown {
  if (body !== undefined) return body;
  throw invalidInput([{ pointer: "#", code: "required", detail: "This needs a body." }]);
}
