// A small service that follows every rule of `npm run conform`, without the kit. Tests start it in their process, or as a program:
// `node notes-service.ts <contract> [<rule that it breaks>]`.
import { createPublicKey, type JsonWebKey, randomUUID, verify } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { buildSchema, graphql } from "graphql";
import { parse } from "yaml";

interface Note {
  readonly id: string;
  text: string;
  version: number;
}

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

class Problem extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, headers: Readonly<Record<string, string>> = {}) {
    super(`Problem ${status}`);
    this.status = status;
    this.headers = headers;
  }
}

interface Representation {
  readonly __typename: string;
  readonly id: string;
}

const machinery = `
  scalar _Any
  union _Entity = Note | Article
  type _Service { sdl: String! }
  extend type Query { _service: _Service  _entities(representations: [_Any!]!): [_Entity]! }
`;

const publicHeaders = { "cache-control": "public, max-age=0, s-maxage=10" };

/**
 * @param broken the rule that it breaks; "optional" if it offers none of the optional parts
 * @param environment PORT, FEED_PORT, FEED_KEYS, ISSUER, AUDIENCE and JWKS_URL
 */
export async function startNotes(
  folder: string,
  broken: string,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const isBroken = (rule: string) => broken === rule;
  /** Offers none of the optional parts. */
  const isMinimal = isBroken("optional");
  /** Not of the platform's own services: then `Location` has the service's path. */
  const ownPrefix = isBroken("prefix") ? "/api" : "";

  const notes: Note[] = [];
  const epoch = randomUUID();
  let lastXid = 1;
  const changes: { readonly xid: number; readonly groups: readonly string[] }[] = [];
  const replies = new Map<string, { readonly body: string; readonly reply: Reply }>();
  let readyRequests = 0;
  let isDraining = false;

  function record(id: string): Readonly<Record<string, string>> {
    lastXid += 1;
    changes.push({ xid: lastXid, groups: ["notes", `notes:${id}`] });
    return isMinimal ? {} : { "write-position": isBroken("write-position") ? "x/y" : `${epoch}/${lastXid}` };
  }

  // GraphQL

  const sdl = readFileSync(`${folder}/schema.graphql`, "utf8");
  const schema = buildSchema(sdl + machinery, { assumeValidSDL: true });

  const rootValue = {
    _service: () => {
      if (isBroken("graphql-service")) throw new Error("There is no schema.");
      return { sdl: isBroken("drift-schema") ? sdl.replace("text: String!", "text: String\n  colour: String") : sdl };
    },
    _entities: ({ representations }: { readonly representations: readonly Representation[] }) => {
      const found = representations.map(resolve);
      if (isBroken("entities-order") && found.length === 4) return [found[0], found[1], found[1], found[0]];
      const names = new Set(representations.map(({ __typename }) => __typename));
      return isBroken("entities-mixed") && names.size > 1 && names.has("Article") ? found.toReversed() : found;
    },
    note: ({ id }: { readonly id: string }) => notes.find((note) => note.id === id),
    notes: () => ({ edges: notes.map((node) => ({ node })) }),
  };

  function resolve({ __typename, id }: Representation): unknown {
    if (__typename === "Article") return { __typename, id, notes: [] };
    if (__typename !== "Note") return isBroken("entities-invalid") ? fail() : new Error("The type is unknown.");
    const note = notes.find((one) => one.id === id);
    if (note) return { __typename, ...note };
    return isBroken("entities-unknown") ? new Error("There is no such note.") : null;
  }

  async function respondGraphql(body: string, isAnonymous: boolean): Promise<Reply> {
    const request = parseJson(body) as
      | { readonly query?: unknown; readonly variables?: Record<string, unknown> }
      | undefined;
    const { query, variables } = request ?? {};
    if (typeof query !== "string")
      return { status: isBroken("graphql-malformed") ? 500 : 400, body: { errors: [{ message: "No query." }] } };
    if (isBroken("token-absent") && isAnonymous && variables && query === "{ __typename }")
      throw new Error("There is no caller.");
    const result = await graphql({ schema, source: query, rootValue, variableValues: variables ?? {} });
    if (isBroken("graphql-errors") && result.data === undefined) return { status: 200, body: { data: null } };
    return { status: 200, body: result };
  }

  // Tokens

  const keys = (await (await fetch(environment["JWKS_URL"] ?? "")).json()) as { readonly keys: readonly [JsonWebKey] };
  const publicKey = createPublicKey({ key: keys.keys[0], format: "jwk" });

  /** Undefined for an anonymous caller. */
  function authenticate(request: IncomingMessage): string | undefined {
    const { authorization } = request.headers;
    if (authorization === undefined) return undefined;
    const [header = "", payload = "", signature = ""] = authorization.slice("Bearer ".length).split(".");
    const [{ alg }, claims] = [header, payload].map(
      (part) => parseJson(Buffer.from(part, "base64url").toString()) ?? {},
    ) as [Record<string, unknown>, Record<string, unknown>];
    const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
    const isSigned = verify("sha256", Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"));
    const problems: readonly (readonly [rule: string, isProblem: boolean])[] = [
      ["token-malformed", alg === undefined],
      ["token-alg-none", alg === "none"],
      ["token-hmac", alg === "HS256"],
      ["token-key", alg === "ES256" && !isSigned],
      ["token-expired", typeof claims["exp"] === "number" && claims["exp"] * 1_000 < Date.now()],
      ["token-without-expiry", alg !== undefined && claims["exp"] === undefined],
      ["token-audience", alg !== undefined && claims["aud"] !== environment["AUDIENCE"]],
      ["token-issuer", alg !== undefined && claims["iss"] !== environment["ISSUER"]],
    ];
    const isValid = problems.every(([rule, isProblem]) => !isProblem || isBroken(rule));
    const isRefused = isBroken("token-valid") && request.url === "/graphql";
    if (!isValid || isRefused) throw new Problem(401, { "www-authenticate": 'Bearer error="invalid_token"' });
    return String(claims["sub"]);
  }

  // REST

  function listNotes(query: URLSearchParams, caller: string | undefined): Reply {
    const limit = Number(query.get("limit") ?? 20);
    const cursor = query.get("cursor") ?? "0";
    const unknown = [...query.keys()].filter((name) => name !== "limit" && name !== "cursor");
    if (unknown.length > 0) throw new Problem(isBroken("rest-query") ? 500 : 400);
    const isValid = Number.isInteger(limit) && limit >= 1 && limit <= 100 && /^\d+$/.test(cursor);
    if (!isValid && !isBroken("rest-limit")) throw new Problem(400);
    const start = Number(cursor) || 0;
    const page = notes.toReversed().slice(start, start + limit);
    const end = start + limit - (isBroken("rest-pages") ? 1 : 0);
    const next = end < notes.length ? String(end) : null;
    const link = next === null ? {} : { link: `</v1/notes?limit=${limit}&cursor=${next}>; rel="next"` };
    const cache = isBroken("cache-control") ? { "set-cookie": "session=1" } : {};
    const headers = { ...publicHeaders, ...link, ...cache, "cache-groups": '"notes"', etag: `"list-${lastXid}"` };
    if (isBroken("rest-read")) return { status: 200, body: undefined, headers };
    return {
      status: 200,
      headers,
      body: { data: page, page: { next }, ...(isBroken("cache-same") ? { caller } : {}) },
    };
  }

  function readNote(id: string): Reply {
    const note = notes.find((one) => one.id === id);
    if (note === undefined && !isBroken("rest-not-found")) throw new Problem(404);
    const headers = { ...publicHeaders, "cache-groups": `"notes:${id}"`, etag: etagOf(note) };
    return { status: 200, headers, body: note ?? {} };
  }

  function createNote(text: string, key: string | undefined, caller: string): Reply {
    if (key === undefined && !isBroken("idempotency-required")) throw new Problem(400);
    const known = replies.get(`${caller} ${key}`);
    const body = JSON.stringify(text);
    if (key !== undefined && known && !isBroken("idempotency-replay")) {
      if (known.body !== body) throw new Problem(422);
      return known.reply;
    }
    const note = { id: String(notes.length + 1), text, version: 1 };
    notes.push(note);
    const location = isBroken("rest-created") ? undefined : `${ownPrefix}/v1/notes/${note.id}`;
    const headers = { ...(location && { location }), etag: etagOf(note), ...record(note.id) };
    const reply = { status: 201, headers, body: { ...note } };
    replies.set(`${caller} ${key}`, { body, reply });
    return reply;
  }

  function changeNote(id: string, text: string, ifMatch: string | undefined): Reply {
    const note = notes.find((one) => one.id === id);
    if (note === undefined) throw new Problem(404);
    if (ifMatch === undefined && !isBroken("rest-if-match-required")) throw new Problem(428);
    if (![undefined, "*", etagOf(note)].includes(ifMatch) && !isBroken("rest-if-match")) throw new Problem(412);
    note.text = text;
    note.version += 1;
    return { status: 200, headers: { etag: etagOf(note), ...record(id) }, body: note };
  }

  function readBody(request: IncomingMessage, body: string): string {
    const type = request.method === "PATCH" ? "application/merge-patch+json" : "application/json";
    if (request.headers["content-type"] !== type && !isBroken("rest-media-type")) throw new Problem(415);
    if (body.length > 65_536) throw new Problem(isBroken("rest-body-limit") ? 500 : 413);
    const value = parseJson(body);
    if (value === undefined) throw new Problem(isBroken("rest-invalid-json") ? 500 : 400);
    const { text } = value as { readonly text?: unknown };
    if (typeof text !== "string") throw new Problem(isBroken("rest-invalid-body") && Array.isArray(value) ? 500 : 422);
    return text;
  }

  async function respondRest(request: IncomingMessage, body: string, caller: string | undefined): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://notes");
    const listPath = `${ownPrefix || "/rest"}/v1/notes`;
    if (!pathname.startsWith(listPath)) throw new Problem(404);
    const id = pathname.slice(listPath.length + 1) || undefined;
    const key = request.headers["idempotency-key"] as string | undefined;
    const deadline = request.headers["x-deadline-ms"];
    if (deadline === "0" && !isMinimal) throw new Problem(503, isBroken("deadline") ? {} : { "retry-after": "1" });
    if (request.method === "HEAD" && isBroken("rest-head")) throw new Problem(405);
    if (request.method === "GET" || request.method === "HEAD")
      return id === undefined ? listNotes(searchParams, caller) : readNote(id);
    if (caller === undefined) throw new Problem(401, { "www-authenticate": "Bearer" });
    const text = readBody(request, body);
    return id === undefined ? createNote(text, key, caller) : changeNote(id, text, request.headers["if-match"]);
  }

  function sendRest(request: IncomingMessage, response: ServerResponse, { status, body, headers = {} }: Reply): void {
    const { etag, "cache-control": _, ...others } = headers;
    const isRead = request.method === "GET" || request.method === "HEAD";
    response.setHeaders(new Map(Object.entries(isMinimal && isRead ? others : headers)));
    if (isRead && isBroken("write-position-of-reads")) response.setHeader("write-position", `${epoch}/1`);
    const isUnchanged =
      etag !== undefined && request.headers["if-none-match"] === etag && !isMinimal && !isBroken("rest-etag");
    if (isUnchanged) return void response.writeHead(304).end();
    response.setHeader("content-type", "application/json");
    response.writeHead(status).end(body === undefined ? "<html>" : JSON.stringify(body));
  }

  function sendProblem(response: ServerResponse, { status, headers }: Problem): void {
    const type = isBroken("rest-problem") ? "application/json" : "application/problem+json";
    response.writeHead(status, { "content-type": type, "cache-control": "no-store", ...headers });
    response.end(JSON.stringify({ type: `/problems/${status}`, title: "A problem", status }));
  }

  // The process

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isDraining && !isBroken("drain-new-requests")) response.setHeader("connection", "close");
    if (request.url === "/health/live") return void response.writeHead(isBroken("health-live") ? 404 : 200).end();
    if (request.url === "/health/ready") {
      readyRequests += 1;
      return void response.writeHead(isBroken("health-ready") && readyRequests > 1 ? 503 : 200).end();
    }
    if (request.url === "/openapi.json") {
      const text = readFileSync(`${folder}/openapi.yaml`, "utf8");
      const document: unknown = parse(isBroken("drift-openapi") ? text.replace("Buy milk", "Buy bread") : text);
      return void response.end(JSON.stringify(document));
    }
    const body = await readText(request);
    const { traceparent = "", "x-deadline-ms": deadline = "" } = request.headers;
    try {
      if (isBroken("trace-context") && String(traceparent).startsWith("x")) throw new Problem(500);
      if (isBroken("deadline-ignored") && deadline === "soon") throw new Problem(400);
      const caller = authenticate(request);
      if (request.url === "/graphql") {
        const { status, body: result } = await respondGraphql(body, caller === undefined);
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(result));
      } else sendRest(request, response, await respondRest(request, body, caller));
    } catch (error) {
      sendProblem(response, error instanceof Problem ? error : new Problem(500));
    }
  }

  function respondFeed(request: IncomingMessage, response: ServerResponse): void {
    const isAuthorized = request.headers.authorization === `Bearer ${environment["FEED_KEYS"]}`;
    if (!isAuthorized && !isBroken("feed-key")) return void response.writeHead(401).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const [lastEpoch, snapshot = ""] = String(request.headers["last-event-id"] ?? "").split("/");
    const isKnown = lastEpoch === epoch;
    const rule = lastEpoch === "" ? "feed-opens" : "feed-unknown-position";
    let since = isKnown && !isBroken("feed-resume") ? Number(snapshot.split(":")[1]) : lastXid + 1;
    let events = 0;
    const write = (event: string, data: object) => {
      events += 1;
      response.write(`event: ${event}\nid: ${epoch}/${lastXid + 1}:${lastXid + 1}:\ndata: ${JSON.stringify(data)}\n\n`);
    };
    if (!isKnown && !isBroken(rule)) write("reset", {});
    const send = () => {
      const groups = changes.filter(({ xid }) => xid >= since).flatMap((change) => change.groups);
      since = lastXid + 1;
      if (isBroken("feed-alive") && events > 0 && groups.length === 0) return void response.write(": alive\n\n");
      write("changes", { groups: isBroken("feed-change") && events > 0 ? [] : groups });
    };
    if (isKnown || isBroken(rule)) send();
    const timer = setInterval(send, 30);
    response.once("close", () => clearInterval(timer));
  }

  const server = createServer((request, response) => void respond(request, response));
  const feed = createServer(respondFeed);
  // Once it is ready, its feed is too.
  const feedUrl = await listen(feed, environment["FEED_PORT"]);
  const url = await listen(server, environment["PORT"]);
  return {
    url,
    feedUrl,
    close() {
      for (const each of [server, feed]) each.close().closeAllConnections();
    },
    /** On SIGTERM. Ends the process. */
    drain() {
      isDraining = true;
      if (isBroken("drain-in-flight")) process.exit(0);
      feed.close();
      feed.closeAllConnections();
      if (isBroken("drain-new-requests")) return void setTimeout(() => process.exit(0), 3_000);
      server.close(() => process.exit(isBroken("drain-exit") ? 1 : 0));
    },
  };
}

function etagOf(note: Note | undefined): string {
  return `"${note?.id}-${note?.version}"`;
}

function fail(): never {
  throw new Error("The request is invalid.");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the URL. */
async function listen(server: Server, port: string | undefined): Promise<string> {
  await once(server.listen(Number(port), "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

if (import.meta.main) {
  const [, , folder = "", broken = ""] = process.argv;
  const { drain } = await startNotes(folder, broken, process.env);
  process.once("SIGTERM", drain);
}
