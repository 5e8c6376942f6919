import { randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeCollector, startCollector } from "./collector.ts";
import { startObservedEntryPoint } from "./observed-process.ts";

let collector: FakeCollector;
let subgraphs: readonly SubgraphServer[];
beforeAll(async () => {
  [collector, subgraphs] = await Promise.all([startCollector(), Promise.all(responders.map(startSubgraph))]);
});
afterAll(() => Promise.all([collector, ...subgraphs].map((one) => one.stop())));

/** Part of every planted secret, and of no other text. */
const mark = `plum${randomBytes(6).toString("hex")}`;

const json = { "content-type": "application/json" };
const error = {
  message: `duplicate key: (name)=(${mark})`,
  path: [mark, 0, "name"],
  locations: [{ line: 1, column: 1, [mark]: mark }],
  extensions: { code: mark, [mark]: mark, stacktrace: [mark], problems: [{ pointer: mark, detail: mark }] },
  [mark]: mark,
};
/** One for each subgraph, in the order of `names`. */
const responders: readonly ((response: ServerResponse) => void)[] = [
  (response) =>
    response
      .writeHead(500, { "content-type": `text/html; charset="${mark}"`, "x-secret": mark })
      .end(`<h1>${mark}</h1>`),
  (response) => response.writeHead(200, json).end(`{"data": {"posts": "${mark}`),
  (response) => response.writeHead(200, json).end(JSON.stringify({ data: null, errors: [error] })),
  (response) => response.writeHead(200, json).end(JSON.stringify({ data: { [mark]: { stock: mark } } })),
];
const names = ["USERS", "POSTS", "COMMENTS", "ORDERS"];

test("the gateway's logs, metrics and traces contain no data of subgraph responses, valid or not", async () => {
  const urls = names.map((name, index) => [`SUBGRAPH_URL_${name}`, subgraphs[index]?.url ?? ""]);
  const gateway = await startObservedEntryPoint("gateway", collector.url, {
    SUPERGRAPH_FILE: "supergraph/supergraph.graphql",
    ...Object.fromEntries(urls),
  });
  const fields = [
    "user(id: 1) { name }",
    "post(id: 1) { title }",
    "comment(id: 1) { body }",
    'product(sku: "a") { stock }',
  ];
  for (const field of fields) {
    const body = JSON.stringify({ query: `{ ${mark}: ${field} }` });
    await (await fetch(`${gateway.url}/graphql`, { method: "POST", headers: json, body })).text();
  }
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  expect(await gateway.stop()).toBe(0);

  const observations = gateway
    .written()
    .split("\n")
    .filter((line) => /"observation":"(?:subgraph|values)-/.test(line))
    .map((line) => JSON.parse(line) as LoggedObservation);
  expect(observations.map(({ observation }) => observation)).toEqual([
    "subgraph-fetch-failed",
    "subgraph-fetch-failed",
    "subgraph-errors",
    "values-rejected",
  ]);
  expect(observations).toMatchObject([
    { code: "SUBGRAPH_BAD_ANSWER", response: { defect: "no JSON object", status: 500, contentType: "text/html" } },
    { code: "SUBGRAPH_BAD_ANSWER", response: { defect: "no JSON object", contentType: "application/json" } },
    { errors: [{ code: "other", path: "*.0.name", messageCharacters: error.message.length }] },
    { problems: [{ path: "*" }] },
  ]);
  for (const text of [gateway.written(), metrics, ...collector.received()])
    expect(text.split("\n").filter((line) => line.includes(mark))).toEqual([]);
});

interface LoggedObservation {
  readonly observation: string;
}

/** A subgraph whose responses contain data that must not be logged. */
interface SubgraphServer {
  readonly url: string;
  stop(): Promise<void>;
}

async function startSubgraph(respond: (response: ServerResponse) => void): Promise<SubgraphServer> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => respond(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
