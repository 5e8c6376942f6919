import { createHash } from "node:crypto";
import type { Admission } from "./apollo-validation.ts";
import type { Operations } from "../parse/operation-store.ts";
import type { Engine } from "../supergraph-stages.ts";
import type { KeptSize } from "@tributary/kit/collections/bounded-map";
import type { Observe } from "../telemetry/observation-log.ts";

/** All that is derived from one supergraph. Immutable, but for what it keeps. */
export interface Generation {
  /** The API schema as text. */
  readonly apiSdl: string;
  readonly subgraphs: readonly string[];
  readonly engine: Engine;
  readonly admission: Admission;
  /** What the admission has let in. */
  readonly operations: Operations;
  /** How full the plans are that are kept. */
  sizeOfPlans(): KeptSize;
  /** What clients ask for most, the most asked first. */
  listMostUsed(operationsMax: number): readonly UsedOperation[];
  /**
   * Gets operations of another generation ready, one after the other, until the signal says that it took long enough: admitted, planned
   * and compiled as without variables. What is no longer valid is left out.
   */
  warm(operations: readonly UsedOperation[], signal: AbortSignal): Promise<void>;
  /** Drops the cached operations: no request begins with this generation any more. Called once, before `close`. */
  retire(): void;
  /** Frees what it holds; called once, when no request uses it any more. */
  close(): Promise<void>;
}

/** An operation as clients ask for it: enough to plan it anew in another generation. */
export interface UsedOperation {
  readonly source: string;
  readonly operationName: string | undefined;
  /** Values of the variables that decide `@skip` and `@include`: each combination has a plan of its own. */
  readonly conditions: readonly Readonly<Record<string, unknown>>[];
}

export interface Pinned {
  readonly generation: Generation;
  release(): void;
}

export interface Generations {
  /** The current one, kept alive until released: a request sees one supergraph from start to end. Undefined before the first. */
  pin(): Pinned | undefined;
  readonly current: Generation | undefined;
  /** A hash of the current one's supergraph. */
  readonly currentId: string | undefined;
  /**
   * Builds a generation aside, warms it with what the current one is asked for, and swaps it in by one assignment. One that cannot be
   * built changes nothing and is reported. One at a time.
   */
  load(supergraphSdl: string): Promise<void>;
  /** After the last request. */
  close(): Promise<void>;
}

export interface GenerationsOptions {
  readonly build: (supergraphSdl: string) => Promise<Generation>;
  readonly observe: Observe;
  /** An old generation is closed when no request uses it, and after this in any case: longer than a request may take. */
  readonly graceMs: number;
  /** Warming ends after this, done or not. */
  readonly warmMsMax?: number;
}

const operationsWarmedMax = 50;
/** Old generations with requests under way. The next one is not built before one of them is gone. */
const retiredMax = 4;

interface Kept {
  readonly id: string;
  readonly generation: Generation;
  pins: number;
  readonly gone: PromiseWithResolvers<void>;
  grace?: NodeJS.Timeout;
}

export function createGenerations({ build, observe, graceMs, warmMsMax = 5_000 }: GenerationsOptions): Generations {
  const retired = new Set<Kept>();
  let current: Kept | undefined;
  let closed = false;

  async function load(supergraphSdl: string): Promise<void> {
    const id = createHash("sha256").update(supergraphSdl).digest("hex").slice(0, 12);
    const startedMs = performance.now();
    try {
      while (retired.size >= retiredMax) await Promise.race([...retired].map(({ gone }) => gone.promise));
      const generation = await build(supergraphSdl);
      await warm(generation, current?.generation, warmMsMax).catch(reportBug);
      if (closed) return await generation.close();
      swap(id, generation);
      const tookMs = Math.round(performance.now() - startedMs);
      observe({ kind: "supergraph-loaded", id, subgraphs: generation.subgraphs, tookMs });
    } catch (cause) {
      if (!closed) observe({ kind: "supergraph-refused", id, cause });
    }
  }

  function swap(id: string, generation: Generation): void {
    const old = current;
    current = { id, generation, pins: 0, gone: Promise.withResolvers() };
    if (old) retire(old);
  }

  function retire(kept: Kept): void {
    retired.add(kept);
    kept.generation.retire();
    if (kept.pins === 0) end(kept);
    else kept.grace = setTimeout(() => end(kept), graceMs).unref();
  }

  function end(kept: Kept): void {
    if (!retired.delete(kept)) return;
    clearTimeout(kept.grace);
    kept.gone.resolve();
    kept.generation.close().catch(reportBug);
  }

  function reportBug(cause: unknown): void {
    observe({ kind: "internal-error", cause });
  }

  function pin(): Pinned | undefined {
    const kept = current;
    if (!kept) return undefined;
    kept.pins++;
    let released = false;
    function release(): void {
      if (!kept || released) return;
      released = true;
      kept.pins--;
      if (kept.pins === 0 && kept !== current) end(kept);
    }
    return { generation: kept.generation, release };
  }

  return {
    pin,
    load,
    get current() {
      return current?.generation;
    },
    get currentId() {
      return current?.id;
    },
    async close() {
      closed = true;
      for (const kept of retired) end(kept);
      const last = current;
      current = undefined;
      await last?.generation.close();
    },
  };
}

/** Rejects as `warm` of the generation does. */
async function warm(next: Generation, old: Generation | undefined, warmMsMax: number): Promise<void> {
  const operations = old?.listMostUsed(operationsWarmedMax) ?? [];
  if (operations.length === 0) return;
  const enough = new AbortController();
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, warmMsMax);
  try {
    await Promise.race([next.warm(operations, enough.signal), late]);
  } finally {
    clearTimeout(timer);
    enough.abort();
  }
}
