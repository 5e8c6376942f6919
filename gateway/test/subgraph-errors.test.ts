import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { respondJson, type Fault } from "./helpers/subgraphs.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});
beforeEach(() => {
  for (const subgraph of library.all) subgraph.fault = undefined;
  gateway.observations.length = 0;
});

const respondWith =
  (body: object, status = 200): Fault =>
  (response) =>
    respondJson(response, status, JSON.stringify(body));

test("an error meant for the client keeps its message, its code and its problems, and nothing else", async () => {
  const problems = [{ pointer: "#/name", code: "length", detail: "A name has 1 to 80 characters.", sql: "SELECT" }];
  library.people.fault = respondWith({
    data: { person: null },
    errors: [
      {
        message: "A name has 1 to 80 characters.",
        path: ["person"],
        extensions: { code: "BAD_USER_INPUT", problems, stacktrace: ["at x"], host: "db" },
      },
    ],
  });
  const { body } = await gateway.send("{ person(id: 1) { name } }");
  expect(body).toEqual({
    errors: [
      {
        message: "A name has 1 to 80 characters.",
        path: ["person"],
        extensions: {
          code: "BAD_USER_INPUT",
          service: "people",
          problems: [{ pointer: "#/name", code: "length", detail: "A name has 1 to 80 characters." }],
        },
      },
    ],
    data: { person: null },
  });
});

