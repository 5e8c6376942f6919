/** The one place where the stages are assembled: creates their parts from the proxy's options. `pipeline.ts` calls these parts for each request. */
import { type Admission, createAdmission } from "@tributary/kit/admission/admission";
import { createHeldRejections, type HeldRejections } from "@tributary/kit/admission/held-rejections";
import { type Callers, createCallers } from "@tributary/kit/caller/caller";
import { createFeeds, type Feeds } from "@tributary/kit/consistency/feeds";
import { createReceipts, type Receipts } from "@tributary/kit/consistency/receipts";
import { type Compression, createCompression } from "@tributary/kit/http/compression";
import type { Cors } from "@tributary/kit/http/cors";
import { createIncompleteRequests, type IncompleteRequests } from "@tributary/kit/http/incomplete-requests";
import { createRevocations, type Revocations } from "@tributary/kit/caller/revocations";
import { type CallerLimits, createCallerLimits } from "@tributary/kit/rate-limit/caller-limits";
import { type ReadBody, createBodyReader } from "./admit/body.ts";
import { createRestCharges, type RestCharges } from "./admit/charges.ts";
import { createResourceCors } from "./admit/cors.ts";
import type { OriginResponse } from "./cache/cache-request.ts";
import type { SharedCache } from "./cache/shared-cache.ts";
import type { ProxyConfig } from "./config.ts";
import { createDocuments, type Documents } from "./documents/documents.ts";
import type { ReleaseChanges } from "./documents/load.ts";
import { addCacheTags } from "./freshness/cache-tags.ts";
import { createReceiptRules, type ReceiptRules } from "./freshness/receipts.ts";
import { createServices, type Services } from "./forward/services.ts";
import { createResourceCache } from "./resource-cache/resource-cache.ts";
import { createRetirements, type Retirements } from "./route/retirement.ts";
import { createRouteCache, type RouteCache } from "./route/route-cache.ts";
import type { RouteTable } from "./route/route-table.ts";
import type { ProcessState } from "@tributary/kit/process/process-status";
import { readProxyState } from "./proxy-state.ts";
import { createUsage, type Usage } from "./route/usage.ts";
import { createVersionResolver, type ResolvedVersion, type VersionRequest } from "./route/version.ts";
import type { Observe } from "./telemetry/observations.ts";
import type { ProxyObservers } from "./telemetry/proxy-telemetry.ts";

export interface RestProxyOptions {
  readonly config: ProxyConfig;
  readonly table: RouteTable;
  /** The text of each version's OpenAPI document. */
  readonly documents: ReadonlyMap<number, string>;
  /** Only pages of development show them. */
  readonly changes?: ReleaseChanges | undefined;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly nowMs?: () => number;
  /** For rate limits. Default: `performance.now`. */
  readonly monotonicNowMs?: () => number;
  readonly observe: Observe;
  /** Undefined if telemetry is off. */
  readonly observers?: ProxyObservers;
}

export interface Stages {
  readonly cors: Cors;
  readonly callers: Callers;
  /** `charges` uses these limits. They are listed so that `server.ts` can close them. */
  readonly callerLimits: CallerLimits;
  readonly charges: RestCharges;
  readonly admission: Admission;
  readonly heldRejections: HeldRejections;
  readonly documents: Documents;
  readonly table: RouteTable;
  readonly routeCache: RouteCache;
  readonly resolveVersion: (request: VersionRequest) => ResolvedVersion;
  readonly retirements: Retirements;
  readonly usage: Usage;
  readonly receipts: Receipts;
  readonly receiptRules: ReceiptRules;
  readonly cache: SharedCache;
  /** `cache` and `receiptRules` use the feeds. They are listed so that `server.ts` can close them. */
  readonly feeds: Feeds;
  readonly readBody: ReadBody;
  /** `readBody` uses it. It is listed for the server's limit of requests in flight. */
  readonly incompleteRequests: IncompleteRequests;
  readonly addCacheTags: (response: OriginResponse) => OriginResponse;
  readonly compression: Compression;
  readonly services: Services;
  readonly upstreamTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly readState: () => ProcessState;
  readonly observe: Observe;
}

