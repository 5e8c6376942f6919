// The observations that all modules of the gateway report to `observe`. Only telemetry/ decides which of them are logged and counted.
import type { EntryPointObservation } from "@tributary/kit/telemetry/entry-point-observations";
import type { CacheName } from "./telemetry/cache-metrics.ts";

/** All that logs and spans contain of a client's document. */
export interface OperationIdentity {
  /** The first 100 characters; undefined for an anonymous operation. */
  readonly operationName: string | undefined;
  /** SHA-256 of the document's text in hexadecimal digits, as for persisted queries. */
  readonly documentHash: string;
}

/** The trace id is set even if the request is not traced. */
interface RequestIds extends Partial<OperationIdentity> {
  readonly requestId: string;
  readonly traceId: string;
}

export type GatewayObservation =
  | EntryPointObservation
  | DocumentsObservation
  | SupergraphObservation
  | SubgraphFetchFailed
  | SubgraphErrors
  | SubgraphResponseInvalid
  | PlanObservation
  | PlanCompiled
  | ValuesRejected
  | EntityCacheObservation
  | SettingsObservation
  | (RequestIds & { readonly kind: "request-rejected"; readonly code: string; readonly status: number })
  /** Before there was a request: no valid HTTP, too large headers, or too late. */
  | { readonly kind: "broken-request"; readonly code: string; readonly status: number }
  /** `response-truncated`: the client did not read its response within RESPONSE_TIMEOUT_MS, so its connection was closed. */
  | (RequestIds & { readonly kind: "client-disconnected" | "response-truncated" })
  | (Partial<RequestIds> & { readonly kind: "internal-error"; readonly cause: unknown })
  /** A line that Apollo's libraries log. */
  | { readonly kind: "library-log"; readonly level: "debug" | "info" | "warn" | "error"; readonly text: string };

export type GatewayObserver = (observation: GatewayObservation) => void;

type SupergraphObservation =
  | {
      readonly kind: "supergraph-loaded";
      readonly id: string;
      readonly subgraphs: readonly string[];
      readonly tookMs: number;
    }
  | { readonly kind: "supergraph-unavailable"; readonly source: string; readonly cause: unknown }
  /** At each further poll. */
  | { readonly kind: "supergraph-still-unavailable"; readonly source: string }
  /** At the first poll that succeeds after those. */
  | { readonly kind: "supergraph-available"; readonly source: string }
  /** Is not loaded again. `subgraphs`: whose part of it the cause names. */
  | {
      readonly kind: "supergraph-rejected";
      readonly id: string;
      readonly subgraphs: readonly string[];
      readonly cause: unknown;
    }
  /** The supergraph is not the cause: it is loaded again. */
  | { readonly kind: "supergraph-load-failed"; readonly id: string; readonly cause: unknown }
  /** The one in `supergraph.last_good` is served, written `ageSeconds` ago: the source has none that can be used, or has not sent it yet. */
  | { readonly kind: "supergraph-restored"; readonly source: string; readonly ageSeconds: number }
  | { readonly kind: "last-good-unreadable" | "last-good-unwritable"; readonly file: string; readonly cause: unknown }
  | { readonly kind: "subgraph-without-address"; readonly service: string }
  | { readonly kind: "variable-without-subgraph"; readonly variable: string }
  | { readonly kind: "override-label-without-field"; readonly label: string }
  /** By coordinate. */
  | { readonly kind: "deprecated-elements"; readonly elements: readonly string[] }
  /** The subgraph did not return a key that the gateway added to its fetches. Reported once for each pause of an entity type. */
  | { readonly kind: "key-check-stopped"; readonly service: string; readonly type: string }
  /** The subgraph rejected a document of several fetches or root fields, but not all of its parts: they are sent singly for a minute. */
  | { readonly kind: "request-split"; readonly service: string }
  /** Directives without effect in this gateway: Federation's own, and those of `@composeDirective`. Reported once for each load of a supergraph. */
  | { readonly kind: "directives-without-effect" | "custom-directives"; readonly directives: readonly string[] };

/** Of the bundle of registered documents. The kinds that the supergraph has too mean the same. */
type DocumentsObservation =
  | { readonly kind: "documents-loaded"; readonly count: number }
  /** The documents in use remain. */
  | { readonly kind: "documents-rejected"; readonly cause: unknown }
  /** In the supergraph that is in use, or about to be. At most the first 20. */
  | {
      readonly kind: "documents-invalid";
      readonly count: number;
      readonly documents: readonly InvalidDocument[];
    }
  | { readonly kind: "documents-unavailable"; readonly source: string; readonly cause: unknown }
  | { readonly kind: "documents-still-unavailable"; readonly source: string }
  | { readonly kind: "documents-available"; readonly source: string }
  | { readonly kind: "documents-restored"; readonly source: string; readonly ageSeconds: number };

