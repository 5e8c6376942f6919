/**
 * Stage 4 of 5: run. How many mutations to one subgraph have settled: by a response, a failure, a timeout or an abort.
 *
 * A mutation counts when it settles, not when it is sent. A query sent while it is in flight may be executed before its commit, so a client
 * that has its response must not join that query; until the response, both orders are correct for every client.
 */
export interface WriteCount {
  settled: number;
}

/**
 * The count of a subgraph, by name. One for all generations: a client can write through the generation that its request has pinned, and read
 * through the next one. Bounded by the subgraphs of the supergraphs that were served.
 */
export function createWriteCounts(): (service: string) => WriteCount {
  const byService = new Map<string, WriteCount>();

  return (service) => {
    const count = byService.get(service) ?? { settled: 0 };
    byService.set(service, count);
    return count;
  };
}
