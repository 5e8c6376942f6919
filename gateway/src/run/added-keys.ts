// Stage 4 of 5: run. Finds out whether a subgraph returns the keys that the gateway adds to its entity fetches (plan/compile/key-checks.ts). run.ts
// calls it for a response that is not complete and valid, and sends the request again without the keys that are stopped.
import type { Joins } from "../plan/compile/compiled-plan.ts";
import type { StoppedKeyAdditions } from "../plan/compile/key-checks.ts";
import type { GatewayObserver } from "../observations.ts";
import type { SentFetch } from "./accept-response.ts";
import { checkAddedKeys } from "./entities.ts";
import type { FetchResult } from "./subgraph-response.ts";

interface AddedKeyOptions {
  readonly stoppedKeyAdditions: StoppedKeyAdditions;
  readonly observe: GatewayObserver;
}

/**
 * Stops adding the keys of each type of which the response has an error at an added key, or an entity without it. But not the keys of a type of
 * which an entity has another key than requested: without its key, the repeated request would accept this entity.
 * @param fetches of the request; only reads have added keys.
 * @returns whether the keys of a type in this request have been stopped.
 */
export function stopUnreturnedKeys(
  result: FetchResult,
  fetches: readonly SentFetch[],
  joins: Joins,
  { stoppedKeyAdditions, observe }: AddedKeyOptions,
): boolean {
  const [first] = fetches;
  if (result.kind !== "graphql" || !first) return false;
  // All fetches of a request have the same subgraph and the same added keys.
  const { fetch, addedKeys } = first;
  const missing = new Set<string>();
  const different = new Set<string>();
  for (const sent of fetches) {
    const { representations } = sent;
    const entities = result.data?.[sent.fetch.representations?.entitiesKey ?? ""];
    if (representations && Array.isArray(entities) && entities.length === representations.count)
      checkAddedKeys(sent, representations, entities, joins, { missing, different });
  }
  for (const { path } of result.errors) {
    // The path of an error at an added key. The second step is the index of the entity.
    const [entitiesKey, , responseName] = path ?? [];
    const type = addedKeys.get(`${entitiesKey}.${responseName}`);
    if (type !== undefined) missing.add(type);
  }
  const stopped = [...missing].filter((type) => !different.has(type));
  for (const type of stopped) {
    const { service } = fetch;
    if (stoppedKeyAdditions.stop(service, type)) observe({ kind: "key-check-stopped", service, type });
  }
  return stopped.length > 0;
}
