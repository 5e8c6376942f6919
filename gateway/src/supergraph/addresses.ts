import { type DocumentNode, Kind, type ValueNode } from "graphql";

interface Subgraph {
  readonly service: string;
  /** Of its replicas; empty if neither the supergraph nor the configuration has a usable one. */
  readonly urls: readonly string[];
  /** Whether entities are checked for the keys by which they were requested. */
  readonly checksKeys: boolean;
}

export interface Addresses {
  readonly subgraphs: readonly Subgraph[];
  /** Variables that name no subgraph, most likely by a typo. */
  readonly unusedOverrides: readonly string[];
}

/** The configuration of single subgraphs, by variable name. */
export interface SubgraphOverrides {
  /** `SUBGRAPH_URL_<NAME>`: http(s) URLs. */
  readonly subgraphUrls: Readonly<Record<string, readonly string[]>>;
  /** `SUBGRAPH_KEY_CHECK_<NAME>` */
  readonly subgraphKeyChecks: Readonly<Record<string, boolean>>;
}

/**
 * The subgraphs of a supergraph and their addresses: the `join__Graph` enum (join spec v0.1 to v0.5), each address replaced by
 * those of `SUBGRAPH_URL_<NAME>` if it is set.
 */
export function readAddresses(
  supergraph: DocumentNode,
  { subgraphUrls, subgraphKeyChecks }: SubgraphOverrides,
): Addresses {
  const graphs = readJoinGraph(supergraph);
  const subgraphs = graphs.map(({ service, url }) => ({
    service,
    urls: subgraphUrls[overrideName("SUBGRAPH_URL", service)] ?? (isHttpUrl(url) ? [url] : []),
    checksKeys: subgraphKeyChecks[overrideName("SUBGRAPH_KEY_CHECK", service)] ?? true,
  }));
  const names = new Set(
    graphs.flatMap(({ service }) => [
      overrideName("SUBGRAPH_URL", service),
      overrideName("SUBGRAPH_KEY_CHECK", service),
    ]),
  );
  const overrides = [...Object.keys(subgraphUrls), ...Object.keys(subgraphKeyChecks)];
  return { subgraphs, unusedOverrides: overrides.filter((name) => !names.has(name)) };
}

/** The variable for one subgraph: its name in upper case, with `_` for all characters but letters and digits. */
export function overrideName(prefix: "SUBGRAPH_URL" | "SUBGRAPH_KEY_CHECK", service: string): string {
  return `${prefix}_${service.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}

function readJoinGraph(supergraph: DocumentNode): readonly { service: string; url: string }[] {
  const graphs = supergraph.definitions.find(
    (node) => node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === "join__Graph",
  );
  if (graphs?.kind !== Kind.ENUM_TYPE_DEFINITION)
    throw new Error("The schema is not a supergraph: it has no enum join__Graph");
  return (graphs.values ?? []).map((value) => {
    const directive = value.directives?.find(({ name }) => name.value === "join__graph");
    const text = (name: string) =>
      readText(directive?.arguments?.find((argument) => argument.name.value === name)?.value);
    return { service: text("name") || value.name.value, url: text("url") };
  });
}

function readText(value: ValueNode | undefined): string {
  return value?.kind === Kind.STRING ? value.value : "";
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}
