// A stub of a subgraph and of a REST origin: it sends one of a few prepared responses, at a cost of microseconds.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { toHttp } from "../../../../bench/testbed/canned-responses.ts";
import { createHttpReader } from "../../../../bench/load/http-reader.ts";

/** Items in a GraphQL response: the gateway reads and writes each item. */
const itemsInResult = 1_000;
/** Items in a REST response: the REST proxy compresses the response. So many that its capacity is below `capacityMax` in pressure.ts. */
const itemsInBody = 1_500;

/** Fields of Query in `stubTypeDefs`, by priority. The stub searches the request body for them, so no name contains another one in the same case. */
export const stubFields = { normal: "items", critical: "urgentItems", background: "backgroundItems" } as const;

export const stubTypeDefs = `
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

/** Resolves with the port, on 127.0.0.1. */
export async function startStubUpstream(): Promise<number> {
  const graphqlResponses = createGraphqlResponses();
  const restResponse = toHttp(JSON.stringify({ items: createItems(itemsInBody) }), [
    "Content-Type: application/json",
    "Cache-Control: public, max-age=60",
    'ETag: "1"',
  ]);
  const server = createServer({ noDelay: true }, (socket) => {
    let isGet = false;
    const read = createHttpReader({
      onHead(head) {
        isGet = head.startsWith("GET");
      },
      // For GraphQL. A request body is short, so it is expected in one piece.
      onBody(body) {
        const prepared = graphqlResponses.findLast(({ field }) => body.includes(field));
        if (prepared) socket.write(prepared.response);
        else socket.destroy();
      },
      // For REST.
      onEnd() {
        if (isGet) socket.write(restResponse);
      },
    });
    socket.on("data", read);
    socket.on("error", () => socket.destroy());
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1_024 });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

interface PreparedResponse {
  /** The response is for a request body that contains this text. */
  readonly field: string;
  readonly response: Buffer;
}

function createGraphqlResponses(): readonly PreparedResponse[] {
  const headers = ["Content-Type: application/json"];
  const items = createItems(itemsInResult);
  const [item] = items;
  const lists = Object.values(stubFields).map((field) => ({
    field,
    response: toHttp(JSON.stringify({ data: { [field]: items } }), headers),
  }));
  return [{ field: "item(", response: toHttp(JSON.stringify({ data: { item } }), headers) }, ...lists];
}

function createItems(count: number) {
  return Array.from({ length: count }, (_, id) => ({
    id: String(id),
    name: `Item ${id} "quoted" ünïcode`,
    price: id * 7,
    tags: ["a", "b", "c"],
  }));
}
