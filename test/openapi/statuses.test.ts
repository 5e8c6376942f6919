import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { loadRoutes } from "../../rest-proxy/src/route/routes.ts";
import { type Operation, operationsOf, readExamples, readOpenApi, type RunnableExample } from "./documents.ts";
import { type Door, openDoor } from "./door.ts";
import { findMisfits } from "./json-schema.ts";
import { type Services, startServices } from "./services.ts";

/**
 * Every documented status of every operation is produced here, through the proxy, as one of the problems that are documented for it: what
 * a document says can happen, does happen. (The other direction, that nothing else happens, is a fuzzer's to find.)
 */
const examples = await readExamples();
const firsts = [...Map.groupBy(examples, ({ id, version }) => `${id} v${version}`).values()].map(([first]) => first!);
const documents = { 1: await readOpenApi(1), 2: await readOpenApi(2) } as const;
const operations = { 1: operationsOf(documents[1]), 2: operationsOf(documents[2]) } as const;

const routes = loadRoutes(new URL("../../supergraph/routes.json", import.meta.url).pathname);
const everyScope = ["users:write:all", "posts:write:all", "comments:write:all", "orders:read:all", "orders:write:all"];

let services: Services;
/** In front of the services; nobody else asks at `fresh`, so that no copy answers in their place. */
let door: Door;
let fresh: Door;
/** It never answers, and counts what it hears. */
let stub: Server;
let heard = 0;
beforeAll(async () => {
  services = await startServices(inject("postgresUrl"));
  [door, fresh] = await Promise.all([openDoor(services.urls), openDoor(services.urls)]);
  stub = createServer(() => heard++);
  await new Promise<void>((resolve) => stub.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  stub.closeAllConnections();
  stub.close();
  await Promise.all([door.close(), fresh.close()]);
  await services.stop();
});

/** What is different from the example, so that it ends otherwise. */
interface Change {
  readonly at?: Door;
  readonly path?: string;
  readonly query?: string;
  readonly scopes?: readonly string[];
  readonly onlyScopes?: boolean;
  /** Undefined takes a header away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
}

type Recipe = (example: RunnableExample) => Promise<Response>;

const recipes: Readonly<Record<number, Recipe>> = {
  200: (example) => ask(example),
  201: (example) => ask(example, { body: anew(example) }),
  204: (example) => ask(example),
  304: async (example) => {
    const path = await pathOf(example);
    const etag = (await ask(example, { path })).headers.get("etag") ?? "";
    return ask(example, { path, headers: { "If-None-Match": etag } });
  },
  400: (example) => ask(example, { query: "nothing=1" }),
  401: (example) => ask(example, { at: fresh, headers: { authorization: "Bearer nothing" } }),
  403: (example) => ask({ ...example, as: "linus", scopes: [] }, { onlyScopes: true }),
  404: (example) => ask(example, { path: nowhere(example), scopes: everyScope }),
  406: (example) => ask(example, { headers: { Accept: "text/html" } }),
  409: (example) => conflicts[example.id]!(example),
  412: (example) => ask(example, { headers: { "If-Match": '"0-v0-nothing"' } }),
  413: (example) => ask(example, { body: JSON.stringify("x".repeat(70_000)) }),
  415: (example) => ask(example, { body: "{}", headers: { "Content-Type": "text/plain" } }),
  422: (example) => ask(example, { body: '{"nothing":1}' }),
  428: (example) => ask(example, { headers: { "If-Match": undefined } }),
  431: (example) => ask(example, { headers: { "X-Long": "x".repeat(20_000) } }),
};

const conflicts: Readonly<Record<string, Recipe>> = {
  createUser: (example) => ask(example, { body: JSON.stringify(withEmail(example.body, "grace.hopper@example.org")) }),
  updateUser: (example) =>
    ask(example, { body: JSON.stringify(withEmail({}, "grace.hopper@example.org", example.version)) }),
  updatePost: (example) => ask(example, { body: '{"status":"DRAFT"}' }),
  editComment: async (example) => ask(example, { path: `/comments/${await oldCommentOfAda()}` }),
  placeOrder: async (example) => {
    await services.query("orders", "update products set stock = 0 where sku = 'PRINT-0002'");
    const body = JSON.stringify(example.body).replace("PRINT-0001", "PRINT-0002");
    return ask(example, { body, headers: { "Idempotency-Key": randomUUID() } });
  },
  cancelOrder: async (example) => {
    const path = await pathOf(example);
    await ask(example, { path });
    return ask(example, { path });
  },
};

const statuses = [...new Set(firsts.flatMap((example) => statusesOf(example)))].toSorted((a, b) => a - b);

test.each(statuses.filter((status) => status in recipes))(
  "%d is answered by every operation that is documented with it",
  async (status) => {
    await expectFromAll(status, recipes[status]!);
  },
);

test("408 is answered to a client that does not come to the end of its request", async () => {
  const slow = await openDoor(services.urls, { HEADERS_TIMEOUT_MS: "10", REQUEST_TIMEOUT_MS: "10" });
  const waiting = new Map(firsts.map((example) => [example, abandon(slow, example)]));
  await expectFromAll(408, (example) => waiting.get(example)!);
  await slow.close();
});

/** A value that each parameter refuses; ids have none, since one that cannot exist finds nothing. */
const badValues: Readonly<Record<string, string>> = {
  ...{ limit: "101", cursor: "forged", status: "NOTHING", role: "NOTHING", search: "", sort: "nothing" },
};
const lists = firsts.filter((example) => parameterNamesOf(example).length > 0);

test.each(lists)(
  "400 of $id in v$version names each parameter that is bad, at the proxy and at the service",
  async (example) => {
    const bad = parameterNamesOf(example).filter((name) => name in badValues);
    for (const name of bad) {
      expect([name, ...(await readBadParameters(example, `${name}=${badValues[name]}`))]).toEqual([name, 400, name]);
    }
    for (const limit of ["0", "-1", "1.5", "a", "", "1e1", "1000"]) {
      expect([limit, ...(await readBadParameters(example, `limit=${limit}`))]).toEqual([limit, 400, "limit"]);
    }
    // A cursor is signed for its filters, so it can be judged only where they are valid.
    const filters = bad.filter((name) => name !== "cursor");
    const values = filters.map((name) => `${name}=${badValues[name]}`);
    expect(await readBadParameters(example, values.join("&"))).toEqual([400, ...filters.toSorted()]);
    expect(await readBadParameters(example, "limit=101&cursor=forged")).toEqual([400, "cursor", "limit"]);
    const names = "nothing=1&Limit=1&limit=1&l%69mit=2&cursor=%ff&nothing=2";
    expect(await readBadParameters(example, names)).toEqual([400, "Limit", "cursor", "limit", "nothing"]);
    const { service } = routes.find(({ id }) => id === example.id)!;
    const path = withQuery(
      `/v${example.version}${example.path.split("?", 1)[0]}`,
      [...values, names.replace("limit=1&l%69mit=2", "a=1")].join("&"),
    );
    const direct = await services.send(service, "GET", path, { as: "ada", scopes: everyScope });
    expect(parametersOf(await direct.json())).toEqual([...filters, "Limit", "a", "cursor", "nothing"].toSorted());
  },
);

test.each(firsts.filter(({ method }) => method === "GET"))(
  "the longest If-None-Match that $id in v$version documents is not 431",
  async (example) => {
    const { $ref } = operationOf(example).parameters!.find(({ $ref }) => $ref?.endsWith("/IfNoneMatch"))!;
    const { parameters } = documents[example.version as 1 | 2].components as unknown as {
      readonly parameters: Readonly<Record<string, { readonly schema: { readonly maxLength: number } }>>;
    };
    const { maxLength } = parameters[$ref!.replace("#/components/parameters/", "")]!.schema;
    const { status } = await ask(example, { headers: { "If-None-Match": `"${"x".repeat(maxLength - 2)}"` } });
    expect(status).toBe(200);
  },
);

test("410 is answered by every operation of a version whose sunset has come", async () => {
  const late = await openDoor(services.urls, { DEPRECATED_VERSIONS: "1=-2d,2=-2d", SUNSET_VERSIONS: "1=-1d,2=-1d" });
  await expectFromAll(410, (example) => ask(example, { at: late }));
  await late.close();
});

test("429 is answered to a caller that has asked as often as it may, with the time after which it may again", async () => {
  const one = { RATE_LIMIT_READS_PER_MINUTE: "1", RATE_LIMIT_WRITES_PER_MINUTE: "1", RATE_LIMIT_EXEMPT: "none" };
  const strict = await openDoor(services.urls, one);
  for (const method of ["GET", "DELETE"]) await fetch(strict.url, { method });
  await expectFromAll(429, (example) => ask(example, { at: strict }));
  await strict.close();
});

test("502 is answered while a service is down", async () => {
  const nobody = await openDoor(everyServiceAt("http://127.0.0.1:1"));
  await expectFromAll(502, (example) => ask(example, { at: nobody }));
  await nobody.close();
});

test("503 is answered while a service has as much to do as it may, and 504 when it does not answer in time", async () => {
  const silent = everyServiceAt(`http://127.0.0.1:${(stub.address() as AddressInfo).port}`);
  const full = await openDoor(silent, { IN_FLIGHT_MAX: "1" });
  const leaving = new AbortController();
  const held = ["/users/1", "/posts/1", "/comments/1", "/products/A"].map((path) =>
    fetch(`${full.url}/v1${path}`, { signal: leaving.signal }),
  );
  await expect.poll(() => heard).toBe(4);
  await expectFromAll(503, (example) => ask(example, { at: full, path: example.path.replace("/1", "/2") }));
  leaving.abort();
  await Promise.allSettled(held);
  await full.close();
  const impatient = await openDoor(silent, { UPSTREAM_TIMEOUT_MS: "20" });
  await expectFromAll(504, (example) => ask(example, { at: impatient }));
  await impatient.close();
});

test("500 is answered, and says nothing of the inside, when a service breaks", async () => {
  const last = await openDoor(services.urls);
  for (const service of Object.keys(services.urls)) await services.query(service, "drop schema public cascade");
  await expectFromAll(500, (example) => ask(example, { at: last, path: example.path }));
  await last.close();
});

test("there is no documented status but these", () => {
  expect(statuses.filter((status) => !(status in recipes))).toEqual([408, 410, 429, 500, 502, 503, 504]);
});

async function expectFromAll(status: number, recipe: Recipe): Promise<void> {
  const documented = firsts.filter((example) => statusesOf(example).includes(status));
  expect(documented.length).toBeGreaterThan(0);
  const wrong: string[] = [];
  for (const example of documented) {
    const faults = await findFaults(await recipe(example), status, example);
    wrong.push(...faults.map((fault) => `${example.id} v${example.version}: ${fault}`));
  }
  expect(wrong).toEqual([]);
}

async function findFaults(response: Response, status: number, example: RunnableExample): Promise<readonly string[]> {
  const text = await response.text();
  if (response.status !== status) return [`${response.status} instead of ${status}: ${text}`];
  if (status < 400) return [];
  const answer = JSON.parse(text) as { readonly type: string };
  const { types, schema, headers } = documentedProblem(example, status);
  const misfits = findMisfits(answer, schema, documents[example.version as 1 | 2].components.schemas);
  const ofLimits = status === 429 ? ["RateLimit", "RateLimit-Policy"] : [];
  const said = new Set(["WWW-Authenticate", "Retry-After", ...ofLimits]);
  const needed = headers.filter((name) => said.has(name) && !response.headers.has(name));
  return [
    ...misfits,
    ...needed.map((name) => `there is no ${name}`),
    ...(types.includes(answer.type) ? [] : [`${answer.type} is not documented`]),
  ];
}

/** The status, and the names in `errors`, sorted. */
async function readBadParameters(example: RunnableExample, query: string): Promise<readonly unknown[]> {
  const response = await ask({ ...example, path: example.path.split("?", 1)[0]! }, { query, scopes: everyScope });
  const problem = await response.json();
  const { schema } = documentedProblem(example, 400);
  expect(findMisfits(problem, schema, documents[example.version as 1 | 2].components.schemas)).toEqual([]);
  return [response.status, ...parametersOf(problem)];
}

function parametersOf(problem: unknown): readonly string[] {
  const { errors = [] } = problem as { readonly errors?: readonly { readonly parameter: string }[] };
  return errors.map(({ parameter }) => parameter).toSorted();
}

function parameterNamesOf(example: RunnableExample): readonly string[] {
  const { parameters = [] } = operationOf(example);
  return parameters.filter((one) => one.in === "query").map(({ name }) => name);
}

function documentedProblem(example: RunnableExample, status: number) {
  const { $ref } = operationOf(example).responses[status] as unknown as { readonly $ref: string };
  const { responses } = documents[example.version as 1 | 2].components as unknown as {
    readonly responses: Readonly<Record<string, Operation["responses"][string]>>;
  };
  const { content, headers } = responses[$ref.replace("#/components/responses/", "")]!;
  const { schema, examples = {} } = content!["application/problem+json"]!;
  const types = Object.values(examples).map(({ value }) => (value as { readonly type: string }).type);
  return { types, schema, headers: Object.keys(headers ?? {}) };
}

function operationOf({ version, id }: RunnableExample): Operation {
  return operations[version as 1 | 2].get(id)!;
}

function statusesOf(example: RunnableExample): readonly number[] {
  return Object.keys(operationOf(example).responses).map(Number);
}

/** The example, but for what is changed; what it is about is made first where it follows another. */
async function ask(example: RunnableExample, change: Change = {}): Promise<Response> {
  const { at = door, query } = change;
  // Where nothing is made, nothing can be asked for either: then the path will do as it stands.
  const path = change.path ?? (at === door ? await pathOf(example) : example.path);
  const { method, version } = example;
  const body = "body" in change ? change.body : example.body === undefined ? undefined : JSON.stringify(example.body);
  return fetch(`${at.url}/v${version}${query === undefined ? path : withQuery(path, query)}`, {
    method,
    headers: await headersOf(example, change, body),
    ...(body === undefined ? {} : { body }),
  });
}

async function headersOf(example: RunnableExample, { headers, scopes, onlyScopes }: Change, body: string | undefined) {
  const type = example.method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const token =
    example.as === undefined
      ? undefined
      : await services.tokenOf(example.as, [...(example.scopes ?? []), ...(scopes ?? [])], onlyScopes);
  const all: Record<string, string | undefined> = {
    ...(body === undefined ? {} : { "Content-Type": type }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...example.headers,
    ...("Idempotency-Key" in (example.headers ?? {}) ? { "Idempotency-Key": randomUUID() } : {}),
    ...headers,
  };
  return Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
}

/** Below the version. */
async function pathOf({ version, path, follows }: RunnableExample): Promise<string> {
  if (follows === undefined) return path;
  const made = await ask(firsts.find((one) => one.id === follows && one.version === version)!);
  const location = made.headers.get("location") ?? `nowhere: ${await made.text()}`;
  const [, , ...rest] = path.split("/").slice(1);
  return [location.replace(/^\/v\d+/, ""), ...rest].join("/");
}

function withQuery(path: string, query: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** The body of an example that may be sent once only, for another person. */
function anew({ id, version, body }: RunnableExample): string {
  return JSON.stringify(id === "createUser" ? withEmail(body, `${randomUUID()}@example.org`, version) : body);
}

function withEmail(body: unknown, email: string, version?: number): object {
  const isNested = version === 2 || "private" in (body as object);
  return { ...(body as object), ...(isNested ? { private: { email } } : { email }) };
}

/** Where the operation finds nothing: an id that nobody has, or where that is no matter, one that cannot be. */
function nowhere({ path, document }: RunnableExample): string {
  const [, collection, , ...rest] = path.split("?", 1)[0]!.split("/");
  const isAbout = document.problems?.includes("NOT_FOUND");
  return ["", collection, isAbout ? "999999999" : "%00", ...rest].join("/");
}

async function oldCommentOfAda(): Promise<string> {
  const found = await fetch(`${door.url}/v1/comments?authorId=1&limit=100`);
  const comments = (await found.json()) as readonly { readonly id: string }[];
  return comments.at(-1)!.id;
}

function everyServiceAt(url: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(services.urls).map((name) => [name, url]));
}

/** Begins a request and never comes to its end; what is answered all the same. */
function abandon({ url }: Door, { method, version, path }: RunnableExample): Promise<Response> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    socket.on("error", reject).on("close", () => {
      const [head = "", body = ""] = text.split("\r\n\r\n", 2);
      resolve(new Response(body, { status: Number(head.split(" ", 2)[1]) }));
    });
    socket.write(`${method} /v${version}${path} HTTP/1.1\r\nHost:`);
  });
}
