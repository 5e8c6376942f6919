import { type DocumentNode, Kind, type ValueNode } from "graphql";

interface SubgraphAddress {
  readonly service: string;
  /** Of its replicas; empty when neither the supergraph nor the configuration knows one that can be used. */
  readonly urls: readonly string[];
}

export interface Addresses {
  readonly subgraphs: readonly SubgraphAddress[];
  /** Overrides that name no subgraph: most likely a typo. */
  readonly unusedOverrides: readonly string[];
}

/**
 * The subgraphs of a supergraph and where they are: the `join__Graph` enum (join spec v0.1 to v0.5), each address replaced by
 * those of `SUBGRAPH_URL_<NAME>` where that is set; the name upper-cased, with `_` for all but letters and digits.
 * @param overrides by variable name; http(s) URLs.
 */
export function readAddresses(
  supergraph: DocumentNode,
  overrides: Readonly<Record<string, readonly string[]>>,
): Addresses {
  const subgraphs = readJoinGraph(supergraph).map(({ service, url }) => ({
    service,
    urls: overrides[overrideName(service)] ?? (isHttpUrl(url) ? [url] : []),
  }));
  const names = new Set(subgraphs.map(({ service }) => overrideName(service)));
  return { subgraphs, unusedOverrides: Object.keys(overrides).filter((name) => !names.has(name)) };
}

export function overrideName(service: string): string {
  return `SUBGRAPH_URL_${service.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}

function readJoinGraph(supergraph: DocumentNode): readonly { service: string; url: string }[] {
  const graphs = supergraph.definitions.find(
    (node) => node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === "join__Graph",
  );
  if (graphs?.kind !== Kind.ENUM_TYPE_DEFINITION) throw new Error("This is no supergraph: it has no enum join__Graph");
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
