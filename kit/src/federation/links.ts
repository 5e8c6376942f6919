// The specifications that a subgraph or a supergraph links (https://specs.apollo.dev/link): `@link`, or the older `@core(feature:)`.
import { type ConstDirectiveNode, type ConstValueNode, type DocumentNode, Kind } from "graphql";

export interface SchemaLink {
  readonly node: ConstDirectiveNode;
  readonly url: string;
  /** The URL without its version: `https://specs.apollo.dev/federation`. */
  readonly identity: string;
  /** `[2, 15]` for `v2.15`; undefined if the URL has none. */
  readonly version: readonly [major: number, minor: number] | undefined;
  /** The prefix of names that are not imported. */
  readonly prefix: string;
  /** Local names of imported elements, by their name in the specification; directives with `@`. */
  readonly imports: ReadonlyMap<string, string>;
}

export const federationIdentity = "https://specs.apollo.dev/federation";

/** A link is recognized by its argument, because a schema may rename `@link`. */
export function readLinks({ definitions }: DocumentNode): readonly SchemaLink[] {
  const schemas = definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  );
  return schemas.flatMap(({ directives = [] }) => directives.flatMap((node) => readLink(node) ?? []));
}

const pathPattern = /^(?<path>.*?)(?:\/v(?<major>\d+)\.(?<minor>\d+))?\/?$/;

function readLink(node: ConstDirectiveNode): SchemaLink | undefined {
  const url = stringOf(argumentOf(node, "url")) ?? stringOf(argumentOf(node, "feature"));
  const parsed = url === undefined ? undefined : URL.parse(url);
  if (url === undefined || !parsed) return undefined;
  const { path = "", major, minor } = pathPattern.exec(parsed.pathname)?.groups ?? {};
  return {
    node,
    url,
    identity: parsed.origin + path,
    version: major === undefined ? undefined : [Number(major), Number(minor)],
    prefix: stringOf(argumentOf(node, "as")) ?? path.slice(path.lastIndexOf("/") + 1),
    imports: readImports(argumentOf(node, "import")),
  };
}

/** Entries are `"@key"` or `{ name: "@key", as: "@primaryKey" }`. */
function readImports(value: ConstValueNode | undefined): ReadonlyMap<string, string> {
  const imports = new Map<string, string>();
  for (const entry of value?.kind === Kind.LIST ? value.values : []) {
    const members = entry.kind === Kind.OBJECT ? entry.fields : [];
    const member = (key: string) => stringOf(members.find((field) => field.name.value === key)?.value);
    const name = stringOf(entry) ?? member("name");
    if (name !== undefined) imports.set(name, member("as") ?? name);
  }
  return imports;
}

function argumentOf(node: ConstDirectiveNode, name: string): ConstValueNode | undefined {
  return node.arguments?.find((argument) => argument.name.value === name)?.value;
}

function stringOf(value: ConstValueNode | undefined): string | undefined {
  return value?.kind === Kind.STRING ? value.value : undefined;
}
