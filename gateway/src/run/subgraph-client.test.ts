import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AbortSource } from "@tributary/kit/http/abort-source";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSubgraphClient, type SubgraphClient } from "./subgraph-client.ts";

let subgraph: Server;
let client: SubgraphClient;
const end = new AbortSource();

beforeEach(async () => {
  // Only mutations get a response.
  subgraph = createServer(
    (request, response) => request.url === "/graphql" && request.headers["x-write"] && response.end(),
  );
  await new Promise<void>((resolve) => subgraph.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(subgraph.address() as AddressInfo).port}/graphql`;
  const limits = { timeoutMs: 60_000, bodyBytesMax: 1_000 };
  client = createSubgraphClient({ name: "notes", urls: [url], ...limits, writes: { settled: 0 }, observe: () => {} });
});
afterEach(async () => {
  end.abort("gone");
  await client.close();
  subgraph.close();
});

const write = () =>
  client.post("{}", { headers: ["x-write", "1"], isIdempotent: false, signal: end, traced: undefined });
const read = () => client.post("{}", { headers: [], isIdempotent: true, signal: end, traced: undefined });

test("a mutation counts as a settled write, unless too many fetches are in flight for it to be sent", async () => {
  await write();
  expect(client.writes.settled).toBe(1);
  for (let i = 0; i < 1_024; i++) void read();
  expect(await write()).toMatchObject({ code: "SUBGRAPH_UNAVAILABLE" });
  expect(client.writes.settled).toBe(1);
});
