import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Cors } from "@tributary/kit/http/cors";
import type { PendingResponses } from "@tributary/kit/process/lifecycle";
import { type Admission, type AdmissionLimits, createAdmission } from "./admit/admission.ts";
import { abandonBody, createBodyReader, type ReadBody } from "./body.ts";
import { endWith } from "./cache/end-with.ts";
import type { CacheLookup, SharedCache } from "./cache/shared-cache.ts";
import type { ContentCoding } from "@tributary/kit/http/accept";
import { createCodingChooser } from "./compression.ts";
import { prepareServer } from "./connections.ts";
import { createResourceCors } from "./cors.ts";
import { createDestinations, type Destinations } from "./destinations.ts";
import { createDocuments, type Documents, type OwnAnswer } from "./documents/documents.ts";
import { findRoute, readHost, readRequestTarget } from "./door.ts";
import {
  aboutExchange,
  createReadingLimit,
  type Exchange,
  openExchange,
  type ReadingLimit,
  refuse,
} from "./exchange.ts";
import { requireFittingHead } from "./head-size.ts";
import { toServiceHeaders } from "./headers.ts";
import { createLookup } from "./lookup.ts";
import { addOwnHead, setOwnHead } from "./own-head.ts";
import { createProxy, type Proxy } from "./proxy.ts";
import { readQuery } from "./query.ts";
import { type CacheLimits, createResourceCache } from "./resource-cache.ts";
import { createRetirements, type Retirement, type Retirements } from "./retirement.ts";
import { type RouteTable, upstreamPath } from "./route-table.ts";
import type { Route } from "./routes.ts";
import type { Observe } from "./telemetry/observations.ts";
import type { Watchers } from "./telemetry/proxy-telemetry.ts";
import { noteCache } from "./telemetry/request-record.ts";
import { createUsage, tellUsage, type Usage, type UsageCount } from "./usage.ts";
import { tellLocation, tellVersion } from "./version-head.ts";
import { type Asked, createVersions, type Found } from "./versions.ts";

export interface RestProxyOptions {
  readonly table: RouteTable;
  /** Scheme, host and port of each replica, or of a name with several addresses; for each service that the table names. */
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  readonly defaultVersion: number;
  readonly retirements: readonly Retirement[];
  /** The text of each version's OpenAPI document. */
  readonly documents: ReadonlyMap<number, string>;
  /** Names of clients that are counted by themselves. */
  readonly knownClients: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly admissionLimits: AdmissionLimits;
  readonly cacheLimits: CacheLimits;
  readonly bodyBytesMax: number;
  readonly bodiesInFlightMax: number;
  /** Requests under way at once, for each service. */
  readonly inFlightMax: number;
  readonly upstreamTimeoutMs: number;
  readonly responseTimeoutMs: number;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly nowMs?: () => number;
  readonly observe: Observe;
  /** Nobody unless given. */
  readonly watchers?: Watchers;
}

export interface RestProxy {
  readonly handler: RequestListener;
  /** Call it before the server listens. */
  prepare(server: Server, pendingResponses: PendingResponses): void;
  /** Who called versions older than the newest, since the start. */
  usage(): readonly UsageCount[];
  /** Breaks off what nobody waits for, and closes the connections to the services. */
  close(): Promise<void>;
}

/** A request that is through the door. */
interface Visit extends Exchange {
  readonly host: string | undefined;
  readonly route: Route;
  readonly version: number;
  /** The one spelling of what is asked for: version, path, and the query with its names in order. */
  readonly resource: string;
  readonly coding: ContentCoding | undefined;
  readonly lookup: CacheLookup;
}

/** What the proxy is made of. */
interface Parts {
  readonly table: RouteTable;
  readonly cors: Cors;
  readonly admission: Admission;
  readonly destinations: Destinations;
  readonly documents: Documents;
  readonly findVersion: (asked: Asked) => Found;
  readonly retirements: Retirements;
  readonly usage: Usage;
  readonly chooseCoding: (acceptEncoding: string | undefined) => ContentCoding | undefined;
  readonly cache: SharedCache;
  readonly readBody: ReadBody;
  readonly proxy: Proxy;
  readonly limitReading: ReadingLimit;
}

/** The proxy from its parts. READ `receive` AND `answer` FIRST: they are the life of a request. */
export function createRestProxy(o: RestProxyOptions): RestProxy {
  const { observe, table, nowMs = Date.now } = o;
  const { requests, services, cache: watch } = { ...o.watchers };
  const cache = createResourceCache(o.cacheLimits, { table, nowMs, observe, watch });
  const parts: Parts = {
    table,
    cors: createResourceCors(o.corsOrigins),
    admission: createAdmission({ ...o.admissionLimits, nowMs }),
    documents: createDocuments({ texts: o.documents, retirements: o.retirements }),
    destinations: createDestinations(),
    findVersion: createVersions(o),
    retirements: createRetirements({ retirements: o.retirements, nowMs }),
    usage: createUsage({ knownClients: o.knownClients, newestVersion: table.versions.at(-1) ?? 1 }),
    chooseCoding: createCodingChooser(),
    cache,
    readBody: createBodyReader(o),
    proxy: createProxy({ ...o, cache, services }),
    limitReading: createReadingLimit(o.responseTimeoutMs, observe),
  };
  const stopTelling = tellUsage(parts.usage, (counts) => observe({ kind: "old-versions", usage: counts }));

  function serve(exchange: Exchange): void {
    try {
      const visit = receive(exchange, parts);
      if (visit) answer(visit, parts).catch((error: unknown) => refuse(error, visit, observe));
    } catch (error) {
      refuse(error, exchange, observe);
    }
  }

  return {
    handler(request, response) {
      serve(openExchange(request, response, requests));
    },
    prepare(server, pendingResponses) {
      prepareServer(server, { observe, admission: parts.admission, pendingResponses });
    },
    usage: () => parts.usage.read(),
    async close() {
      stopTelling();
      // What the cache asks for by itself would hold the passages up.
      await cache.close();
      await parts.proxy.close();
    },
  };
}

