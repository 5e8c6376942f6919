// What `/status` says of the gateway. Read when it is requested.
import type { Admission } from "@tributary/kit/admission/admission";
import type {
  CalledService,
  DocumentsState,
  ProcessState,
  SupergraphState,
} from "@tributary/kit/process/process-status";
import type { CallerLimits } from "@tributary/kit/rate-limit/caller-limits";
import type { Config } from "./config.ts";
import type { DocumentStore } from "./documents/document-store.ts";
import type { Generation, Generations } from "./engine/generation/generations.ts";
import type { EntityCache } from "./engine/run/caching/entity-cache.ts";
import type { Settings } from "./settings.ts";
import type { SettingsStore } from "./settings-store.ts";
import type { SupergraphWatcher } from "./supergraph/supergraph-watcher.ts";
import type { CacheSizes } from "./telemetry/cache-metrics.ts";

export interface GatewayStateOptions {
  readonly config: Pick<Config, "build">;
  readonly settings: Pick<SettingsStore, "current">;
  readonly generations: Generations;
  readonly watcher: SupergraphWatcher;
  readonly documents: DocumentStore | undefined;
  readonly entityCache: EntityCache | undefined;
  readonly admission: Pick<Admission, "readState">;
  readonly callerLimits: Pick<CallerLimits, "readState">;
  readonly cacheSizes: () => CacheSizes;
}

export function createStateReader(o: GatewayStateOptions): () => ProcessState {
  return () => ({
    ...o.config.build,
    supergraph: readSupergraphState(o.generations, o.watcher),
    ...(o.documents && { documents: readDocumentsState(o.documents, o.settings.current) }),
    services: listCalledServices(o.generations.current, o.settings.current, o.entityCache),
    caches: toCacheStates(o.cacheSizes()),
    admission: o.admission.readState(),
    rateLimits: o.callerLimits.readState(),
  });
}

function readSupergraphState(
  { currentId: id, loadedAtMs }: Generations,
  { source, status }: SupergraphWatcher,
): SupergraphState {
  const { staleSeconds, rejected } = status();
  return { id, source, ageSeconds: toAgeSeconds(loadedAtMs), staleSeconds, rejected };
}

function readDocumentsState(
  { source, loadedAtMs, current, status }: DocumentStore,
  { documentsMode: mode }: Settings,
): DocumentsState {
  const { staleSeconds, rejected } = status();
  const ageSeconds = toAgeSeconds(loadedAtMs);
  return { mode, count: current.list().length, source, ageSeconds, staleSeconds, rejected };
}

function toAgeSeconds(loadedAtMs: number | undefined): number | undefined {
  return loadedAtMs === undefined ? undefined : Math.round((Date.now() - loadedAtMs) / 1_000);
}

function listCalledServices(
  generation: Generation | undefined,
  { subgraphs }: Settings,
  entityCache: EntityCache | undefined,
): readonly CalledService[] {
  const connected = [...(generation?.connect(subgraphs).values() ?? [])];
  return connected.map(({ settings: { service, owner }, client }) => {
    const isFollowed = entityCache?.isFollowed(service);
    const feed = isFollowed === undefined ? undefined : isFollowed ? "up" : "down";
    return { service, owner, ...client.readStatus(), feed };
  });
}

function toCacheStates(sizes: CacheSizes): NonNullable<ProcessState["caches"]> {
  const states = Object.entries(sizes).map(([name, { entries, weight }]) => [name, { entries, bytes: weight }]);
  return Object.fromEntries(states) as NonNullable<ProcessState["caches"]>;
}
