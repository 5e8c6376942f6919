import { request as httpRequest } from "node:http";
import { noDatabase } from "../src/testing/database.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Request } from "express";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppError } from "../src/errors/app-error.ts";
import type { Log } from "../src/process/log.ts";
import { publicPath } from "../src/rest/error-responses.ts";
import type { Handlers } from "../src/rest/rest-endpoint.ts";
import { listBytesMax, readPageRequest, writeList } from "../src/rest/lists.ts";
import type { RouteDeclaration } from "../src/rest/routes.ts";
import { createServiceApp, type ServiceApp } from "../src/service/service.ts";
import { createCursors } from "../src/lists/cursor.ts";

const routes = [
  {
    id: "list",
    method: "GET",
    path: "/things",
    versions: [1],
    query: ["limit", "cursor"],
    cache: "public",
    summary: "Things",
  },
  { id: "echo", method: "POST", path: "/things", versions: [1], cache: "none", summary: "Returns the body" },
  { id: "one", method: "GET", path: "/things/:id", versions: [1], cache: "public", summary: "One thing" },
  { id: "next", method: "GET", path: "/next", versions: [2], cache: "public", summary: "Only in version 2" },
] as const satisfies readonly RouteDeclaration[];

const schema = new URL("things.graphql", import.meta.url);
const secret = 'relation "passwords" does not exist at 10.0.0.7';
const resolvers = {
  Query: {
    fine: () => 1,
    forbidden: () =>
      fail(new AppError("FORBIDDEN", "Not for you.", { problems: [{ pointer: "#", code: "no", detail: "No." }] })),
    broken: () => fail(new Error(secret)),
    late: () => fail(new AppError("SERVICE_UNAVAILABLE", "Later.", { cause: new Error(secret) })),
  },
  Thing: {
    __resolveReference: ({ id, maker }: { id?: string; maker?: string }) =>
      id === "broken" ? fail(new Error(secret)) : { id: id ?? `by ${maker}` },
  },
};

const logged: string[] = [];
const log = { ...logOf(logged) } as unknown as Log;
const big = {
  items: Array.from({ length: 3 }, (_, i) => ({ id: String(9 - i), text: "x".repeat(600_000) })),
  hasNext: false,
  hasPrev: false,
};
const cursors = createCursors(["a key for this test"]);
let app: ServiceApp;
let url: string;

