// The settings of each subgraph of a supergraph. Resolved once per generation, from the supergraph and the variables.
import { isHttpUrl } from "@tributary/kit/http/http-url";
import { type ConstDirectiveNode, type DocumentNode, Kind } from "graphql";
import {
  cachePrefix,
  feedPrefix,
  keyCheckPrefix,
  type SubgraphVariables,
  suffixOf,
  urlPrefix,
} from "./subgraph-variables.ts";

export interface SubgraphSettings {
  readonly service: string;
  /** The URLs of its replicas; empty if neither the supergraph nor the configuration has a usable URL. */
  readonly urls: readonly string[];
  /** The deadline of one fetch, retries and body included. */
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
  /** Whether the keys of returned entities are compared with the requested ones (run/entities.ts). */
  readonly checksKeys: boolean;
}

export interface ResolvedSubgraphs {
  readonly subgraphs: readonly SubgraphSettings[];
  /** Variables that name no subgraph of this supergraph, most likely by a typo. */
  readonly unknownVariables: readonly string[];
}

/**
 * The subgraphs are the values of the `join__Graph` enum (join spec v0.1 to v0.5).
 * @throws Error if the document is not a supergraph.
 */
export function resolveSubgraphs(supergraph: DocumentNode, variables: SubgraphVariables): ResolvedSubgraphs {
  const { timeoutMs, bodyBytesMax, urls, checksKeys, feeds, cached } = variables;
  const graphs = readJoinGraph(supergraph);
  const subgraphs = graphs.map(({ service, url }) => {
    const suffix = suffixOf(service);
    const supergraphUrls = isHttpUrl(url) ? [url] : [];
    return {
      service,
      urls: urls.get(suffix) ?? supergraphUrls,
      timeoutMs,
      bodyBytesMax,
      checksKeys: checksKeys.get(suffix) ?? true,
    };
  });
  const suffixes = new Set(graphs.map(({ service }) => suffixOf(service)));
  const listUnknown = (prefix: string, named: { keys(): Iterable<string> }) =>
    [...named.keys()].filter((suffix) => !suffixes.has(suffix)).map((suffix) => `${prefix}${suffix}`);
  const unknownVariables = [
    ...listUnknown(urlPrefix, urls),
    ...listUnknown(keyCheckPrefix, checksKeys),
    ...listUnknown(cachePrefix, cached),
    ...listUnknown(feedPrefix, feeds),
  ];
  return { subgraphs, unknownVariables };
}

/** The URL is empty if the supergraph has none. */
function readJoinGraph(supergraph: DocumentNode): readonly { service: string; url: string }[] {
  const graphEnum = supergraph.definitions.find(
    (node) => node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === "join__Graph",
  );
  if (graphEnum?.kind !== Kind.ENUM_TYPE_DEFINITION)
    throw new Error("The schema is not a supergraph: it has no enum join__Graph");
  return (graphEnum.values ?? []).map((enumValue) => {
    const directive = enumValue.directives?.find(({ name }) => name.value === "join__graph");
    const service = readStringArgument(directive, "name") || enumValue.name.value;
    return { service, url: readStringArgument(directive, "url") };
  });
}

/** "" if the directive or the argument is missing, or the argument is no string. */
function readStringArgument(directive: ConstDirectiveNode | undefined, argumentName: string): string {
  const argument = directive?.arguments?.find(({ name }) => name.value === argumentName);
  const value = argument?.value;
  return value?.kind === Kind.STRING ? value.value : "";
}
