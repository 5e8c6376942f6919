import { createHash } from "node:crypto";
import type { ApolloLane } from "../lanes/apollo.ts";
import type { Observe } from "../telemetry/observations.ts";

/** All that is derived from one supergraph. Immutable. */
export interface Generation {
  /** The API schema as text. */
  readonly apiSdl: string;
  readonly subgraphs: readonly string[];
  readonly lane: ApolloLane;
  /** Frees what it holds; called once, when no request uses it any more. */
  close(): Promise<void>;
}

type Pinned = Generation & { release(): void };

export interface Generations {
  /** The current one, kept alive until released: a request sees one supergraph from start to end. Undefined before the first. */
  pin(): Pinned | undefined;
  readonly current: Generation | undefined;
  /** Builds a generation aside and swaps it in by one assignment. One that cannot be built changes nothing and is reported. */
  load(supergraphSdl: string): Promise<void>;
  /** After the last request. */
  close(): Promise<void>;
}

interface Kept {
  readonly generation: Generation;
  pins: number;
  retired: boolean;
}

export function createGenerations(o: {
  readonly build: (supergraphSdl: string) => Promise<Generation>;
  readonly observe: Observe;
}): Generations {
  let current: Kept | undefined;

  function retireIfIdle(kept: Kept): void {
    if (!kept.retired || kept.pins > 0) return;
    kept.generation
      .close()
      .catch((cause: unknown) => o.observe({ kind: "internal-error", requestId: undefined, cause }));
  }

  function swap(next: Kept): void {
    const old = current;
    current = next;
    if (!old) return;
    old.retired = true;
    retireIfIdle(old);
  }

  async function load(supergraphSdl: string): Promise<void> {
    const id = createHash("sha256").update(supergraphSdl).digest("hex").slice(0, 12);
    const startedMs = performance.now();
    try {
      const generation = await o.build(supergraphSdl);
      swap({ generation, pins: 0, retired: false });
      o.observe({
        kind: "supergraph-loaded",
        id,
        subgraphs: generation.subgraphs,
        tookMs: Math.round(performance.now() - startedMs),
      });
    } catch (cause) {
      o.observe({ kind: "supergraph-refused", id, cause });
    }
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
      retireIfIdle(kept);
    }
    return { ...kept.generation, release };
  }

  return {
    pin,
    load,
    get current() {
      return current?.generation;
    },
    async close() {
      const last = current;
      current = undefined;
      await last?.generation.close();
    },
  };
}
