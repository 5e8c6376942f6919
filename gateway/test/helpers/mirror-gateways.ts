import type { RequestListener } from "node:http";
import type { GatewayObservation } from "../../src/observations.ts";
import { type Comparison, compareLanes, copyRequests, isEqual, type Lane, type RawRequest } from "./compare-paths.ts";

/** A gateway beside the one under test, with the same supergraph. */
export interface Twin extends Lane {
  /** The supergraph that it serves: none before the first is loaded. */
  supergraphId(): string | undefined;
  /** Resolves once there is an observation of a kind. */
  seen(kind: GatewayObservation["kind"]): Promise<void>;
  drain(): Promise<void>;
}

export interface Twins {
  /** Asks both twins what the gateway under test is asked. */
  watch(handler: RequestListener): RequestListener;
  /** @throws Error when an answer differed between the lanes. */
  drain(): Promise<void>;
}

export interface TwinsOptions {
  readonly full: Twin;
  readonly fast: Twin;
  /** Of the gateway under test. */
  readonly supergraphId: () => string | undefined;
  /** Undoes what one request has changed in the subgraphs. */
  readonly reset?: () => void;
}

/**
 * Every request of the suite through both lanes: `COMPARE_LANES=true npx vitest run gateway/test`. Not compared are requests that end without an
 * answer (their client left), those that Node's parser refuses before there is a lane, those that come while the supergraph is being
 * changed, and those of gateways that get it from an address, or that a test starts as a process.
 */
export function createTwins({ full, fast, supergraphId, reset }: TwinsOptions): Twins {
  const failures: string[] = [];
  let comparedCount = 0;
  let fastCount = 0;
  let skippedCount = 0;
  // One after the other: which lane a request took is asked of the last one.
  let turn = Promise.resolve();

  async function compare(request: RawRequest, id: string | undefined): Promise<void> {
    if ([full, fast].some((twin) => twin.supergraphId() !== id)) return void skippedCount++;
    const comparison = await compareLanes(request, { full, fast }, reset);
    comparedCount++;
    if (comparison.isFast) fastCount++;
    if (!isEqual(comparison)) failures.push(show(comparison));
  }

  return {
    watch: (handler) =>
      copyRequests(handler, (request) => {
        const id = supergraphId();
        turn = turn.then(() => compare(request, id)).catch((error: unknown) => void failures.push(String(error)));
        return turn;
      }),
    async drain() {
      await turn;
      await Promise.all([full.drain(), fast.drain()]);
      process.stdout.write(`lanes: ${comparedCount} compared, ${fastCount} fast, ${skippedCount} not compared\n`);
      if (failures.length > 0) throw new Error(`The lanes differ ${failures.length} times: ${failures[0]}`);
    },
  };
}

function show({ request, full, cold, warm }: Comparison): string {
  return [request.line, request.body.toString().slice(0, 2_000), full, cold, warm].join("\n--\n");
}