export function createStages(options: RestProxyOptions): Stages {
  const { config, observe, table, nowMs = Date.now, observers } = options;
  const { retirements, upstreamTimeoutMs, responseTimeoutMs } = config;
  const revocations = createRevocations();
  const callers = createCallers({
    ...config.callerConfig,
    revocations,
    onKeysError: (cause) => observe({ kind: "token-keys-failed", cause }),
    onKeysFetched: (isOk) => observe({ kind: "token-keys-fetched", isOk }),
  });
  const callerLimits = createCallerLimits({
    ...config.rateLimitConfig,
    trustedProxies: config.callerConfig.trustedProxies,
    callers,
    nowMs: options.monotonicNowMs,
    observe: observers?.rateLimits,
  });
  const { cache, feeds } = createCacheWithFeeds(options, revocations, nowMs);
  const receipts = createReceipts(config.consistencyKeys);
  const compression = createCompression();
  const admission = createAdmission({
    isOn: config.admission,
    // Responses wait for a compression thread outside of the event loop, so admission would not notice this queue.
    queueDelayMs: compression.queueDelayMs,
    observer: observers?.admission,
  });
  const services = createServices({ ...config, observe, observers: observers?.services });
  const readState = () => readProxyState({ config, table, services, feeds, cache, admission, callerLimits });
  const incompleteRequests = createIncompleteRequests({ addressKeyOf: callers.addressKeyOf, observe });
  return {
    cors: createResourceCors(config.corsOrigins),
    callers,
    callerLimits,
    charges: createRestCharges(callerLimits),
    admission,
    heldRejections: createHeldRejections(),
    documents: createDocuments({
      texts: options.documents,
      retirements,
      frontPage: {
        version: config.build.version,
        readState: config.profile === "development" ? readState : undefined,
      },
      issuerUrl: config.issuerUrl,
      development:
        config.profile === "development" ? { gatewayUrl: config.gatewayUrl, changes: options.changes } : undefined,
    }),
    table,
    routeCache: createRouteCache(),
    resolveVersion: createVersionResolver({ table, defaultVersion: config.defaultVersion }),
    retirements: createRetirements({ retirements, documentedVersions: new Set(options.documents.keys()), nowMs }),
    usage: createUsage({ knownClients: config.knownClients, newestVersion: table.versions.at(-1) ?? 1 }),
    receipts,
    receiptRules: createReceiptRules({ receipts, feeds, cache, timeoutMs: upstreamTimeoutMs }),
    cache,
    feeds,
    readBody: createBodyReader({ bytesMax: config.bodyBytesMax, incompleteRequests }),
    incompleteRequests,
    addCacheTags: (response) => addCacheTags(response, config.tagHeader),
    compression,
    services,
    upstreamTimeoutMs,
    responseTimeoutMs,
    readState,
    observe,
  };
}

/** The cache and the feeds refer to each other: a feed invalidates cached responses, and they are fresh for longer while it is up. */
function createCacheWithFeeds(
  { config, table, observe, observers }: RestProxyOptions,
  revocations: Revocations,
  nowMs: () => number,
): Pick<Stages, "cache" | "feeds"> {
  const cache = createResourceCache(config.cacheLimits, {
    table,
    nowMs,
    observe,
    observer: observers?.cache,
    // The cache calls this function only for requests, when `feeds` is initialized.
    isFollowed: (service) => feeds.isUp(service),
  });
  const feeds = createFeeds({
    feedUrls: config.feedUrls,
    feedKey: config.feedKey,
    revocations,
    onChanges: (service, groups) => cache.invalidate({ groups, origin: service }),
    onReset: (service) => cache.invalidateOrigin(service),
    onState: (service, state, cause) => observe({ kind: "feed-state", service, state, cause }),
  });
  return { cache, feeds };
}
