// Stage 4 of 5: run. The settled mutations of this process to each subgraph. A mutation counts when it settles: a query that is sent before may be
// executed before the commit.
import type { WriteCount } from "./fetch/subgraph-client.ts";

/** One for all generations: a client can write through the one that its request has pinned, and read through the next. Bounded by the subgraphs. */
export function createWriteCounts(): (service: string) => WriteCount {
  const byService = new Map<string, WriteCount>();

  return (service) => {
    const count = byService.get(service) ?? { settled: 0 };
    byService.set(service, count);
    return count;
  };
}
