import { renameSync, writeFileSync } from "node:fs";
import { composeSupergraph, type RunningSubgraph } from "../../gateway/test/helpers/subgraphs.ts";

/** With these beside it the library's supergraph has some 50 KB, as a company's has. */
const typesCount = 140;
const fieldsCount = 8;

/** A supergraph over these subgraphs and one more that nobody asks. */
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

/** The same supergraph but for a description: a change that harms nobody, and that clients can read. */
export function describeQueries(supergraphSdl: string, description: string): string {
  return supergraphSdl.replace(/^type Query$/m, `"""${description}"""\ntype Query`);
}

/** Published as a whole, by rename: nobody reads half of it. */
export function publish(file: string, supergraphSdl: string): void {
  writeFileSync(`${file}.new`, supergraphSdl);
  renameSync(`${file}.new`, file);
}