/** What waits for nothing. Only the table decides where a request goes: never Host, never a header. Undefined once it is answered. */
function receive(exchange: Exchange, parts: Parts): Visit | undefined {
  const { cors, admission, destinations, documents, findVersion, retirements, table, usage, chooseCoding, cache } =
    parts;
  const { request, response, method, url, own, record } = exchange;
  const { headers } = request;
  // CORS first: refusals carry it too.
  own.lines.push(...cors.headersFor(headers.origin));
  if (cors.varies) own.vary.push("Origin");
  admission.admit(request, own.lines);
  const known = destinations.find(method, url, headers.accept);
  const target = known?.target ?? readRequestTarget(url);
  const host = readHost(request, target);
  const page = known ? undefined : documents.find({ method, path: target.path, headers });
  if (page) {
    answerPage(exchange, page, cors);
    return undefined;
  }
  const found = known?.found ?? findVersion({ method, path: target.path, accept: headers.accept });
  tellVersion(found, own, retirements, table);
  const { place, version } = found;
  record.version = version;
  if (method === "OPTIONS") {
    answerOptions(exchange, place.allow, cors);
    return undefined;
  }
  // Before the cache: from its sunset on nothing of a version is answered, however fresh.
  retirements.check(version);
  const route = known?.route ?? findRoute(place, method, response);
  record.route = route;
  usage.count(version, route.id, headers);
  const resource = known?.resource ?? withQuery(place.path, readQuery(target.query, route.query));
  if (!known) destinations.remember(method, url, headers.accept, { target, found, route, resource });
  tellLocation(found, method, resource, own);
  const coding = chooseCoding(headers["accept-encoding"]);
  const lookup = createLookup(request, route.service, resource, coding);
  // A read with a body is refused, whatever is stored.
  const fresh = announcesBody(request) ? undefined : cache.findFresh(lookup);
  if (!fresh) return { ...exchange, host, route, version, resource, coding, lookup };
  response.writeHead(fresh.status, addOwnHead(fresh.headers, own));
  noteCache(record, fresh.headers);
  endWith(response, fresh.body);
  parts.limitReading.watch(exchange);
  return undefined;
}

/** What has to be waited for. */
async function answer(visit: Visit, { admission, readBody, proxy, limitReading }: Parts): Promise<void> {
  const { request, response, requestId, own, host, route, version, resource, coding, lookup, record } = visit;
  // The body before the place at the service: a slow sender must not hold one.
  const body = await readBody(request, response);
  const isOfRead = isRead(request);
  const headers = toServiceHeaders(request, {
    ...{ requestId, traceParent: record.traceParent, client: admission.findClient(request), host },
    bodyBytes: bodyBytesOf(request, body),
    isRead: isOfRead,
    isForOthers: isOfRead && route.cache !== "none",
  });
  const path = upstreamPath(resource);
  requireFittingHead(path, headers);
  await proxy.forward(response, {
    service: route.service,
    path,
    headers,
    body,
    takesIdempotencyKey: takesIdempotencyKey(route, version),
    coding,
    lookup,
    complete(head) {
      noteCache(record, head);
      return addOwnHead(head, own);
    },
    about: aboutExchange(visit),
    span: record.span,
  });
  limitReading.watch(visit);
}

function answerOptions({ request, response, own }: Exchange, allow: string, cors: Cors): void {
  abandonBody(request, response);
  setOwnHead(response, own);
  cors.permitPreflight(request, response, allow);
  response.writeHead(204, { Allow: allow }).end();
}

/** What the proxy tells of itself. */
function answerPage(exchange: Exchange, { status, headers, bytes }: OwnAnswer, cors: Cors): void {
  const { request, response, own, method } = exchange;
  const allow = headers[headers.indexOf("Allow") + 1] ?? "";
  if (method === "OPTIONS") return answerOptions(exchange, allow, cors);
  abandonBody(request, response);
  response.writeHead(status, addOwnHead([...headers], own)).end(bytes);
}

function withQuery(path: string, query: string): string {
  return query === "" ? path : `${path}?${query}`;
}

function takesIdempotencyKey({ idempotencyKey }: Route, version: number): boolean {
  if (!idempotencyKey) return false;
  return idempotencyKey.optional.includes(version) || idempotencyKey.required.includes(version);
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/** A length is said wherever there is a body or the method makes one expected (RFC 9110, 8.6). */
function bodyBytesOf(request: IncomingMessage, body: Buffer | undefined): number | undefined {
  return body?.length ?? (isRead(request) ? undefined : 0);
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}
