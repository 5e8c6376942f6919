import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { shapeFaults } from "./helpers/response-faults.ts";
import { faultyFetches } from "./helpers/fault-places.ts";
import { findViolations } from "./helpers/find-violations.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { respondJson, type Fault } from "./helpers/subgraphs.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterEach(() => {
  for (const subgraph of library.all) subgraph.fault = undefined;
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

const answer =
  (body: unknown): Fault =>
  (response) =>
    respondJson(response, 200, JSON.stringify(body));

test("after a compressed response that was not requested the connection is used for the next fetch", async () => {
  const sockets = new Set<Socket>();
  library.people.fault = (response, _body, { socket }) => {
    sockets.add(socket);
    response.writeHead(200, { "content-encoding": "gzip" }).end(randomBytes(2_000_000));
  };
  for (let times = 0; times < 3; times++) {
    const { body } = await gateway.send("{ whoAmI }");
    expect(body.errors[0].extensions.code).toBe("SUBGRAPH_BAD_ANSWER");
  }
  expect(sockets.size).toBe(1);
});

test("an error path contains only steps of the client's operation, and no other text of the subgraph", async () => {
  library.people.fault = answer({
    data: { people: [{ name: "Ada" }], whoAmI: "x" },
    errors: [
      { message: "a", path: ["people", 0, "http://10.0.0.1:5432", "secret"] },
      { message: "b", path: ["http://10.0.0.1:5432"] },
      { message: "c", path: ["people", -1, "name"] },
      { message: "d", path: ["whoAmI"] },
    ],
  });
  const { body } = await gateway.send("{ people { name } whoAmI }");
  const places = body.errors.map(({ path }: { path?: unknown }) => path);
  expect(places).toEqual([["people", 0], undefined, ["people"], ["whoAmI"]]);
});

test("an error with a path of a million steps is reported like any other", async () => {
  const path = ["people", ...Array.from({ length: 1_000_000 }, () => 0)];
  library.people.fault = answer({ data: { people: null }, errors: [{ message: "x", path }] });
  const { body } = await gateway.send("{ people { name } }");
  expect(body.errors).toMatchObject([{ extensions: { code: "SUBGRAPH_ERROR" } }]);
  expect(JSON.stringify(body).length).toBeLessThan(2_000);
});

const combinations = shapeFaults.flatMap(({ name: fault, fetches, codes, respond }) =>
  faultyFetches.filter(({ name }) => fetches.includes(name)).map((fetch) => ({ fault, respond, codes, fetch })),
);

test.each(combinations)(
  "a subgraph that $fault: $fetch.name has errors for its own fields only",
  async (combination) => {
    const { respond, codes, fetch } = combination;
    const subgraph = library[fetch.service];
    const sentBefore = subgraph.requests.length;
    subgraph.fault = respond;
    expect(findViolations(await gateway.send(fetch.query), fetch, codes)).toEqual([]);
    if (fetch.sentOnce) expect(subgraph.requests.length).toBe(sentBefore + 1);
  },
);

test.each(faultyFetches)("without a fault, $name has no errors", async ({ query, data }) => {
  expect((await gateway.send(query)).body).toEqual({ data });
});