beforeAll(async () => {
  const authenticate = async (authorization: string | undefined) =>
    authorization === undefined
      ? ({ kind: "anonymous" } as const)
      : fail(
          authorization === "Bearer bad"
            ? new AppError("UNAUTHENTICATED", "No.")
            : new AppError("SERVICE_UNAVAILABLE", "Later.", {
                cause: new Error("no keys"),
                retryAfterSeconds: 1,
                dependency: "token-issuer",
              }),
        );
  const handlers: Handlers<typeof routes> = {
    list: async (request) => {
      readPageRequest(request, cursors, "things");
      if (request.query["limit"] === "13") throw new Error(secret);
      const page = { ...big, hasNext: request.query["cursor"] !== undefined };
      return writeList({ request, cursors, list: "things", page, idOf: ({ id }) => id, toJson: (it) => it });
    },
    echo: async ({ body }) => (body === undefined ? { status: 204 } : { status: 201, body }),
    one: async () => ({ status: 200 }),
    next: async () => ({ status: 200 }),
  };
  app = await createServiceApp(
    { name: "things", authenticate, database: noDatabase, log },
    {
      schema,
      resolvers,
      createContext: () => ({}),
      routes,
      caching: { freshSeconds: 10, fieldGroups: {}, groupsOfChange: () => undefined },
      handlers: { 1: handlers, 2: handlers },
    },
  );
  const server = createServer(app.handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => app.stop());

test("routes and handlers that do not match prevent the start, and are listed with method, path and version", async () => {
  const handler = async () => ({ status: 200 });
  const start = (handlers: object) =>
    createServiceApp(
      { name: "things", authenticate: async () => ({ kind: "anonymous" }), database: noDatabase, log },
      {
        schema,
        resolvers,
        createContext: () => ({}),
        routes,
        caching: { freshSeconds: 10, fieldGroups: {}, groupsOfChange: () => undefined },
        handlers: handlers as Record<number, never>,
      },
    );
  await expect(start({ 1: { list: handler, one: handler, ehco: handler } })).rejects.toThrow(
    [
      "The REST routes and handlers of this service do not match:",
      "  - POST /things (echo) has no handler in version 1. Add one, or remove the route or version.",
      "  - GET /next (next) has no handler in version 2. Add one, or remove the route or version.",
      "  - The handler ehco in version 1 has no route with this id. Declare the route, or remove the handler.",
    ].join("\n"),
  );
});

test("the client gets the code and problems of an AppError; a bug is only logged", async () => {
  const { data, errors } = await postQuery("{ fine forbidden broken late }");
  expect(data).toEqual({ fine: 1, forbidden: null, broken: null, late: null });
  expect(errors.map(({ path, message, extensions }: never) => ({ path, message, extensions }))).toEqual([
    {
      path: ["forbidden"],
      message: "Not for you.",
      extensions: { code: "FORBIDDEN", problems: [{ pointer: "#", code: "no", detail: "No." }] },
    },
    { path: ["broken"], message: "Internal error. Retry later.", extensions: { code: "INTERNAL_SERVER_ERROR" } },
    { path: ["late"], message: "Later.", extensions: { code: "SERVICE_UNAVAILABLE" } },
  ]);
  expect(JSON.stringify(errors)).not.toContain("passwords");
  expect(logged.join()).toContain("passwords");
});

test("an operation with too many root fields is rejected before execution, also with fragments", async () => {
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}: fine`).join(" ");
  const chain = (length: number) =>
    Array.from({ length }, (_, index) => `fragment c${index} on Query { ...c${index + 1} ...c${index + 1} }`).join(" ");
  expect(Object.keys((await postQuery(`{ ${fields(100)} }`)).data)).toHaveLength(100);
  const long = `{ ...c0 } ${chain(500)} fragment c500 on Query { ${fields(100)} }`;
  expect(Object.keys((await postQuery(long)).data)).toHaveLength(100);
  const tooMany = [
    `{ ${fields(101)} }`,
    `{ fine ... on Query { ${fields(100)} } }`,
    `{ fine ...all } fragment all on Query { ${fields(100)} }`,
  ];
  for (const query of tooMany) {
    const { data, errors } = await postQuery(query);
    expect([data, errors[0].message, errors[0].extensions.code]).toEqual([
      undefined,
      "An operation has at most 100 root fields.",
      "GRAPHQL_VALIDATION_FAILED",
    ]);
  }
});

test("an invalid representation fails only its own entity", async () => {
  const of = (id: unknown) => ({ __typename: "Thing", id });
  const keys = [of("1"), of(null), of(["1"]), of({}), of(1), { __typename: "Thing" }, of("broken")];
  const others = [{ __typename: "Part", id: "1" }, { __typename: "Nothing", id: "1" }, { id: "1" }, "text", [[]]];
  const composed = { __typename: "Thing", maker: "Ada", number: "1" };
  const representations = [...keys, ...others, composed];
  const query = "query ($all: [_Any!]!) { _entities(representations: $all) { ... on Thing { id } } }";
  const { data, errors } = await postQuery(query, { all: representations });
  expect(data._entities).toEqual([{ id: "1" }, ...Array(11).fill(null), { id: "by Ada" }]);
  const rejected = others.map((_, index) => [7 + index, "BAD_USER_INPUT"]);
  const codes = errors.map(({ path, extensions }: never) => [path[1], (extensions as { code: string }).code]);
  expect(new Map(codes)).toEqual(new Map([[6, "INTERNAL_SERVER_ERROR"], ...rejected] as [number, string][]));
});

test("an invalid query gets its validation errors", async () => {
  const { errors } = await postQuery("{ nothing }");
  expect(errors[0].extensions).toEqual({ code: "GRAPHQL_VALIDATION_FAILED" });
});

test("the response to a malformed GraphQL request is JSON with its status", async () => {
  const post = async (body: string, headers = {}) => {
    const response = await fetch(`${url}/graphql`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });
    const text = await response.text();
    return [response.status, text.startsWith("<") ? text : JSON.parse(text).errors?.[0]?.extensions?.code];
  };
  expect(await post("{ broken")).toEqual([400, "MALFORMED_REQUEST"]);
  expect(await post(JSON.stringify({ query: "x".repeat(2_097_152) }))).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  expect(await post("{}", { "content-type": "application/json; charset=latin1" })).toEqual([
    415,
    "UNSUPPORTED_MEDIA_TYPE",
  ]);
  expect(await post("{}", { authorization: "Bearer bad" })).toEqual([401, "UNAUTHENTICATED"]);
  // Rounded it would be another id.
  const rounded = '{"query":"query ($fine: ID) { fine }","variables":{"fine":9007199254740993}}';
  expect(await post(rounded)).toEqual([400, "MALFORMED_REQUEST"]);
});

test("token keys that cannot be fetched are a 503 at both endpoints, and the first failure is logged", async () => {
  logged.length = 0;
  const headers = { authorization: "Bearer uncheckable", "content-type": "application/json" };
  for (const [path, method] of [
    ["/graphql", "POST"],
    ["/rest/v1/things", "GET"],
  ] as const) {
    const response = await fetch(url + path, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });
    expect([path, response.status, response.headers.get("retry-after")]).toEqual([path, 503, "1"]);
  }
  expect(logged).toEqual([expect.stringContaining("no keys")]);
});

test("a persisted query is rejected, and not logged as a bug", async () => {
  logged.length = 0;
  for (const persistedQuery of [
    { version: 1, sha256Hash: "00" },
    { version: "1", sha256Hash: {} },
  ]) {
    const { errors } = await postQuery("{ fine }", {}, { persistedQuery });
    expect(errors[0].extensions).toEqual({ code: "PERSISTED_QUERY_NOT_SUPPORTED" });
  }
  expect(logged).toEqual([]);
});

test("client errors are neither warnings nor quoted in the log", async () => {
  logged.length = 0;
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: '{"email": ada@example.org' };
  expect((await fetch(`${url}/rest/v1/things`, init)).status).toBe(400);
  expect(logged).toEqual([]);
});

test("a REST bug is masked, and logged in full", async () => {
  const response = await fetch(`${url}/rest/v1/things?limit=13`);
  const text = await response.text();
  expect([response.status, text.includes("passwords")]).toEqual([500, false]);
});

test("a page is cut at its size limit, and the rest follows by the cursor", async () => {
  const response = await fetch(`${url}/rest/v1/things?limit=3`);
  const body = (await response.json()) as { id: string }[];
  expect(body.map(({ id }) => id)).toEqual(["9"]);
  expect(Number(response.headers.get("content-length"))).toBeLessThan(listBytesMax);
  const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? "";
  expect(cursors.read("things", new URL(next, url).searchParams.get("cursor") ?? "")).toEqual({
    direction: "next",
    id: "9",
  });
});

test("a backward page that is cut omits the items farthest from its start", async () => {
  const cursor = cursors.write("things", { direction: "prev", id: "6" });
  const response = await fetch(`${url}/rest/v1/things?limit=3&cursor=${cursor}`);
  expect(((await response.json()) as { id: string }[]).map(({ id }) => id)).toEqual(["7"]);
  const links = response.headers.get("link") ?? "";
  const positions = ["prev", "next"].map((rel) => {
    const target = new RegExp(`<([^>]+)>; rel="${rel}"`).exec(links)?.[1] ?? "";
    return cursors.read("things", new URL(target, url).searchParams.get("cursor") ?? "");
  });
  expect(positions).toEqual([
    { direction: "prev", id: "7" },
    { direction: "next", id: "7" },
  ]);
});

test("a route of another version and an unknown path are 404, with the path that the client of the REST proxy requested", async () => {
  const paths = [
    ["/rest/v1/next", "/v1/next"],
    ["/rest/v2/things?limit=5", "/v2/things"],
    ["/rest/v1/things/", "/v1/things/"],
    ["/rest/v1/THINGS", "/v1/THINGS"],
    ["/elsewhere", "/elsewhere"],
    ["/", "/"],
  ];
  for (const [path, instance] of paths) {
    const response = await fetch(url + path);
    expect([response.status, response.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    expect(await response.json()).toMatchObject({ instance });
  }
});

test("the public path is without `/rest`, which is removed only as a whole segment", () => {
  const paths = ["/rest/v1/users?limit=5", "/restaurants/1"].map((originalUrl) =>
    publicPath({ originalUrl } as Request),
  );
  expect(paths).toEqual(["/v1/users", "/restaurants/1"]);
});

test("a path that cannot be decoded is a problem document without internal details", async () => {
  const response = await fetch(`${url}/rest/v1/things/%zz`);
  const text = await response.text();
  expect([response.status, response.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
  expect(JSON.parse(text)).toMatchObject({ type: "/problems/malformed-request", instance: "/v1/things/%zz" });
  expect(text).not.toMatch(/node_modules|\.ts|URIError/);
});

test("a query may contain question marks", async () => {
  const statusOf = async (query: string) => (await fetch(`${url}/rest/v1/things?${query}`)).status;
  expect([await statusOf("limit=1"), await statusOf("limit=1?other=2")]).toEqual([200, 400]);
});

test("a body is JSON in UTF-8 without encoding, at most 64 KiB, or none", async () => {
  const post = async (body: string | Buffer | undefined, headers = {}) => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body }),
    };
    return (await fetch(`${url}/rest/v1/things`, init)).status;
  };
  expect(await post('{"a":1}')).toBe(201);
  expect(await post('{"a":1}', { "content-type": 'application/json; charset="UTF-8"' })).toBe(201);
  expect(await post(undefined)).toBe(204);
  expect(await post(Buffer.from([0x22, 0xff, 0x22]))).toBe(400);
  expect(await post('\ufeff{"a":1}')).toBe(400);
  expect(await post('{"a":{"b":1,"b":2}}')).toBe(400);
  expect(await post("{}", { "content-type": "application/json; charset=utf-8; charset=utf-16" })).toBe(415);
  expect(await post("{}", { "content-encoding": "gzip" })).toBe(415);
  expect(await post("{}", { "content-type": "application/merge-patch+json" })).toBe(415);
  expect(await post(JSON.stringify("x".repeat(65_536)))).toBe(413);
});

test("a client that disconnects in the middle of its body does not affect other requests", async () => {
  const request = httpRequest(`${url}/rest/v1/things`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": 50 },
  });
  request.on("error", () => {});
  await new Promise((resolve) => request.write("{", resolve));
  request.destroy();
  expect((await fetch(`${url}/rest/v1/things`, { method: "HEAD" })).status).toBe(200);
});

function fail(error: Error): never {
  throw error;
}

async function postQuery(query: string, variables = {}, extensions = {}) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers,
    body: JSON.stringify({ query, variables, extensions }),
  });
  // oxlint-disable-next-line no-explicit-any -- tests access the properties that they expect
  return (await response.json()) as any;
}

function logOf(lines: string[]) {
  const write = ({ err }: { err?: Error }, text: string) => lines.push(`${text} ${err} ${String(err?.cause)}`);
  return { debug: write, info: write, warn: write, error: write, fatal: write };
}
