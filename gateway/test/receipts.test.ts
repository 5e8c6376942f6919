import { createReceipts, type ServiceWrite } from "@tributary/kit/consistency/receipts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type GraphqlResponse, readGraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { type Fault, respondJson, type RunningSubgraph } from "./helpers/subgraphs.ts";

const key = "a key for tests only";
const receipts = createReceipts([key]);
const epoch = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const people = (xid: number): ServiceWrite => ({ service: "people", epoch, xid });
const books = (xid: number): ServiceWrite => ({ service: "books", epoch, xid });
const rename = 'mutation { rename(id: "1", name: "Ada") { name } }';
const json = { "content-type": "application/json" };

let library: Library;
let gateway: RunningGateway;
let sharedCount: number;

beforeAll(async () => {
  library = await startLibrary();
  const fetchObserver = { begin: () => ({ traced: undefined, end() {} }), share: () => void sharedCount++ };
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { CONSISTENCY_KEYS: key, CORS_ORIGINS: "http://localhost:1" },
    observers: { requestObserver: undefined, fetchObserver },
  });
});
beforeEach(() => {
  sharedCount = 0;
  for (const subgraph of library.all) subgraph.requests.length = 0;
});
afterEach(() => library.all.forEach((subgraph) => (subgraph.fault = undefined)));
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

describe("the response to a mutation", () => {
  test("has a receipt of the write, on both paths", async () => {
    library.people.fault = writesAt(7);
    for (let i = 0; i < 2; i++) {
      const response = await gateway.send(rename);
      expect(response.body).toEqual({ data: { rename: { name: "Ada" } } });
      expect(readReceipt(response)).toEqual([people(7)]);
    }
    expect(gateway.tookFastPath()).toBe(true);
  });

  test("names each subgraph that was written, and none that was only read", async () => {
    library.people.fault = writesAt(7);
    library.books.fault = writesAt(8);
    library.ratings.fault = writesAt(9);
    const response = await gateway.send(
      `mutation { rename(id: "1", name: "Ada") { books { isbn } } addBook(title: "x") { stars } }`,
    );
    expect(response.body.errors).toBeUndefined();
    expect(readReceipt(response)).toEqual([people(7), books(8)]);
    expect(library.ratings.requests).toHaveLength(1);
  });

  test("names all writes of one subgraph", async () => {
    let xid = 10;
    library.people.fault = (response, ...rest) => writesAt(xid++)(response, ...rest);
    library.books.fault = writesAt(8);
    const response = await gateway.send(
      `mutation { a: rename(id: "1", name: "A") { name } addBook(title: "x") { title } b: rename(id: "1", name: "B") { name } }`,
    );
    expect(readReceipt(response)).toEqual([people(10), books(8), people(11)]);
  });

  test.each([200, 409, 412, 503])("has a receipt if fields failed, with status %i of the subgraph", async (status) => {
    library.people.fault = (response) => {
      response.setHeader("Write-Position", `${epoch}/7`);
      const error = { message: "The name is taken.", extensions: { code: "CONFLICT" } };
      respondJson(response, status, JSON.stringify({ data: { rename: null }, errors: [error] }));
    };
    const response = await gateway.send(rename);
    expect([response.status, response.body.data, response.body.errors.length]).toEqual([200, { rename: null }, 1]);
    expect(readReceipt(response)).toEqual([people(7)]);
  });

  test("has a receipt although the response of the subgraph cannot be decoded", async () => {
    library.people.fault = (response) =>
      response.writeHead(200, { ...json, "content-encoding": "snappy", "write-position": `${epoch}/7` }).end("x");
    const response = await gateway.send(rename);
    expect(response.body.errors).toHaveLength(1);
    expect(readReceipt(response)).toEqual([people(7)]);
  });

  test("names the subgraphs that responded if another one did not", async () => {
    library.people.fault = writesAt(7);
    library.books.fault = (response) => response.destroy();
    const response = await gateway.send(
      `mutation { rename(id: "1", name: "Ada") { name } addBook(title: "x") { title } }`,
    );
    expect(response.body.errors).toHaveLength(1);
    expect(readReceipt(response)).toEqual([people(7)]);
  });

  test("keeps the writes to other subgraphs that the request names, and replaces those to the written one", async () => {
    library.people.fault = writesAt(7);
    const text = [receipts.write([], [people(99), books(4)]), receipts.write([], [books(5)])].join(", ");
    const response = await gateway.send(rename, { headers: { "consistency-token": text } });
    expect(readReceipt(response)).toEqual([books(4), books(5), people(7)]);
  });

  test.each(["coffee", `${epoch}/`, `${epoch}/-1`, `/${"9".repeat(99)}`])(
    "has no receipt if the subgraph sends no position, or %j",
    async (position) => {
      const without = await gateway.send(rename);
      library.people.fault = writesAt(7, position);
      const invalid = await gateway.send(rename);
      expect([without, invalid].map(({ body }) => body.data)).toEqual([
        { rename: { name: "Ada" } },
        { rename: { name: "Ada" } },
      ]);
      expect([without, invalid].map(({ headers }) => headers.get("consistency-token"))).toEqual([null, null]);
    },
  );
});

