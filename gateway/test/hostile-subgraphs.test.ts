import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { shapeFaults } from "./helpers/response-faults.ts";
import { faultPlaces } from "./helpers/fault-places.ts";
import { findWrongs } from "./helpers/find-violations.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { answerJson, type Fault } from "./helpers/subgraphs.ts";

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
    answerJson(response, 200, JSON.stringify(body));

test("a packed answer that nobody asked for leaves its connection to the next fetch", async () => {
  const sockets = new Set<Socket>();
  library.people.fault = (response, _body, { socket }) => {
    sockets.add(socket);
    response.writeHead(200, { "content-encoding": "gzip" }).end(randomBytes(2_000_000));
  };
  for (let times = 0; times < 3; times++) {
    const { body } = await gateway.ask("{ whoAmI }");
    expect(body.errors[0].extensions.code).toBe("SUBGRAPH_BAD_ANSWER");
  }
  expect(sockets.size).toBe(1);
});

test("an error's place is told as far as the client's operation goes, not what else a subgraph says there", async () => {
  library.people.fault = answer({
    data: { people: [{ name: "Ada" }], whoAmI: "x" },
    errors: [
      { message: "a", path: ["people", 0, "http://10.0.0.1:5432", "secret"] },
      { message: "b", path: ["http://10.0.0.1:5432"] },
      { message: "c", path: ["people", -1, "name"] },
      { message: "d", path: ["whoAmI"] },
    ],
  });
  const { body } = await gateway.ask("{ people { name } whoAmI }");
  const places = body.errors.map(({ path }: { path?: unknown }) => path);
  expect(places).toEqual([["people", 0], undefined, ["people"], ["whoAmI"]]);
});

test("an error whose place has a million steps is told like any other", async () => {
  const path = ["people", ...Array.from({ length: 1_000_000 }, () => 0)];
  library.people.fault = answer({ data: { people: null }, errors: [{ message: "x", path }] });
  const { body } = await gateway.ask("{ people { name } }");
  expect(body.errors).toMatchObject([{ extensions: { code: "SUBGRAPH_ERROR" } }]);
  expect(JSON.stringify(body).length).toBeLessThan(2_000);
});

const costs = shapeFaults.flatMap(({ name: fault, where, codes, act }) =>
  faultPlaces.filter(({ name }) => where.includes(name)).map((place) => ({ fault, act, codes, place })),
);

test.each(costs)("a subgraph that $fault costs $place.name its own fields, each told, and no other", async (cost) => {
  const { act, codes, place } = cost;
  const subgraph = library[place.service];
  const sentBefore = subgraph.requests.length;
  subgraph.fault = act;
  expect(findWrongs(await gateway.ask(place.query), place, codes)).toEqual([]);
  if (place.sentOnce) expect(subgraph.requests.length).toBe(sentBefore + 1);
});

test.each(faultPlaces)("without a fault, $name loses nothing", async ({ query, data }) => {
  expect((await gateway.ask(query)).body).toEqual({ data });
});
