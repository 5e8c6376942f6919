import type { GraphqlAnswer } from "../src/testing/service.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startThings } from "./things-service.ts";

// The GraphQL endpoint of a service.

let url: string;
let logged: string[];
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ url, logged, stop } = await startThings());
});
afterAll(() => stop());

test("the client gets the code and problems of an AppError; in production a bug is only logged", async () => {
  const production = await startThings("production");
  onTestFinished(() => production.stop());
  const { data, errors } = await postQuery("{ fine forbidden broken late }", {}, {}, production.url);
  expect(data).toEqual({ fine: 1, forbidden: null, broken: null, late: null });
  expect(errors.map(({ path, message, extensions }) => ({ path, message, extensions }))).toEqual([
    {
      path: ["forbidden"],
      message: "Not for you.",
      extensions: { code: "FORBIDDEN", problems: [{ pointer: "#", code: "no", detail: "No." }] },
    },
    { path: ["broken"], message: "Internal error. Retry later.", extensions: { code: "INTERNAL_SERVER_ERROR" } },
    { path: ["late"], message: "Later.", extensions: { code: "SERVICE_UNAVAILABLE" } },
  ]);
  expect(JSON.stringify(errors)).not.toContain("passwords");
  expect(production.logged.join()).toContain("passwords");
});

test("in development a bug has its own message and the first frame in the service's code", async () => {
  const { errors } = await postQuery("{ broken }");
  expect(errors).toMatchObject([{ message: "Internal error. Retry later.", path: ["broken"] }]);
  expect(errors[0]?.extensions).toEqual({
    code: "INTERNAL_SERVER_ERROR",
    stacktrace: [
      'Error: relation "passwords" does not exist at 10.0.0.7',
      expect.stringMatching(/^ {4}at .*things-service\.ts:\d+:\d+/),
    ],
  });
});

test("in development a bug that quotes its input or the row has neither values nor mail addresses", async () => {
  const { errors } = await postQuery("{ quoting addressed }");
  const messages = errors.map(({ extensions }) => (extensions as { stacktrace?: readonly string[] }).stacktrace?.[0]);
  expect(messages).toEqual(['SyntaxError: Unexpected token "…" is not valid JSON', "Error: no mailbox <email>"]);
});

test("in development a field without a value is a bug that the log names; in production it is null", async () => {
  const query =
    "query ($all: [_Any!]!) { forgotten empty _entities(representations: $all) { ... on Thing { maker } } }";
  const variables = { all: [{ __typename: "Thing", id: "1" }] };
  const { data, errors } = await postQuery(query, variables);
  expect(data).toEqual({ forgotten: null, empty: null, _entities: [{ maker: null }] });
  expect(errors.map(({ path }) => path?.join("."))).toEqual(["forgotten", "_entities.0.maker"]);
  const fault = "has no value: it has no resolver, and its object has no value for it";
  for (const field of ["Query.forgotten", "Thing.maker"]) expect(logged.join()).toContain(`${field} ${fault}`);
  const production = await startThings("production");
  onTestFinished(() => production.stop());
  const response = await fetch(`${production.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  expect(await response.json()).toEqual({ data });
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
    expect([data, errors[0]?.message, errors[0]?.extensions.code]).toEqual([
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
  const codes = errors.map(({ path, extensions }) => [path?.[1], extensions.code] as const);
  expect(Object.fromEntries(codes)).toEqual(Object.fromEntries([[6, "INTERNAL_SERVER_ERROR"], ...rejected]));
});

test("an invalid query gets its validation errors", async () => {
  const { errors } = await postQuery("{ nothing }");
  expect(errors[0]?.extensions).toEqual({ code: "GRAPHQL_VALIDATION_FAILED" });
});

test("the response to a malformed GraphQL request is JSON with its status", async () => {
  const invalidToken = { "content-type": "application/json", authorization: "Bearer bad" };
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
  expect(await post("{}", invalidToken)).toEqual([401, "UNAUTHENTICATED"]);
  const { headers } = await fetch(`${url}/graphql`, { method: "POST", body: "{}", headers: invalidToken });
  expect(headers.get("www-authenticate")).toBe('Bearer realm="tributary", error="invalid_token"');
  // Rounded it would be another id.
  const rounded = '{"query":"query ($fine: ID) { fine }","variables":{"fine":9007199254740993}}';
  expect(await post(rounded)).toEqual([400, "MALFORMED_REQUEST"]);
});

test("a persisted query is rejected, and not logged as a bug", async () => {
  logged.length = 0;
  for (const persistedQuery of [
    { version: 1, sha256Hash: "00" },
    { version: "1", sha256Hash: {} },
  ]) {
    const { errors } = await postQuery("{ fine }", {}, { persistedQuery });
    expect(errors[0]?.extensions).toEqual({ code: "PERSISTED_QUERY_NOT_SUPPORTED" });
  }
  expect(logged).toEqual([]);
});

async function postQuery(query: string, variables = {}, extensions = {}, origin = url) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${origin}/graphql`, {
    method: "POST",
    headers,
    body: JSON.stringify({ query, variables, extensions }),
  });
  return (await response.json()) as Required<Pick<GraphqlAnswer, "data" | "errors">>;
}
