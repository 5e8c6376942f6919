// The state of a process, for operators: `/status` of the admin listener and, in development, `/health/status` of the server for clients.
import { setTimeout as sleep } from "node:timers/promises";
import { scrubText } from "../errors/scrub.ts";

/** Read when it is requested. A section is absent if the process has no such part. */
export interface ProcessState {
  readonly version: string;
  readonly revision: string;
  readonly supergraph?: SupergraphState;
  /** The registered ones; absent without a source of them. */
  readonly documents?: DocumentsState;
  readonly routes?: { readonly file: string; readonly versions: readonly number[] };
  /** Those that this process calls. */
  readonly services?: readonly CalledService[];
  readonly caches?: Readonly<Record<string, { readonly entries: number; readonly bytes: number }>>;
  /** `limit` is Infinity, in JSON null, if admission is off. */
  readonly admission?: { readonly inFlight: number; readonly limit: number | null; readonly waiting: number };
  readonly rateLimits?: RateLimitState;
  readonly database?: DatabaseState;
  /** Of the process's own change feed. */
  readonly feedReaders?: number;
}

/** What is loaded from a source that is polled. */
export interface LoadedState {
  readonly source: string;
  /** Undefined before it is loaded. */
  readonly ageSeconds: number | undefined;
  /** Since the source confirmed it; 0 if the last poll did. */
  readonly staleSeconds: number;
  readonly rejected:
    | { readonly id: string; readonly reason: string; readonly subgraphs: readonly string[] }
    | undefined;
}

export interface SupergraphState extends LoadedState {
  /** Undefined before one is loaded. */
  readonly id: string | undefined;
}

export interface DocumentsState extends LoadedState {
  readonly mode: string;
  readonly count: number;
}

export interface CalledService extends UpstreamStatus {
  readonly service: string;
  readonly owner?: string | undefined;
  /** Undefined for a service whose feed this process does not follow. */
  readonly feed: "up" | "down" | undefined;
}

export interface UpstreamStatus {
  /** Open: no replica responds, and requests fail at once. */
  readonly breaker: "closed" | "open";
  /** Empty before the first request. */
  readonly replicas: readonly ReplicaStatus[];
}

export interface ReplicaStatus {
  readonly replica: string;
  readonly state: "healthy" | "suspect" | "ejected" | "probing";
  readonly inFlight: number;
  /** Why it is not healthy: of the last failure or ejection. */
  readonly reason: string | undefined;
}

export interface RateLimitState {
  /** 0: no limit. */
  readonly readsPerMinute: number;
  readonly writesPerMinute: number;
  /** Undefined if each process counts for itself. */
  readonly store: "available" | "unavailable" | undefined;
}

export interface DatabaseState {
  readonly connections: number;
  readonly idle: number;
  readonly waiting: number;
  readonly connectionsMax: number;
  /** Undefined if they cannot be read. */
  readonly migrations: { readonly applied: number; readonly pending: readonly string[] } | undefined;
}

export interface ProcessStatus extends ProcessState {
  readonly process: string;
  readonly status: "ready" | "not ready";
  readonly uptimeSeconds: number;
}

export type ReadState = () => ProcessState | Promise<ProcessState>;

/** A query may have an API key. */
const urlQuery = /(https?:\/\/[^\s?#]*)\?[^\s"'`)]*/gi;

/** Removes the URL credentials and queries, tokens and mail addresses that a name or the message of an error may contain. */
export function scrubStatusText(text: string): string {
  return scrubText(text).replaceAll(urlQuery, "$1");
}

/** A database that does not respond delays the answer for longer than an operator, and the admin thread, wait. */
const readinessMs = 2_000;

export async function readStatus(
  name: string,
  readiness: () => Promise<Pick<ProcessStatus, "status">>,
  readState: ReadState,
): Promise<ProcessStatus> {
  const { status } = await Promise.race([
    readiness(),
    sleep(readinessMs, { status: "not ready" } as const, { ref: false }),
  ]);
  // Afterwards: the check of readiness may use a connection of the pool.
  const state = await readState();
  const whole: ProcessStatus = { process: name, status, uptimeSeconds: Math.round(process.uptime()), ...state };
  const scrub = (_key: string, value: unknown) => (typeof value === "string" ? scrubStatusText(value) : value);
  return JSON.parse(JSON.stringify(whole, scrub)) as ProcessStatus;
}