export interface InvalidDocument {
  readonly client: string;
  readonly owner: string;
  readonly file: string;
  readonly operations: readonly string[];
  readonly problem: string;
}

type SettingsObservation =
  | { readonly kind: "settings-loaded"; readonly file: string; readonly revision: number }
  /** Each problem with its line. The settings in use remain. */
  | { readonly kind: "settings-rejected"; readonly file: string; readonly problems: readonly string[] }
  | { readonly kind: "settings-unreadable"; readonly file: string; readonly cause: unknown }
  | { readonly kind: "settings-need-restart"; readonly keys: readonly string[] }
  | { readonly kind: "setting-without-subgraph"; readonly key: string };

/** `cause` may contain host names: for the log, never for a client. `response` describes an unusable response, without its body. */
type SubgraphFetchFailed = RequestIds & {
  readonly kind: "subgraph-fetch-failed";
  readonly service: string;
  /** The last replica that the fetch was sent to, by URL and address; undefined if it was not sent. */
  readonly replica: string | undefined;
  readonly code: string;
} & ({ readonly cause: unknown } | { readonly response: object });

/** Without the messages: the subgraph's own log has them, by the request id. */
interface SubgraphErrors extends RequestIds {
  readonly kind: "subgraph-errors";
  readonly service: string;
  readonly replica: string;
  /** Of the first error that is masked. Undefined if none is, such as for BAD_USER_INPUT: the response is then no failure of the service. */
  readonly code: string | undefined;
  readonly count: number;
  /** At most the first 20 errors. */
  readonly errors: readonly RedactedSubgraphError[];
}

export interface RedactedSubgraphError {
  /** A code of the gateway (errors/codes.ts); `other` for any other code; `none` if the error has no code. */
  readonly code: string;
  /** The path in the subgraph's response, see run/redact-path.ts. */
  readonly path: string | undefined;
  readonly messageCharacters: number;
}

/** Entities that cannot be used, by their paths in the subgraph's response, 20 at most; each became null. */
interface SubgraphResponseInvalid extends RequestIds {
  readonly kind: "subgraph-response-invalid";
  readonly service: string;
  readonly replica: string;
  readonly count: number;
  readonly paths: readonly string[];
}

/** `operationHash` identifies the text for the planner (`hashOperation`), not the client's document. */
type PlanObservation =
  | { readonly kind: "plan-built"; readonly tookMs: number; readonly jsonCharacters: number }
  | {
      readonly kind: "plan-failed";
      readonly reason: string;
      readonly operationHash: string;
      readonly cause: unknown;
    }
  /** A job is an operation to plan, or a large introspection. */
  | { readonly kind: "plan-started"; readonly waitedMs: number }
  | { readonly kind: "planner-replaced"; readonly reason: string; readonly cause: unknown }
  | { readonly kind: "plan-cache-hit" }
  | { readonly kind: "plan-cache-miss" }
  | { readonly kind: "cache-evicted"; readonly cache: CacheName };

/** `isMerged`: responses are merged into one tree, which is slower than joining (run/merge.ts). */
interface PlanCompiled {
  readonly kind: "plan-compiled";
  readonly isMerged: boolean;
  readonly fetchCount: number;
}

/**
 * `bypass`: an earlier result for the same key depended on the caller, so this result is fetched with credentials at once. `stale`: of the misses,
 * those whose fetch failed, so that the stored result was used.
 */
export type EntityLookup = "hit" | "miss" | "bypass" | "stale";

type EntityCacheObservation =
  | {
      readonly kind: "entity-cache-read";
      readonly service: string;
      readonly results: Readonly<Partial<Record<EntityLookup, number>>>;
    }
  /** The cache fetches without credentials first. This request is repeated with them: not all of its results are the same for every caller. */
  | { readonly kind: "entity-cache-repeat"; readonly service: string };

/** Values that do not fit the schema, by their paths in the response to the client; each became null. */
interface ValuesRejected extends RequestIds {
  readonly kind: "values-rejected";
  /** The subgraph of the first value; `gateway` if it is not known. */
  readonly service: string;
  /** The code of the first value. */
  readonly code: string;
  readonly problems: readonly { readonly path: string; readonly code: string }[];
}
