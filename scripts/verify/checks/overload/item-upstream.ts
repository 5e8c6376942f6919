// The process with the subgraph and the REST origin of overload. Each response has so many items that the capacity of the processes under test is small
// (pressure.ts). In the process of the load, responses would wait for the load's bursts, and the gateway would take that for a slow subgraph.
import { startStubUpstream, toHttp } from "../../../../bench/testbed/stub-upstream.ts";
import { itemFields } from "./item-schema.ts";

/** Items in a GraphQL response: the gateway reads and writes each item. */
const itemsInResult = 1_000;
/** `/v1/normal/70k-123` has a response of 70 KB, a path without a size one of 1 KB. */
const sizeInPath = /\/(\d+)k-\d+$/;

process.on("disconnect", () => process.exit());
process.send?.(await startItemUpstream());

function startItemUpstream(): Promise<string> {
  const items = createItems(itemsInResult);
  const toResult = (data: object) => toHttp(JSON.stringify({ data }), ["Content-Type: application/json"]);
  const results = new Map(Object.values(itemFields).map((field) => [field as string, toResult({ [field]: items })]));
  const restResponses = new Map<string, Buffer>();
  return startStubUpstream((path, body) => {
    const field = [...results.keys()].find((candidate) => body.includes(candidate)) ?? "";
    const result = results.get(field);
    if (result) return result;
    const [, kib = "1"] = sizeInPath.exec(path) ?? [];
    const response =
      restResponses.get(kib) ??
      toHttp("x".repeat(Number(kib) * 1_024), ["Content-Type: text/plain", "Cache-Control: no-store"]);
    restResponses.set(kib, response);
    return response;
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
