// The requests of the gateway's workloads, and the responses of the subgraphs that the benchmark replaces.
import { expect, test, vi } from "vitest";
import { createCannedResponses } from "../testbed/canned-responses.ts";
import { gatewayWorkloads, readRequest } from "../workloads/gateway-workloads.ts";
import { createReferenceExecutor } from "./reference-executor.ts";

const executeReference = createReferenceExecutor();

test("the requests of every workload execute without errors", () => {
  for (const { name } of gatewayWorkloads) {
    const bodies = listBodies(name);
    for (const body of [bodies[0], bodies.at(-1)]) expect(execute(body), name).toBeTypeOf("object");
  }
});

test("the heavy result has some 90 KB, the small result 1 KB", () => {
  expect(sizeOf("heavy")).toBeGreaterThan(80_000);
  expect(sizeOf("heavy")).toBeLessThan(100_000);
  expect(sizeOf("small")).toBeGreaterThan(900);
  expect(sizeOf("small")).toBeLessThan(1_200);
});

test("no two requests of a varying workload have the same result", () => {
  const results = listBodies("heavy-varying").map((body) => JSON.stringify(execute(body)));
  expect(new Set(results).size).toBe(results.length);
});

test.each(["cold", "documents"])("every document of %s has a different text", (name) => {
  const bodies = listBodies(name);
  expect(new Set(bodies).size).toBe(bodies.length);
});

test("the response to an entity fetch contains the requested aliases and is computed once", async () => {
  const onCompute = vi.fn<() => void>();
  const respond = createCannedResponses("books", onCompute);
  const body = JSON.stringify({
    query: "query ($r: [_Any!]!) { twice: _entities(representations: $r) { ... on Book { t: title isbn } } }",
    variables: {
      r: [
        { __typename: "Book", isbn: "978-3" },
        { __typename: "Book", isbn: "978-99999" },
      ],
    },
  });
  const first = await respond(body);
  expect(readBody(first)).toEqual({ data: { twice: [{ t: expect.stringContaining("The "), isbn: "978-3" }, null] } });
  expect(respond(body)).toBe(first);
  expect(onCompute).toHaveBeenCalledOnce();
});

test("different variables get different responses", async () => {
  const respond = createCannedResponses("people", () => {});
  const fetchPeople = async (skip: number) => {
    const query = "query ($s: Int!) { people(skip: $s, first: 1) { id } }";
    return readBody(await respond(JSON.stringify({ query, variables: { s: skip } })));
  };
  expect(await fetchPeople(1)).toEqual({ data: { people: [{ id: "p1" }] } });
  expect(await fetchPeople(2)).toEqual({ data: { people: [{ id: "p2" }] } });
});

function listBodies(name: string) {
  return gatewayWorkloads.find((workload) => workload.name === name)?.requests.map(({ body = "" }) => body) ?? [];
}

function execute(body?: string) {
  return executeReference(readRequest(body));
}

function sizeOf(name: string): number {
  return JSON.stringify(execute(listBodies(name)[0])).length;
}

function readBody(response: Buffer): unknown {
  return JSON.parse(response.toString().split("\r\n\r\n")[1] ?? "");
}
