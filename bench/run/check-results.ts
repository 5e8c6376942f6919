import { isDeepStrictEqual } from "node:util";
import type { BenchmarkRequest } from "../graph/reference-executor.ts";
import type { Workload } from "../workloads/workloads.ts";
import type { GatewayProcess } from "./gateway-process.ts";

/** Limit of compared requests per workload, evenly distributed over all of its requests. */
const comparedMax = 40;

/**
 * Compares a contender's results with those of the reference executor. For the cold workload it sends the priming
 * requests only, because a document that was sent here would no longer be cold.
 * @throws Error if a result differs or has errors.
 */
export async function checkResults(
  gateway: GatewayProcess,
  { title, requests, primingRequests: compared = requests }: Workload,
  executeReference: (request: BenchmarkRequest) => unknown,
): Promise<void> {
  const step = Math.ceil(compared.length / comparedMax);
  for (const request of compared.filter((_, index) => index % step === 0)) {
    const { data, errors } = await gateway.execute(request);
    if (errors === undefined && isDeepStrictEqual(data, executeReference(request))) continue;
    const excerpt = JSON.stringify(errors ?? data).slice(0, 1_000);
    throw new Error(`Wrong result (${title}) for ${JSON.stringify(request)}:\n${excerpt}`);
  }
}
