import { createTestSettings } from "../../../../settings/testing/test-settings.ts";
import { resolveSubgraph } from "../../../../subgraph-settings/subgraph-settings.ts";
import type { SubgraphClient } from "../subgraph-client.ts";
import type { Subgraph } from "../subgraph.ts";

/** @param yaml the text of gateway.yaml; by default there is no file. */
export function toSubgraph(client: Partial<SubgraphClient> = {}, yaml?: string): Subgraph {
  const name = client.name ?? "notes";
  const settings = resolveSubgraph({ service: name, url: "" }, createTestSettings(yaml).subgraphs);
  return {
    settings,
    client: {
      name,
      writes: { settled: 0 },
      isFull: () => false,
      takeRetry: () => false,
      noteShared() {},
      readStatus: () => ({ breaker: "closed", replicas: [] }),
      post: () => Promise.reject(new Error("not called")),
      close: () => Promise.resolve(),
      ...client,
    },
  };
}
