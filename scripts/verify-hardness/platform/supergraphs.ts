import { renameSync, writeFileSync } from "node:fs";
import { composeSupergraph, type RunningSubgraph } from "../../../gateway/test/helpers/subgraphs.ts";

/** With these additional types the library's supergraph has some 50 KB, like a company's. */
const typesCount = 140;
const fieldsCount = 8;

/** Composes a supergraph of these subgraphs and a large one that receives no requests. */
export function composeWide(subgraphs: readonly RunningSubgraph[]): string {
  const [{ typeDefs: first } = { typeDefs: "" }] = subgraphs;
  const header = first.slice(0, first.indexOf("type Query"));
  return composeSupergraph([
    ...subgraphs,
    { name: "catalog", typeDefs: `${header}${writeCatalog()}`, url: "http://127.0.0.1:9/graphql" },
  ]);
}

function writeCatalog(): string {
  const types = Array.from({ length: typesCount }, (_, i) => writeType(i));
  const roots = types.map((_, i) => `item${i}(id: ID!, first: Int = 10): Item${i}`);
  return [`type Query { ${roots.join(" ")} }`, ...types].join("\n");
}

function writeType(i: number): string {
  const fields = Array.from({ length: fieldsCount }, (_, j) => `field${j}: ${["String", "Int", "[Float!]"][j % 3]}`);
  const next = `next: Item${(i + 1) % typesCount} all(first: Int = 10): [Item${(i + 7) % typesCount}!]`;
  return `type Item${i} @key(fields: "id") { id: ID! ${fields.join(" ")} ${next} }`;
}

/** The same supergraph with another description of Query: a harmless change that clients can read. */
export function describeQueries(supergraphSdl: string, description: string): string {
  return supergraphSdl.replace(/^type Query$/m, `"""${description}"""\ntype Query`);
}

/** Replaces the file atomically by rename, so that the gateway never reads a part of it. */
export function publish(file: string, supergraphSdl: string): void {
  writeFileSync(`${file}.new`, supergraphSdl);
  renameSync(`${file}.new`, file);
}
