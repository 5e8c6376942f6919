import type { RequestListener } from "node:http";
import type { GatewayObservation } from "../../src/observations.ts";
import {
  type Comparison,
  sendToBoth,
  mirrorRequests,
  isEqual,
  type PathGateway,
  type RawRequest,
} from "./compare-paths.ts";

/** A second gateway with the supergraph of the gateway under test. */
export interface MirrorGateway extends PathGateway {
  /** Undefined before the first supergraph is loaded. */
  supergraphId(): string | undefined;
  /** Resolves with the first observation of a kind. */
  seen(kind: GatewayObservation["kind"]): Promise<void>;
  drain(): Promise<void>;
}

export interface PathComparer {
  /** Sends a copy of each request to both mirrors. */
  watch(handler: RequestListener): RequestListener;
  /** @throws Error if a response differed between the paths. */
  drain(): Promise<void>;
}

export interface PathComparerOptions {
  readonly full: MirrorGateway;
  readonly fast: MirrorGateway;
  /** Of the gateway under test. */
  readonly supergraphId: () => string | undefined;
  /** Undoes the changes of one request in the subgraphs. */
  readonly reset?: () => void;
}

/**
 * Sends every request of the suite through both paths: `COMPARE_PATHS=true npx vitest run gateway/test`. Not compared are requests without a
 * response (their client disconnected), requests that Node's parser rejects, requests while the supergraph changes, and requests to gateways
 * that read it from a URL or that a test starts as a process.
 */
export function createPathComparer({ full, fast, supergraphId, reset }: PathComparerOptions): PathComparer {
  const failures: string[] = [];
  let comparedCount = 0;
  let fastCount = 0;
  let skippedCount = 0;
  // Sequential, since a mirror only records the path of its last request.
  let last = Promise.resolve();

  async function compare(request: RawRequest, id: string | undefined): Promise<void> {
    if ([full, fast].some((mirror) => mirror.supergraphId() !== id)) return void skippedCount++;
    const comparison = await sendToBoth(request, { full, fast }, reset);
    comparedCount++;
    if (comparison.isFast) fastCount++;
    if (!isEqual(comparison)) failures.push(show(comparison));
  }

  return {
    watch: (handler) =>
      mirrorRequests(handler, (request) => {
        const id = supergraphId();
        last = last.then(() => compare(request, id)).catch((error: unknown) => void failures.push(String(error)));
        return last;
      }),
    async drain() {
      await last;
      await Promise.all([full.drain(), fast.drain()]);
      process.stdout.write(`paths: ${comparedCount} compared, ${fastCount} fast, ${skippedCount} not compared\n`);
      if (failures.length > 0) throw new Error(`The paths differ ${failures.length} times: ${failures[0]}`);
    },
  };
}

function show({ request, full, cold, warm }: Comparison): string {
  return [request.line, request.body.toString().slice(0, 2_000), full, cold, warm].join("\n--\n");
}
