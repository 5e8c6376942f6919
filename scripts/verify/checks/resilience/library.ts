// What several checks do with the library, the small test supergraph of gateway/test/helpers/library.ts (people, books and ratings).
import type { Library } from "../../../../gateway/test/helpers/library.ts";
import { composeSupergraph, type RunningSubgraph } from "../../../../gateway/test/helpers/subgraphs.ts";
import type { CheckContext } from "./check.ts";
import type { GraphqlClient } from "./graphql-client.ts";

/** Fetches from all three subgraphs. */
const regularQuery = "{ books { title stars author { name } } }";
/** The title of the last book. */
const lastTitle = "Engines II";

/** Sends a query for all books. @returns what is wrong with the response; undefined if it is complete. */
export async function sendRegular(client: GraphqlClient): Promise<string | undefined> {
  const { status, text } = await client.send(regularQuery);
  const isComplete = status === 200 && !text.includes('"errors"') && text.includes(lastTitle);
  return isComplete ? undefined : `${status} ${text}`;
}

const discardEveryMs = 1_000;

/** Discards the requests that the subgraphs record, which would fill the memory of a long check. */
export function startDiscardingRequests({ all }: Library, { onCleanup }: Pick<CheckContext, "onCleanup">): void {
  const timer = setInterval(() => {
    for (const { requests } of all) requests.splice(0);
  }, discardEveryMs);
  onCleanup(() => clearInterval(timer));
}

/** With these additional types the supergraph has some 50 KB, like a company's. */
const typeCount = 140;
const fieldCount = 8;
const fieldTypes = ["String", "Int", "[Float!]"];

/** Composes the supergraph of these subgraphs and of a large one, "catalog", that receives no requests. */
export function composeWide(subgraphs: readonly RunningSubgraph[]): string {
  const libraryDefs = subgraphs[0]?.typeDefs ?? "";
  // The federation header that `startSubgraph` has added.
  const header = libraryDefs.slice(0, libraryDefs.indexOf("type Query"));
  const typeDefs = `${header}${writeCatalog()}`;
  return composeSupergraph([...subgraphs, { name: "catalog", typeDefs, url: "http://127.0.0.1:9/graphql" }]);
}

function writeCatalog(): string {
  const types = Array.from({ length: typeCount }, (_, i) => writeType(i));
  const rootFields = types.map((_, i) => `item${i}(id: ID!, first: Int = 10): Item${i}`);
  return [`type Query { ${rootFields.join(" ")} }`, ...types].join("\n");
}

function writeType(i: number): string {
  const fields = Array.from({ length: fieldCount }, (_, j) => `field${j}: ${fieldTypes[j % fieldTypes.length]}`);
  const next = `next: Item${(i + 1) % typeCount} all(first: Int = 10): [Item${(i + 7) % typeCount}!]`;
  return `type Item${i} @key(fields: "id") { id: ID! ${fields.join(" ")} ${next} }`;
}
