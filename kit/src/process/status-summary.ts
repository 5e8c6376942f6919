// The state of a process in a few lines, for `npm run status` and the front pages in development.
import {
  type CalledService,
  type DatabaseState,
  type DocumentsState,
  type LoadedState,
  type ProcessState,
  type ReplicaStatus,
  scrubStatusText,
  type SupergraphState,
} from "./process-status.ts";

export interface StatusLine {
  readonly label: string;
  readonly text: string;
  /** Whether clients miss something, or will: a replica is ejected, none is healthy, a feed is down, a supergraph is rejected. */
  readonly isDown: boolean;
}

const reasonCharactersMax = 200;

export function summarizeState(state: ProcessState): readonly StatusLine[] {
  const { supergraph, documents, routes, services = [], caches, admission, rateLimits, database, feedReaders } = state;
  const lines: StatusLine[] = [];
  const add = (label: string, texts: readonly (string | undefined | false)[], isDown = false) =>
    lines.push({ label, text: scrubStatusText(texts.filter(Boolean).join("; ")), isDown });
  if (supergraph) add("supergraph", describeSupergraph(supergraph), isMissing(supergraph));
  if (documents) add("documents", describeDocuments(documents), isMissing(documents));
  if (routes) add("routes", [`versions ${routes.versions.join(", ")}, from ${routes.file}`]);
  for (const service of services) add(service.service, describeService(service), isServiceDown(service));
  if (database) add("database", describeDatabase(database), (database.migrations?.pending.length ?? 0) > 0);
  if (feedReaders !== undefined) add("change feed", [count(feedReaders, "reader")]);
  if (caches) add("caches", [Object.entries(caches).map(describeCache).join(", ")]);
  if (admission) {
    const limit = admission.limit === null || admission.limit === Infinity ? "none" : Math.floor(admission.limit);
    add("admission", [`${admission.inFlight} in flight, limit ${limit}, ${admission.waiting} waiting`]);
  }
  if (rateLimits) {
    const { readsPerMinute: reads, writesPerMinute: writes, store } = rateLimits;
    const limits = `${reads} reads, ${writes} writes a minute`;
    add("rate limits", [limits, store && `store ${store}`], store === "unavailable");
  }
  return lines;
}

/** `3 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`;
}

function describeSupergraph(supergraph: SupergraphState) {
  return describeLoaded(supergraph.id ?? "", supergraph);
}

function describeDocuments(documents: DocumentsState) {
  return [...describeLoaded(`${documents.count} registered`, documents), `mode ${documents.mode}`];
}

function describeLoaded(what: string, { source, ageSeconds, staleSeconds, rejected }: LoadedState) {
  return [
    ageSeconds === undefined
      ? `none from ${source}`
      : `${what}, loaded ${formatSeconds(ageSeconds)} ago, from ${source}`,
    staleSeconds > 0 && `not confirmed for ${formatSeconds(staleSeconds)}`,
    rejected && `REJECTED ${rejected.id}: ${shorten(rejected.reason)}`,
  ];
}

function isMissing({ ageSeconds, rejected }: LoadedState): boolean {
  return ageSeconds === undefined || Boolean(rejected);
}

function describeService({ owner, breaker, replicas, feed }: CalledService) {
  const unhealthy = replicas.filter(({ state }) => state !== "healthy").map(describeReplica);
  const healthyCount = replicas.length - unhealthy.length;
  return [
    replicas.length === 0 ? "no request yet" : `${healthyCount} of ${count(replicas.length, "replica")} healthy`,
    breaker === "open" && "BREAKER OPEN",
    ...unhealthy,
    feed && `feed ${feed}`,
    owner,
  ];
}

function isServiceDown({ breaker, replicas, feed }: CalledService): boolean {
  // The last replica in service is never ejected.
  const isNoneHealthy = replicas.length > 0 && replicas.every(({ state }) => state !== "healthy");
  return feed === "down" || breaker === "open" || isNoneHealthy || replicas.some(isOutOfService);
}

function isOutOfService({ state }: ReplicaStatus): boolean {
  return state === "ejected" || state === "probing";
}

function describeReplica({ replica, state, reason }: ReplicaStatus): string {
  return `${replica} ${state}${reason === undefined ? "" : ` (${shorten(reason)})`}`;
}

function describeDatabase({ connections, idle, waiting, connectionsMax, migrations }: DatabaseState) {
  return [
    `${connections - idle} of ${connectionsMax} connections in use, ${waiting} waiting`,
    migrations ? count(migrations.applied, "migration") : "migrations unknown",
    migrations && migrations.pending.length > 0 && `PENDING ${migrations.pending.join(", ")}`,
  ];
}

function describeCache([name, { entries, bytes }]: readonly [string, { entries: number; bytes: number }]): string {
  return `${name} ${entries} (${(bytes / 1_000_000).toFixed(1)} MB)`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function shorten(text: string): string {
  const [line = ""] = text.split("\n");
  return line.length > reasonCharactersMax ? `${line.slice(0, reasonCharactersMax)}…` : line;
}