test("a long name in an extension that is for clients is left out, and other data is complete", async () => {
  const folder = mkdtempSync(join(tmpdir(), "subgraph-errors-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, "errors: { all: { extensions: [details, reason] } }\n");
  const { supergraphSdl } = library;
  const publishing = await startGateway({ supergraphSdl, environment: { SETTINGS_FILE: file } });
  onTestFinished(() => publishing.drain());
  const extensions = { code: "BAD_USER_INPUT", details: { ["k".repeat(10_001)]: 1 }, reason: "closed" };
  library.ratings.fault = respondWith({ errors: [{ message: "No.", extensions }] });
  const { body } = await publishing.send('{ book(isbn: "b1") { title stars } }');
  expect(body.data).toEqual({ book: { title: "Engines", stars: null } });
  expect(body.errors).toMatchObject([{ path: ["book", "stars"], extensions: { reason: "closed" } }]);
  expect(body.errors[0].extensions).not.toHaveProperty("details");
});

test("any other error is masked, and the log has its path and not its message", async () => {
  const error = {
    message: "relation users does not exist",
    path: ["person"],
    extensions: { code: "42P01", stacktrace: ["at pg"] },
  };
  library.people.fault = respondWith({ data: { person: null }, errors: [error] });
  const { body, text } = await gateway.send("{ person(id: 1) { name } }", { headers: { "x-request-id": "r-1" } });
  expect(body.errors).toEqual([
    {
      message: "The service behind this field failed.",
      path: ["person"],
      extensions: { code: "SUBGRAPH_ERROR", service: "people" },
    },
  ]);
  expect(text).not.toContain("relation");
  expect(gateway.observations).toEqual([
    {
      kind: "subgraph-errors",
      requestId: "r-1",
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      documentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      service: "people",
      replica: expect.stringContaining("http://127.0.0.1:"),
      code: "SUBGRAPH_ERROR",
      count: 1,
      errors: [{ code: "other", path: "person", messageCharacters: error.message.length }],
    },
  ]);
});

test("an entity's error is at its path in the response, and at all paths of the same entity", async () => {
  library.people.fault = respondWith({
    data: { _entities: [{ name: "Ada", email: null }, null] },
    errors: [
      { message: "Not yours.", path: ["_entities", 0, "email"], extensions: { code: "FORBIDDEN" } },
      { message: "Missing.", path: ["_entities", 1], extensions: { code: "NOT_FOUND" } },
    ],
  });
  const { body } = await gateway.send("{ books { author { name email } } }");
  expect(body.data.books.map(({ author }: { author: object }) => author)).toEqual([
    { name: "Ada", email: null },
    null,
    null,
    { name: "Ada", email: null },
  ]);
  expect(
    body.errors.map(({ path, extensions }: { path: unknown; extensions: { code: string } }) => [path, extensions.code]),
  ).toEqual([
    // books[2] has no author and so no representation; books[3] has the first one's, and is sent with it.
    [["books", 0, "author", "email"], "FORBIDDEN"],
    [["books", 3, "author", "email"], "FORBIDDEN"],
    [["books", 1, "author", "name"], "NOT_FOUND"],
    [["books", 1, "author", "email"], "NOT_FOUND"],
  ]);
});

test("the path of an aliased field has the alias", async () => {
  library.ratings.fault = (response) => response.destroy();
  const { body } = await gateway.send("{ all: books { points: stars } }");
  expect(body.errors[1].path).toEqual(["all", 1, "points"]);
});

test("a skipped field has no error", async () => {
  library.ratings.fault = (response) => response.destroy();
  const query = 'query ($no: Boolean = true) { book(isbn: "b1") { stars comments @skip(if: $no) } }';
  expect((await gateway.send(query)).body.errors.map(({ path }: { path: unknown }) => path)).toEqual([
    ["book", "stars"],
  ]);
});

test("a failed fetch for the parents of further fields is an error at the first missing field", async () => {
  library.books.fault = (response) => response.destroy();
  const { body } = await gateway.send("{ people { books { stars } } }");
  expect(body.data.people).toEqual([{ books: null }, { books: null }]);
  expect(body.errors.map(({ path }: { path: unknown }) => path)).toEqual([
    ["people", 0, "books"],
    ["people", 1, "books"],
  ]);
});

test("responses that do not fit the schema are reported with their service, and with the replica of a fetch", async () => {
  const { url: replica } = library.ratings;
  library.ratings.fault = respondWith({ data: { _entities: [{ stars: 1 }] } });
  await gateway.send("{ books { title stars } }");
  library.people.fault = respondWith({ data: { people: "none" } });
  await gateway.send("{ people { name } }");
  library.people.fault = respondWith({ data: { people: [{ name: { first: "Ada" } }] } });
  await gateway.send("{ people { name } }");
  expect(gateway.observations).toMatchObject([
    { kind: "subgraph-response-invalid", service: "ratings", replica },
    { kind: "values-rejected", service: "people", code: "SUBGRAPH_INVALID_RESPONSE" },
    { kind: "values-rejected", service: "people", code: "INVALID_FIELD_VALUE" },
  ]);
});

test("one entity of another type or shape is null with an error, and the others are complete", async () => {
  const good = { __typename: "Book", stars: 7 };
  library.ratings.fault = respondWith({
    data: { _entities: [good, { __typename: "Person", stars: 1 }, "x", { __typename: 5 }] },
  });
  const { body } = await gateway.send("{ books { stars } }");
  expect(body.data.books.map(({ stars }: { stars: number }) => stars)).toEqual([7, null, null, null]);
  expect(body.errors.map(({ path }: { path: unknown }) => path)).toEqual([1, 2, 3].map((i) => ["books", i, "stars"]));
});

test("a value of the wrong shape is null with an error, and its siblings are complete", async () => {
  library.books.fault = respondWith({
    data: {
      books: [
        { __typename: "Book", title: "Good", author: [] },
        "bad",
        { __typename: "Unknown", title: "X" },
        { __typename: null },
      ],
      book: { __typename: "Book", title: { no: "text" }, author: null },
    },
  });
  const { status, body } = await gateway.send(
    '{ books { title author { __typename } } book(isbn: "b1") { title author { __typename } } }',
  );
  expect(status).toBe(200);
  expect(body.data).toEqual({
    books: [{ title: "Good", author: null }, null, null, null],
    book: { title: null, author: null },
  });
  expect(
    body.errors.map(({ path, extensions }: { path: unknown; extensions: { code: string } }) => [path, extensions.code]),
  ).toEqual([
    [["books", 0, "author"], "SUBGRAPH_INVALID_RESPONSE"],
    [["books", 1], "SUBGRAPH_INVALID_RESPONSE"],
    [["books", 2], "SUBGRAPH_INVALID_RESPONSE"],
    [["books", 3], "SUBGRAPH_INVALID_RESPONSE"],
    [["book", "title"], "INVALID_FIELD_VALUE"],
  ]);
});

test("a null in a non-null field propagates to the nearest nullable field, with an entry in errors[] and nothing in extensions", async () => {
  library.people.fault = respondWith({ data: { people: [{ name: "Ada" }, { name: null }] } });
  const { body, text } = await gateway.send("{ people { name } books { title } }");
  expect(body.data.people).toBeNull();
  expect(body.data.books).toHaveLength(4);
  expect(body.errors).toEqual([
    {
      message: "The value of this field does not fit the schema.",
      path: ["people", 1, "name"],
      extensions: { code: "INVALID_FIELD_VALUE" },
    },
  ]);
  expect(text).not.toContain("valueCompletion");
});

test("a null that only follows from a failed fetch has no further error, and an unrelated one has", async () => {
  library.ratings.fault = (response) => response.destroy();
  library.people.fault = respondWith({ data: { people: [{ name: null }] } });
  const { body } = await gateway.send('{ book(isbn: "b1") { title comments } people { name } }');
  expect(body.data).toEqual({ book: null, people: null });
  expect(body.errors.map(({ path }: { path: unknown }) => path)).toEqual([
    ["book", "comments"],
    ["people", 0, "name"],
  ]);
});

test("missing entities are errors of their non-null fields only, all with one code, and are not logged", async () => {
  const many = Array.from({ length: 120 }, (_, i) => ({ __typename: "Book", isbn: `b${i}`, title: "T" }));
  library.books.fault = respondWith({ data: { books: many } });
  library.ratings.fault = respondWith({ data: { _entities: many.map(() => null) } });
  gateway.observations.length = 0;
  const nullable = await gateway.send("{ books { title stars } }");
  expect(nullable.body).toEqual({ data: { books: many.map(({ title }) => ({ title, stars: null })) } });
  const { body } = await gateway.send("{ books { title comments } }");
  expect(body.data.books).toEqual(Array(120).fill(null));
  const codes = body.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
  expect(codes).toEqual(Array(101).fill("NOT_FOUND"));
  expect(body.errors.at(-1).message).toBe("20 more fields have an error.");
  expect(gateway.observations.filter(({ kind }) => kind === "values-rejected")).toEqual([]);
});

test("a long list of errors is cut, and the others are counted", async () => {
  const many = Array.from({ length: 80 }, (_, i) => ({ __typename: "Book", isbn: `b${i}`, title: "T" }));
  library.books.fault = respondWith({ data: { books: many } });
  library.ratings.fault = (response) => response.destroy();
  const { body } = await gateway.send("{ books { title stars comments } }");
  expect(body.data.books).toEqual(Array(80).fill(null));
  expect(body.errors).toHaveLength(101);
  expect(body.errors.at(-1)).toEqual({
    message: "60 more fields below this path are missing. The service behind this field cannot be reached.",
    path: ["books"],
    extensions: { code: "SUBGRAPH_UNAVAILABLE", service: "ratings" },
  });
});

test("of many nulls that only follow from a failed fetch, none is counted as an error of another kind", async () => {
  const many = Array.from({ length: 300 }, (_, i) => ({ __typename: "Book", isbn: `b${i}`, title: "T" }));
  library.books.fault = respondWith({ data: { books: many } });
  library.ratings.fault = (response) => response.destroy();
  const { body } = await gateway.send("{ books { title comments } }");
  const codes = body.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
  expect(codes).toEqual(Array(101).fill("SUBGRAPH_UNAVAILABLE"));
});

test("after a hundred nulls that follow from a failed fetch, another null still has its error", async () => {
  const many = Array.from({ length: 150 }, (_, i) => ({ __typename: "Book", isbn: `b${i}`, title: "T" }));
  library.books.fault = respondWith({ data: { books: many } });
  library.ratings.fault = (response) => response.destroy();
  library.people.fault = respondWith({ data: { people: [{ name: null }], whoAmI: 5 } });
  const { body } = await gateway.send("{ books { title comments } people { name } whoAmI }");
  expect([body.data.people, body.data.whoAmI]).toEqual([null, null]);
  const paths = body.errors.map(({ path }: { path: unknown }) => path);
  expect(paths).toEqual(expect.arrayContaining([["people", 0, "name"], ["whoAmI"]]));
});

test("errors without a path are at all missing fields, or at the list of the fetch", async () => {
  library.people.fault = respondWith({ errors: [{ message: "Who?", extensions: { code: "UNAUTHENTICATED" } }] }, 401);
  const rejected = await gateway.send("{ whoAmI people { name } books { author { name } } }");
  expect(rejected.body.errors.map(({ path }: { path: unknown }) => path)).toEqual([
    ["whoAmI"],
    ["people"],
    ["books", 0, "author", "name"],
    ["books", 1, "author", "name"],
    ["books", 3, "author", "name"],
  ]);
  expect(rejected.body.errors[0]).toMatchObject({
    message: "Who?",
    extensions: { code: "UNAUTHENTICATED", service: "people" },
  });

  library.people.fault = respondWith({
    data: { _entities: [null, null] },
    errors: [{ message: "Odd." }, { message: "Odder.", path: ["_entities", 77] }],
  });
  const odd = await gateway.send("{ books { author { name } } }");
  expect(odd.body.errors.map(({ path }: { path: unknown }) => path)).toEqual([["books"], ["books"]]);
});

test.each([502, 503, 504])("the data of a well-formed %i is used, with its errors", async (status) => {
  const error = { message: "Later.", path: ["whoAmI"], extensions: { code: "NOT_FOUND" } };
  library.people.fault = respondWith({ data: { person: { name: "Ada" }, whoAmI: null }, errors: [error] }, status);
  library.books.fault = respondWith({ data: { addBook: { title: "T" } } }, status);
  library.books.requests.length = 0;
  const { body } = await gateway.send("{ person(id: 1) { name } whoAmI }");
  expect(body.data).toEqual({ person: { name: "Ada" }, whoAmI: null });
  expect(body.errors).toEqual([{ ...error, extensions: { code: "NOT_FOUND", service: "people" } }]);
  const mutation = await gateway.send('mutation { addBook(title: "T") { title } }');
  expect(mutation.body).toEqual({ data: { addBook: { title: "T" } } });
  expect(library.books.requests).toHaveLength(1);
});

test("a 503 without data is SUBGRAPH_UNAVAILABLE, unless its errors are for the client", async () => {
  const codeOf = async (body: object) => {
    library.people.fault = respondWith(body, 503);
    return (await gateway.send("{ whoAmI }")).body.errors[0].extensions.code;
  };
  expect(await codeOf({ data: null, errors: [{ message: "pool is full" }] })).toBe("SUBGRAPH_UNAVAILABLE");
  expect(await codeOf({ data: { whoAmI: "Ada" }, errors: "boom" })).toBe("SUBGRAPH_UNAVAILABLE");
  expect(await codeOf({ errors: [{ message: "Who?", extensions: { code: "UNAUTHENTICATED" } }] })).toBe(
    "UNAUTHENTICATED",
  );
});

test.each(["Unauthorized", '{"error":"x"}', '{"data":null}', '{"errors":["x"]}', '{"errors":[{"status":"401"}]}'])(
  "a 401 with %s, which is no GraphQL response, is UNAUTHENTICATED",
  async (text) => {
    library.people.fault = (response) => respondJson(response, 401, text);
    const { body } = await gateway.send("{ whoAmI }");
    expect(body.errors).toMatchObject([{ path: ["whoAmI"], extensions: { code: "UNAUTHENTICATED" } }]);
  },
);

test("the Retry-After of a 429 or 503 is in the errors of its fields", async () => {
  const errorFor = async (status: number, retryAfter: string, body: object) => {
    library.people.fault = (response, ...rest) => {
      response.setHeader("Retry-After", retryAfter);
      respondWith(body, status)(response, ...rest);
    };
    return (await gateway.send("{ whoAmI }")).body.errors[0].extensions;
  };
  const masked = { errors: [{ message: "busy" }] };
  const unavailable = { code: "SUBGRAPH_UNAVAILABLE", service: "people" };
  expect(await errorFor(503, "7", masked)).toEqual({ ...unavailable, retryAfterSeconds: 7 });
  expect(await errorFor(429, new Date(Date.now() - 1_000).toUTCString(), masked)).toEqual({
    ...unavailable,
    retryAfterSeconds: 0,
  });
  expect(await errorFor(503, "soon", masked)).toEqual(unavailable);
  const forbidden = { errors: [{ message: "No.", extensions: { code: "FORBIDDEN" } }] };
  expect(await errorFor(429, "3", forbidden)).toEqual({ code: "FORBIDDEN", service: "people", retryAfterSeconds: 3 });
});

test.each([
  ["different", (id: number) => `{ person(id: ${id}) { name } }`],
  // Their fetches are shared.
  ["equal", () => "{ whoAmI }"],
])(
  "while a subgraph is silent, fields of %s queries fail at once with retryAfterSeconds, until it responds",
  async (_, queryOf) => {
    library.people.isFrozen = true;
    const opened = gateway.observations.length;
    const waiting: ReturnType<typeof gateway.send>[] = [];
    const breakerChanges = () =>
      gateway.observations
        .slice(opened)
        .flatMap((observation) => (observation.kind === "breaker-changed" ? [observation.isOpen] : []));
    for (let id = 0; !breakerChanges().includes(true) && id < 200; id++) {
      waiting.push(gateway.send(queryOf(id)));
      await sleep(50);
    }
    const { body } = await gateway.send("{ whoAmI }");
    const extensions = { code: "SUBGRAPH_UNAVAILABLE", service: "people", retryAfterSeconds: 1 };
    expect(body.errors).toMatchObject([{ path: ["whoAmI"], extensions }]);
    library.people.isFrozen = false;
    await vi.waitUntil(() => breakerChanges().at(-1) === false, { timeout: 20_000 });
    expect((await gateway.send("{ whoAmI }")).body.errors).toBeUndefined();
    // Those that were sent before do not wait for their deadlines.
    for (const { body: late } of await Promise.all(waiting)) expect(late.errors).toMatchObject([{ extensions }]);
  },
);

test("a null that propagated to the subgraph's data makes every field of the fetch null, with an error for each", async () => {
  library.people.fault = respondWith({
    data: null,
    errors: [{ message: "x", path: ["whoAmI"], extensions: { code: "FORBIDDEN" } }],
  });
  const { body } = await gateway.send("{ whoAmI people { name } }");
  expect(body.errors.map(({ path, extensions }: { path: unknown; extensions: object }) => [path, extensions])).toEqual([
    [["whoAmI"], { code: "FORBIDDEN", service: "people" }],
    [["people"], { code: "FORBIDDEN", service: "people" }],
  ]);
});

test("a response of a subgraph cannot pollute prototypes", async () => {
  library.people.fault = (response) =>
    respondJson(
      response,
      200,
      '{"data":{"person":{"name":"Ada","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}},"__proto__":{"polluted":1}}}',
    );
  const { body } = await gateway.send("{ person(id: 1) { name } }");
  expect(body).toEqual({ data: { person: { name: "Ada" } } });
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
