// The subgraphs of a supergraph, with their addresses and settings. Read once per supergraph, by generation.ts.
import { isHttpUrl } from "@tributary/kit/http/http-url";
import { type ConstDirectiveNode, type DocumentNode, Kind } from "graphql";

interface SubgraphAddresses {
  readonly service: string;
  /** The URLs of its replicas; empty if neither the supergraph nor the configuration has a usable URL. */
  readonly urls: readonly string[];
  /** Whether the keys of returned entities are compared with the requested ones (run/entities.ts). */
  readonly checksKeys: boolean;
}

export interface Addresses {
  readonly subgraphs: readonly SubgraphAddresses[];
  /** Variables `SUBGRAPH_URL_…`, `SUBGRAPH_KEY_CHECK_…` and `ENTITY_CACHE_…=on` that name no subgraph of this supergraph, most likely by a typo. */
  readonly unknownVariables: readonly string[];
}

/** The configuration of single subgraphs, by the names of environment variables. */
export interface SubgraphSettings {
  /** `SUBGRAPH_URL_<NAME>`: http(s) URLs. */
  readonly subgraphUrls: Readonly<Record<string, readonly string[]>>;
  /** `SUBGRAPH_KEY_CHECK_<NAME>`: false for `off`. */
  readonly subgraphKeyChecks: Readonly<Record<string, boolean>>;
  /** `ENTITY_CACHE_<NAME>`: the `<NAME>` of each subgraph whose results are cached. */
  readonly entityCacheConfig?: { readonly services: ReadonlySet<string> } | undefined;
}

/**
 * The subgraphs of a supergraph and their addresses: the `join__Graph` enum (join spec v0.1 to v0.5), each address replaced by
 * those of `SUBGRAPH_URL_<NAME>` if it is set.
 * @throws Error if the document is not a supergraph.
 */
export function readAddresses(
  supergraph: DocumentNode,
  { subgraphUrls, subgraphKeyChecks, entityCacheConfig }: SubgraphSettings,
): Addresses {
  const graphs = readJoinGraph(supergraph);
  const subgraphs = graphs.map(({ service, url }) => {
    const configuredUrls = subgraphUrls[variableNameOf("SUBGRAPH_URL", service)];
    const supergraphUrls = isHttpUrl(url) ? [url] : [];
    const checksKeys = subgraphKeyChecks[variableNameOf("SUBGRAPH_KEY_CHECK", service)] ?? true;
    return { service, urls: configuredUrls ?? supergraphUrls, checksKeys };
  });
  const possibleVariables = new Set(graphs.flatMap(({ service }) => listVariablesOf(service)));
  const cacheVariables = [...(entityCacheConfig?.services ?? [])].map((name) => `ENTITY_CACHE_${name}`);
  const setVariables = [...Object.keys(subgraphUrls), ...Object.keys(subgraphKeyChecks), ...cacheVariables];
  return { subgraphs, unknownVariables: setVariables.filter((name) => !possibleVariables.has(name)) };
}

const variablePrefixes = ["SUBGRAPH_URL", "SUBGRAPH_KEY_CHECK", "ENTITY_CACHE"] as const;
type VariablePrefix = (typeof variablePrefixes)[number];

function listVariablesOf(service: string): readonly string[] {
  return variablePrefixes.map((prefix) => variableNameOf(prefix, service));
}

/** The variable for one subgraph: its name in upper case, with `_` for all characters but letters and digits. */
export function variableNameOf(prefix: VariablePrefix, service: string): string {
  return `${prefix}_${service.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
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
