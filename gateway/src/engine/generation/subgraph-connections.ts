// The subgraphs of one supergraph with their clients, for each snapshot of the settings.
import type { GatewayObserver } from "../../observations.ts";
import {
  listUnknownNames,
  resolveSubgraph,
  type SubgraphConfiguration,
  type SubgraphSettings,
  type SupergraphSubgraph,
} from "../../subgraph-settings/subgraph-settings.ts";
import type { SubgraphClient } from "../run/fetch/subgraph-client.ts";
import type { Subgraph, Subgraphs } from "../run/fetch/subgraph.ts";

export interface SubgraphConnectionOptions {
  readonly subgraphs: readonly SupergraphSubgraph[];
  readonly createClient: (settings: SubgraphSettings) => SubgraphClient;
  /** A request that has arrived before a change of the settings ends within this time. */
  readonly graceMs: number;
  /** Its settings have changed, so its stored results may be those of another server or tenant. */
  readonly onChanged: (settings: SubgraphSettings) => void;
  readonly observe: GatewayObserver;
}

export interface SubgraphConnections {
  /** By the settings that a request has pinned at its arrival. */
  of(settings: SubgraphConfiguration): Subgraphs;
  close(): Promise<void>;
}

/** A change replaces only the clients of the subgraphs whose settings it changes: the connections of others stay open. */
export function createSubgraphConnections(
  o: SubgraphConnectionOptions,
  first: SubgraphConfiguration,
): SubgraphConnections {
  const bySettings = new WeakMap<SubgraphConfiguration, Subgraphs>();
  const replaced = new Map<Subgraph, NodeJS.Timeout>();
  let current = { settings: first, subgraphs: connect(first, undefined) };

  function connect(settings: SubgraphConfiguration, before: Subgraphs | undefined): Subgraphs {
    const unknown = listUnknownNames(o.subgraphs, settings);
    // Once for each supergraph: variables do not change, and are counted for each load.
    if (!before) for (const variable of unknown.variables) o.observe({ kind: "variable-without-subgraph", variable });
    for (const key of unknown.keys) o.observe({ kind: "setting-without-subgraph", key });
    const subgraphs = new Map(
      o.subgraphs.map((subgraph) => {
        const resolved = resolveSubgraph(subgraph, settings);
        const known = before?.get(resolved.service);
        if (known?.settings.fingerprint === resolved.fingerprint) return [resolved.service, known];
        if (known) o.onChanged(resolved);
        if (resolved.urls.length === 0) o.observe({ kind: "subgraph-without-address", service: resolved.service });
        return [resolved.service, open(resolved, known, o)];
      }),
    );
    bySettings.set(settings, subgraphs);
    return subgraphs;
  }

  function closeLater(subgraph: Subgraph): void {
    const close = () => {
      replaced.delete(subgraph);
      void subgraph.client.close();
    };
    replaced.set(subgraph, setTimeout(close, o.graceMs).unref());
  }

  return {
    of(settings) {
      if (settings === current.settings) return current.subgraphs;
      // A request that arrived before the last change, or before this supergraph.
      if (settings.revision < current.settings.revision) return bySettings.get(settings) ?? current.subgraphs;
      const before = current.subgraphs;
      current = { settings, subgraphs: connect(settings, before) };
      const clients = new Set([...current.subgraphs.values()].map(({ client }) => client));
      for (const subgraph of before.values()) if (!clients.has(subgraph.client)) closeLater(subgraph);
      return current.subgraphs;
    },
    async close() {
      const open = [...current.subgraphs.values(), ...replaced.keys()];
      for (const timer of replaced.values()) clearTimeout(timer);
      replaced.clear();
      await Promise.all(open.map(({ client }) => client.close()));
    },
  };
}

/** The client stays if only its headers or its errors have other rules. */
function open(settings: SubgraphSettings, before: Subgraph | undefined, o: SubgraphConnectionOptions): Subgraph {
  const isSame = before && clientSettingsOf(before.settings) === clientSettingsOf(settings);
  return { settings, client: isSame ? before.client : o.createClient(settings) };
}

function clientSettingsOf(settings: SubgraphSettings): string {
  const { urls, timeoutMs, attemptsMax, requestsMax, bodyBytesMax, followsRedirects, tls } = settings;
  return JSON.stringify([urls, timeoutMs, attemptsMax, requestsMax, bodyBytesMax, followsRedirects, tls]);
}
