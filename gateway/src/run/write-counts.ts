// Stage 4 of 5: run. The settled mutations of this process to each subgraph. A mutation counts when it settles, not when it is sent: a query that is sent
// in between may be executed before the commit, so a client that has the mutation's response must not join that query.
import type { WriteCount } from "./fetch/subgraph-client.ts";

/**
 * By name. One for all generations: a client can write through the generation that its request has pinned, and read through the next one. Bounded by
 * the subgraphs of the supergraphs that were served.
 */
export function createWriteCounts(): (service: string) => WriteCount {
  const byService = new Map<string, WriteCount>();

  return (service) => {
    const count = byService.get(service) ?? { settled: 0 };
    byService.set(service, count);
    return count;
  };
}
