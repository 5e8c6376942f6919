// The process with the subgraph and the REST origin of overload. Each response has so many items that the capacity of the processes under test is small
// (pressure.ts). In the process of the load, responses would wait for the load's bursts, and the gateway would take that for a slow subgraph.
import { startStubUpstream, toHttp } from "../../../../bench/testbed/stub-upstream.ts";
import { itemFields } from "./item-schema.ts";

/** Items in a GraphQL response: the gateway reads and writes each item. */
const itemsInResult = 1_000;
/** Items in a REST response: the REST proxy compresses the response. */
const itemsInBody = 1_500;

process.on("disconnect", () => process.exit());
process.send?.(await startItemUpstream());

function startItemUpstream(): Promise<string> {
  const items = createItems(itemsInResult);
  const toResult = (data: object) => toHttp(JSON.stringify({ data }), ["Content-Type: application/json"]);
  const results = new Map(Object.values(itemFields).map((field) => [field as string, toResult({ [field]: items })]));
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