test("the response to a query has no receipt, with or without one in the request", async () => {
  library.people.fault = writesAt(7);
  const plain = await gateway.send("{ people { name } }");
  const withReceipt = await post({
    query: "{ people { name } }",
    extensions: { consistencyToken: receipts.write([], [people(1)]) },
  });
  for (const { headers, body } of [plain, withReceipt]) {
    expect(headers.get("consistency-token")).toBeNull();
    expect(Object.keys(body)).toEqual(["data"]);
  }
});

describe("extensions.consistencyToken", () => {
  test("requests the receipt of a mutation in the body, beside the one in the header", async () => {
    library.people.fault = writesAt(7);
    for (const consistencyToken of [true, receipts.write([], [books(4)])]) {
      const response = await post({ query: rename, extensions: { consistencyToken } });
      const { consistencyToken: text } = response.body.extensions;
      expect(response.body.data).toEqual({ rename: { name: "Ada" } });
      expect(response.headers.get("consistency-token")).toBe(text);
      expect(receipts.read(text)).toEqual(consistencyToken === true ? [people(7)] : [books(4), people(7)]);
    }
  });

  test("counts together with the header", async () => {
    library.people.fault = writesAt(7);
    const extensions = { consistencyToken: receipts.write([], [books(4)]) };
    const headers = { "consistency-token": receipts.write([], [books(5)]) };
    expect(readReceipt(await post({ query: rename, extensions }, headers))).toEqual([books(5), books(4), people(7)]);
  });

  test.each([undefined, null, false])("%j requests nothing", async (consistencyToken) => {
    library.people.fault = writesAt(7);
    const response = await post({ query: rename, extensions: { consistencyToken } });
    expect(Object.keys(response.body)).toEqual(["data"]);
    expect(readReceipt(response)).toEqual([people(7)]);
  });

  test.each([[0], [5], [[]], [["coffee"]], [{}]])("%j is rejected", async (consistencyToken) => {
    const response = await post({ query: rename, extensions: { consistencyToken } });
    expectRejected(response, "`extensions.consistencyToken` must be true or the text of receipts.");
  });
});

describe("receipts that cannot be read", () => {
  const foreign = createReceipts(["the key of another platform"]).write([], [people(1)]);

  test.each([
    ["one of another platform", foreign],
    ["a token", "coffee"],
    ["another text", '"coffee"'],
    [
      "nine",
      Array<string>(9)
        .fill(receipts.write([], [people(1)]))
        .join(", "),
    ],
  ])("%s: the request is rejected for every media type, and nothing is sent to a subgraph", async (_, text) => {
    for (const query of [rename, "{ people { name } }"]) {
      for (const accept of ["application/json", "application/graphql-response+json"]) {
        const inHeader = await post({ query }, { accept, "consistency-token": text });
        const inBody = await post({ query, extensions: { consistencyToken: text } }, { accept });
        for (const response of [inHeader, inBody]) expectRejected(response, "Consistency-Token has no receipt");
      }
    }
  });
});

