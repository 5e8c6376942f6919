import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FaultyFetch, faultyFetches } from "./helpers/fault-places.ts";
import { findViolations } from "./helpers/find-violations.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary, startRatings } from "./helpers/library.ts";
import { type ResponseFault, shapeFaults } from "./helpers/response-faults.ts";
import { respondJson } from "./helpers/subgraphs.ts";
import { bodyBytesMax, transportFaults } from "./helpers/transport-faults.ts";

/* A fault of one subgraph makes only its own fields null, with an error for each null, and no client sees a text of the subgraph. */

let library: Library;
let gateway: RunningGateway;
/** For the faults that end by a timeout. Much more than a correct response takes on a busy machine. */
let impatientGateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  const { supergraphSdl } = library;
  const environment = { SUBGRAPH_BODY_BYTES_MAX: String(bodyBytesMax) };
  gateway = await startGateway({ supergraphSdl, environment });
  impatientGateway = await startGateway({
    supergraphSdl,
    environment: { ...environment, SUBGRAPH_TIMEOUT_MS: "3000" },
  });
});
afterAll(async () => {
  await Promise.all([gateway.drain(), impatientGateway.drain()]);
  await library.close();
});

const oneLogLine = /^(subgraph-(fetch-failed|errors|response-invalid)|values-rejected)$/;

test.each([...transportFaults, ...shapeFaults])(
  "a subgraph that $name has errors for its own fields only, and is logged once",
  async (fault) => {
    const results = await sendWithFault(fault);
    const violations = results.flatMap(({ fetch, response }) =>
      findViolations(response, fetch, fault.codes).map((violation) => `${fetch.name}: ${violation}`),
    );
    expect(violations).toEqual([]);
    for (const { fetch, sentCount } of results) if (fetch.sentOnce) expect(sentCount).toBe(1);
    for (const { fetch, logged } of results)
      if (fetch.name === "a root fetch") expect(logged).toEqual([expect.stringMatching(oneLogLine)]);
  },
);

test.each(faultyFetches)("without a fault, $name has no errors", async ({ query, data }) => {
  expect((await gateway.send(query)).body).toEqual({ data });
});

test("the fields of a subgraph that is down are null, and are served again after its restart", async () => {
  const port = Number(new URL(library.ratings.url).port);
  await library.ratings.close();
  const down = await gateway.send("{ books { title stars } }");
  expect(down.body.data.books[0]).toEqual({ title: "Engines", stars: null });
  expect(down.body.errors[0].extensions).toEqual({ code: "SUBGRAPH_UNAVAILABLE", service: "ratings" });

  const back = await startRatings(port);
  expect((await gateway.send("{ books { title stars } }")).body).toMatchObject({
    data: { books: { 0: { stars: 1 } } },
  });
  await back.close();
});

/**
 * Sends the queries of these fetches at once. Each has the name of its fetch as token, so that no fetch is shared, and the subgraphs know
 * which of their responses have the fault.
 */
async function sendWithFault({ fetches, codes, respond }: ResponseFault) {
  const { send, observations } = codes.includes("SUBGRAPH_TIMEOUT") ? impatientGateway : gateway;
  observations.length = 0;
  const sent = faultyFetches.filter(({ name }) => fetches.includes(name));
  for (const service of ["people", "books", "ratings"] as const) {
    const subgraph = library[service];
    subgraph.requests.length = 0;
    subgraph.fault = async (...[response, body, request, resolveCorrectly]) => {
      const isFaulty = sent.some((fetch) => fetch.service === service && isFor(fetch, request.headers));
      if (isFaulty) await respond(response, body, request, resolveCorrectly);
      else respondJson(response, 200, JSON.stringify(await resolveCorrectly()));
    };
  }
  const results = await Promise.all(
    sent.map(async (fetch) => ({
      fetch,
      response: await send(fetch.query, {
        headers: { authorization: `Bearer ${fetch.name}`, "x-request-id": requestIdOf(fetch) },
      }),
    })),
  );
  for (const subgraph of library.all) subgraph.fault = undefined;
  return results.map((result) => ({
    ...result,
    logged: observations.flatMap((observation) =>
      "requestId" in observation && observation.requestId === requestIdOf(result.fetch) ? [observation.kind] : [],
    ),
    sentCount: library[result.fetch.service].requests.filter(({ headers }) => isFor(result.fetch, headers)).length,
  }));
}

function requestIdOf({ name }: FaultyFetch): string {
  return name.replaceAll(" ", "-");
}

function isFor({ name }: FaultyFetch, { authorization }: IncomingMessage["headers"]): boolean {
  return authorization === `Bearer ${name}`;
}

describe("the control: findViolations", () => {
  const place = {
    service: "ratings",
    data: { books: [{ title: "Engines", stars: 1 }] },
    mayBeNull: ["books.*.stars"],
  } as const;
  const error = {
    message: "The service behind this field sent an invalid response.",
    path: ["books", 0, "stars"],
    extensions: { code: "SUBGRAPH_INVALID_RESPONSE", service: "ratings" },
  };
  const response = { data: { books: [{ title: "Engines", stars: null }] }, errors: [error] };
  const find = (body: unknown, status = 200) =>
    findViolations({ status, text: typeof body === "string" ? body : JSON.stringify(body) }, place, [
      "SUBGRAPH_INVALID_RESPONSE",
    ]);

  test("a null with an error at its path is no violation", () => {
    expect(find(response)).toEqual([]);
  });

  test.each([
    ["a wrong value", { data: { books: [{ title: "Engines", stars: 2 }] } }, "books.0.stars is 2, not 1"],
    ["correct data without an error", { data: place.data }, "no error"],
    ["a null without an error", { ...response, errors: [] }, "no error for the null at books.0.stars"],
    ["a null above an allowed path", { data: { books: null }, errors: [error] }, "books must not be null"],
    [
      "an additional field",
      { ...response, data: { books: [{ title: "Engines", stars: null, isbn: 1 }] } },
      "books.0 has title,stars,isbn",
    ],
    [
      "an error without a null",
      { ...response, errors: [error, { ...error, path: ["books"] }] },
      "an error at books, which is not null",
    ],
    [
      "an unknown code",
      { ...response, errors: [{ ...error, extensions: { code: "OOPS", service: "ratings" } }] },
      "code OOPS",
    ],
    [
      "another service",
      { ...response, errors: [{ ...error, extensions: { ...error.extensions, service: "books" } }] },
      "service books",
    ],
    ["a message of the subgraph's", { ...response, errors: [{ ...error, message: "SELECT 1" }] }, "message SELECT 1"],
    ["an internal address", { ...response, extensions: { host: "127.0.0.1" } }, "the response contains 127.0.0.1"],
    ["no JSON", "<h1>", "no JSON: <h1>"],
  ])("%s is a violation", (_, body, violation) => {
    expect(find(body)).toContain(violation);
  });

  test("another status is a violation", () => {
    expect(find(response, 500)).toEqual([expect.stringContaining("status 500")]);
  });
});
