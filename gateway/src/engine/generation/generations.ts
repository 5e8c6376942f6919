// Everything that is derived from one supergraph is a generation. A request uses one from start to end, while a new one replaces it for later
// requests.
import { createHash } from "node:crypto";
import type { DocumentNode } from "graphql";
import type { MapSize } from "@tributary/kit/collections/bounded-map";
import { UnusableSupergraph } from "../../errors/unusable-supergraph.ts";
import type { GatewayObserver } from "../../observations.ts";
import type { SubgraphConfiguration, SupergraphSubgraph } from "../../subgraph-settings/subgraph-settings.ts";
import type { Subgraphs } from "../run/fetch/subgraph.ts";
import type { OperationStore } from "../parse/operation-store.ts";
import type { SupergraphStages } from "./supergraph-stages.ts";
import type { DocumentValidator } from "./apollo-validation.ts";
import type { DocumentPreparation } from "./document-preparation.ts";
import { findNamedSubgraphs } from "./named-subgraphs.ts";

/** Immutable, except for its caches. */
export interface Generation {
  readonly apiSdl: string;
  readonly supergraph: DocumentNode;
  readonly subgraphs: readonly SupergraphSubgraph[];
  /** The subgraphs as the settings of a request have them. */
  connect(configuration: SubgraphConfiguration): Subgraphs;
  readonly stages: SupergraphStages;
  readonly validation: DocumentValidator;
  readonly operations: OperationStore;
  readonly documents: DocumentPreparation;
  sizeOfPlans(): MapSize;
  /** The most used operation first. */
  listMostUsed(operationsMax: number): readonly UsedOperation[];
  /** One operation after the other, until the signal is aborted. Skips those that are not valid in this supergraph. */
  warm(operations: readonly UsedOperation[], signal: AbortSignal): Promise<void>;
  /** Called when it replaces the one before, before the first request uses it. */
  activate(): void;
  /** Drops the cached operations. Called before `close`, when another generation replaces this one. */
  retire(): void;
  /** Called once: when no request uses it any more, when its grace time has passed, or when the gateway closes. */
  close(): Promise<void>;
}

export interface UsedOperation {
  readonly source: string;
  readonly operationName: string | undefined;
  /** Values of the variables in `@skip` and `@include`: each combination has its own plan. */
  readonly conditions: readonly Readonly<Record<string, unknown>>[];
}

export interface Pinned {
  readonly generation: Generation;
  /** To be called when the run of the request has ended. Further calls do nothing. */
  release(): void;
}

/** `retry`: another load of the same supergraph can succeed. */
export type LoadOutcome = { readonly kind: "loaded" | "retry" } | RejectedSupergraph;

interface RejectedSupergraph {
  readonly kind: "rejected";
  readonly id: string;
  readonly reason: string;
  /** Whose part of the supergraph the reason names. */
  readonly subgraphs: readonly string[];
}

export interface Generations {
  /** Not closed before `release`, or before `graceMs` have passed since it was replaced. */
  pin(): Pinned | undefined;
  readonly current: Generation | undefined;
  /** A hash of the supergraph. */
  readonly currentId: string | undefined;
  /** Milliseconds since 1970. */
  readonly loadedAtMs: number | undefined;
  /**
   * Builds a generation, warms it with the most used operations of the current one, and replaces that. A supergraph that cannot be loaded is reported
   * and changes nothing. Never rejects. The caller waits for one load before the next.
   */
  load(supergraphSdl: string): Promise<LoadOutcome>;
  /** Called after the last request. */
  close(): Promise<void>;
}

export interface GenerationsOptions {
  readonly build: (supergraphSdl: string) => Promise<Generation>;
  readonly observe: GatewayObserver;
  /** Called before a generation replaces the current one, which waits for it. Never rejects. */
  readonly prepare?: ((next: Generation) => Promise<void>) | undefined;
  readonly graceMs: number;
  /** Warming stops after this time. */
  readonly warmMsMax?: number;
}

const operationsWarmedMax = 50;
/** The most replaced generations that still have requests in flight. While there are this many, no further generation is built. */
const retiredMax = 4;

