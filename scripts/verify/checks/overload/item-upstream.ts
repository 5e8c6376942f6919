// The subgraph and the REST origin of overload. Each response has so many items that the capacity of the processes under test is small (pressure.ts).
import { startStubUpstream, toHttp } from "../../../../bench/testbed/stub-upstream.ts";

/** Items in a GraphQL response: the gateway reads and writes each item. */
const itemsInResult = 1_000;
/** Items in a REST response: the REST proxy compresses the response. */
const itemsInBody = 1_500;

/** Fields of Query, by priority. The stub searches the request body for them, so no name contains another one in the same case. */
export const itemFields = { normal: "items", critical: "urgentItems", background: "backgroundItems" } as const;

export const itemTypeDefs = `
  extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@composeDirective"])
    @link(url: "https://specs.tributary.example/priority/v1.0", import: ["@priority"])
    @composeDirective(name: "@priority")
  directive @priority(class: String!) on FIELD_DEFINITION
  type Query {
    items(skip: Int): [Item!]!
    urgentItems(skip: Int): [Item!]! @priority(class: "critical")
    backgroundItems(skip: Int): [Item!]! @priority(class: "background")
    item(skip: Int): Item
  }
  type Item { id: ID! name: String! price: Int! tags: [String!]! }
`;

/** Resolves with the URL. */
export function startItemUpstream(): Promise<string> {
  const items = createItems(itemsInResult);
  const [item] = items;
  const toResult = (data: object) => toHttp(JSON.stringify({ data }), ["Content-Type: application/json"]);
  const results = new Map([
    ["item(", toResult({ item })],
    ...Object.values(itemFields).map((field) => [field, toResult({ [field]: items })] as const),
  ]);
  const restResponse = toHttp(JSON.stringify({ items: createItems(itemsInBody) }), [
    "Content-Type: application/json",
    "Cache-Control: public, max-age=60",
    'ETag: "1"',
  ]);
  return startStubUpstream((_path, body) => {
    const field = [...results.keys()].find((candidate) => body.includes(candidate)) ?? "";
    return results.get(field) ?? restResponse;
  });
}

function createItems(count: number) {
  return Array.from({ length: count }, (_, id) => ({
    id: String(id),
    name: `Item ${id} "quoted" ünïcode`,
    price: id * 7,
    tags: ["a", "b", "c"],
  }));
}