describe("a read with a receipt", () => {
  const query = "{ people { name } }";
  const first = { "consistency-token": receipts.write([], [people(1)]) };
  const second = { "consistency-token": receipts.write([], [people(1)]) };

  test("shares an equal read with the same receipt, and none without it or with another one", async () => {
    const held = hold(library.people);
    const reads = [gateway.send(query)];
    await expect.poll(() => held.count()).toBe(1);
    reads.push(gateway.send(query, { headers: first }));
    await expect.poll(() => held.count()).toBe(2);
    reads.push(gateway.send(query, { headers: first }), gateway.send(query));
    await expect.poll(() => sharedCount).toBe(2);
    reads.push(gateway.send(query, { headers: second }));
    await expect.poll(() => held.count()).toBe(3);
    held.release();
    for (const { body } of await Promise.all(reads)) expect(body.data.people).toHaveLength(2);
  });
});

describe("headers", () => {
  test("a subgraph gets no receipt and no position from a client", async () => {
    const headers = { "consistency-token": receipts.write([], [people(1)]), "write-position": `${epoch}/9` };
    for (const query of [rename, "{ people { name books { stars } } }"]) await gateway.send(query, { headers });
    const received = library.all.flatMap(({ requests }) => requests.flatMap((request) => Object.keys(request.headers)));
    expect(received).toContain("content-type");
    expect(received.filter((name) => name === "consistency-token" || name === "write-position")).toEqual([]);
  });

  test("a client gets no position from a subgraph", async () => {
    library.people.fault = writesAt(7);
    for (const query of [rename, "{ people { name } }"]) {
      const { headers, text } = await gateway.send(query);
      expect(headers.get("write-position")).toBeNull();
      expect(text).not.toContain(epoch);
    }
  });

  test("pages of other origins may send and read receipts", async () => {
    const origin = "http://localhost:1";
    const requested = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "consistency-token",
    };
    const preflight = await fetch(`${gateway.url}/graphql`, { method: "OPTIONS", headers: { origin, ...requested } });
    expect(preflight.headers.get("access-control-allow-headers")?.split(/, ?/)).toContain("consistency-token");
    const { headers } = await gateway.send(rename, { headers: { origin } });
    expect(headers.get("access-control-expose-headers")?.split(/, ?/)).toContain("consistency-token");
  });
});

/** Executes the request, and responds with this position to queries too. */
function writesAt(xid: number, position = `${epoch}/${xid}`): Fault {
  return async (response, _body, _request, resolveCorrectly) => {
    response.setHeader("Write-Position", position);
    respondJson(response, 200, JSON.stringify(await resolveCorrectly()));
  };
}

/** Holds the responses of a subgraph until `release`. */
function hold(subgraph: RunningSubgraph) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  subgraph.fault = async (response, _body, _request, resolveCorrectly) => {
    await released;
    respondJson(response, 200, JSON.stringify(await resolveCorrectly()));
  };
  return { release, count: () => subgraph.requests.length };
}

async function post(body: object, headers: Readonly<Record<string, string>> = {}): Promise<GraphqlResponse> {
  const init = { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) };
  return readGraphqlResponse(await fetch(`${gateway.url}/graphql`, init));
}

function readReceipt({ headers }: GraphqlResponse): readonly ServiceWrite[] {
  return receipts.read(headers.get("consistency-token") ?? undefined);
}

function expectRejected({ status, body }: GraphqlResponse, message: string): void {
  expect(status).toBe(400);
  expect(body.data).toBeUndefined();
  expect(body.errors).toEqual([
    { message: expect.stringContaining(message), extensions: { code: "MALFORMED_REQUEST" } },
  ]);
  expect(library.all.flatMap(({ requests }) => requests)).toEqual([]);
}