interface GenerationEntry {
  readonly id: string;
  readonly generation: Generation;
  readonly loadedAtMs: number;
  pins: number;
  /** Resolved when `close` of the generation is called. */
  readonly closed: PromiseWithResolvers<void>;
  graceTimer?: NodeJS.Timeout;
}

export function createGenerations(o: GenerationsOptions): Generations {
  const { build, observe, prepare, graceMs, warmMsMax = 5_000 } = o;
  const retired = new Set<GenerationEntry>();
  let current: GenerationEntry | undefined;
  let isClosed = false;

  async function load(supergraphSdl: string): Promise<LoadOutcome> {
    const id = createHash("sha256").update(supergraphSdl).digest("hex").slice(0, 12);
    const startedMs = performance.now();
    try {
      while (retired.size >= retiredMax) {
        await Promise.race([...retired].map(({ closed }) => closed.promise));
      }
      const generation = await build(supergraphSdl);
      const warmed = warm(generation, current?.generation, warmMsMax).catch(reportBug);
      await prepare?.(generation);
      await warmed;
      // The gateway was closed in the meantime.
      if (isClosed) await generation.close();
      else replaceCurrent(id, generation, startedMs);
      return { kind: isClosed ? "retry" : "loaded" };
    } catch (cause) {
      return isClosed ? { kind: "retry" } : reportFailedLoad(id, supergraphSdl, cause, observe);
    }
  }

  function replaceCurrent(id: string, generation: Generation, startedMs: number): void {
    const replaced = current;
    generation.activate();
    current = { id, generation, loadedAtMs: Date.now(), pins: 0, closed: Promise.withResolvers() };
    if (replaced) retire(replaced);
    const tookMs = Math.round(performance.now() - startedMs);
    observe({ kind: "supergraph-loaded", id, subgraphs: generation.subgraphs.map(({ service }) => service), tookMs });
  }

  function retire(entry: GenerationEntry): void {
    retired.add(entry);
    entry.generation.retire();
    if (entry.pins === 0) close(entry);
    else entry.graceTimer = setTimeout(() => close(entry), graceMs).unref();
  }

  function close(entry: GenerationEntry): void {
    if (!retired.delete(entry)) return;
    clearTimeout(entry.graceTimer);
    entry.closed.resolve();
    entry.generation.close().catch(reportBug);
  }

  function reportBug(cause: unknown): void {
    observe({ kind: "internal-error", cause });
  }

  function closeIfUnused(entry: GenerationEntry): void {
    if (entry !== current && entry.pins === 0) close(entry);
  }

  return {
    pin: () => current && pinEntry(current, closeIfUnused),
    load,
    get current() {
      return current?.generation;
    },
    get currentId() {
      return current?.id;
    },
    get loadedAtMs() {
      return current?.loadedAtMs;
    },
    async close() {
      isClosed = true;
      for (const entry of retired) close(entry);
      const last = current;
      current = undefined;
      await last?.generation.close();
    },
  };
}

function reportFailedLoad(id: string, supergraphSdl: string, cause: unknown, observe: GatewayObserver): LoadOutcome {
  if (cause instanceof UnusableSupergraph) {
    const subgraphs = findNamedSubgraphs(supergraphSdl, cause.message);
    observe({ kind: "supergraph-rejected", id, subgraphs, cause });
    return { kind: "rejected", id, reason: cause.message, subgraphs };
  }
  observe({ kind: "supergraph-load-failed", id, cause });
  return { kind: "retry" };
}

function pinEntry(entry: GenerationEntry, onReleased: (entry: GenerationEntry) => void): Pinned {
  entry.pins++;
  let isReleased = false;
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    entry.pins--;
    onReleased(entry);
  };
  return { generation: entry.generation, release };
}

async function warm(next: Generation, old: Generation | undefined, warmMsMax: number): Promise<void> {
  const operations = old?.listMostUsed(operationsWarmedMax) ?? [];
  if (operations.length === 0) return;
  const controller = new AbortController();
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, warmMsMax);
  try {
    await Promise.race([next.warm(operations, controller.signal), timeout]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}
