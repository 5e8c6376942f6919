import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { lockNumberOf } from "../../kit/src/idempotency/idempotency-records.ts";
import { loadRoutes } from "../../rest-proxy/src/route/routes.ts";
import { readDocumentedResponses } from "./documented-responses.ts";
import { readExamples, type RunnableExample } from "./documents.ts";
import { createExampleSender, type ExampleSender, withQuery } from "./send-example.ts";
import { type RunningRestProxy, startRestProxy } from "./rest-proxy.ts";
import { type Services, startServices } from "./services.ts";
import { serviceNames } from "../services.ts";

/**
 * Produces every documented status of every operation through the proxy, and checks that the problem is documented. The fuzzer
 * (tools/openapi-fuzz) checks that no other status occurs.
 */
const examples = await readExamples();
const firstExamples = [...Map.groupBy(examples, ({ id, version }) => `${id} v${version}`).values()].map(
  ([first]) => first!,
);
const documented = await readDocumentedResponses();

const routes = loadRoutes(new URL("../../supergraph/routes.json", import.meta.url).pathname);
const everyScope = ["users:write:all", "posts:write:all", "comments:write:all", "orders:read:all", "orders:write:all"];

let services: Services;
let restProxy: RunningRestProxy;
/** A second proxy whose cache is empty for the tested paths, so that each request reaches the services. */
let uncachedProxy: RunningRestProxy;
/** Through `restProxy`, unless overridden. */
let sender: ExampleSender;
/** A server that never responds and counts its requests. */
let stub: Server;
let stubRequests = 0;
beforeAll(async () => {
  services = await startServices(inject("postgresUrl"));
  [restProxy, uncachedProxy] = await Promise.all([startRestProxy(services.urls), startRestProxy(services.urls)]);
  sender = createExampleSender({ services, proxy: restProxy, examples: firstExamples });
  stub = createServer(() => stubRequests++);
  await new Promise<void>((resolve) => stub.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  stub.closeAllConnections();
  stub.close();
  await Promise.all([restProxy.close(), uncachedProxy.close()]);
  await services.stop();
});

type Recipe = (example: RunnableExample) => Promise<Response>;

const recipes: Readonly<Record<number, Recipe>> = {
  200: (example) => sender.send(example),
  201: (example) => sender.send(example),
  204: (example) => sender.send(example),
  304: async (example) => {
    const path = await sender.pathOf(example);
    const etag = (await sender.send(example, { path })).headers.get("etag") ?? "";
    return sender.send(example, { path, headers: { "If-None-Match": etag } });
  },
  400: (example) => sender.send(example, { query: "nothing=1" }),
  401: (example) => sender.send(example, { at: uncachedProxy, headers: { authorization: "Bearer nothing" } }),
  403: (example) => sender.send({ ...example, as: "linus", scopes: [] }, { onlyScopes: true }),
  404: (example) => sender.send(example, { path: unknownPath(example), scopes: everyScope }),
  406: (example) => sender.send(example, { headers: { Accept: "text/html" } }),
  409: (example) => (conflicts[example.id] ?? sendWithKeyInFlight)(example),
  412: (example) => sender.send(example, { headers: { "If-Match": '"0-v0-nothing"' } }),
  413: (example) => sender.send(example, { body: JSON.stringify("x".repeat(70_000)) }),
  415: (example) => sender.send(example, { body: "{}", headers: { "Content-Type": "text/plain" } }),
  422: (example) => sender.send(example, { body: '{"nothing":1}' }),
  428: (example) => sender.send(example, { headers: { "If-Match": undefined } }),
  431: (example) => sender.send(example, { headers: { "X-Long": "x".repeat(20_000) } }),
};

/** Of operations with other conflicts than a request with the same idempotency key. */
const conflicts: Readonly<Record<string, Recipe | undefined>> = {
  createUser: (example) =>
    sender.send(example, { body: JSON.stringify(withEmail(example.body, "grace.hopper@example.org")) }),
  updateUser: (example) =>
    sender.send(example, { body: JSON.stringify(withEmail({}, "grace.hopper@example.org", example.version)) }),
  updatePost: (example) => sender.send(example, { body: '{"status":"DRAFT"}' }),
  editComment: async (example) => sender.send(example, { path: `/comments/${await oldCommentOfAda()}` }),
  placeOrder: async (example) => {
    await services.query("orders", "update products set stock = 0 where sku = 'PRINT-0002'");
    const body = JSON.stringify(example.body).replace("PRINT-0001", "PRINT-0002");
    return sender.send(example, { body, headers: { "Idempotency-Key": randomUUID() } });
  },
  cancelOrder: async (example) => {
    const path = await sender.pathOf(example);
    await sender.send(example, { path });
    return sender.send(example, { path });
  },
};

const statuses = [...new Set(firstExamples.flatMap((example) => documented.statusesOf(example)))].toSorted(
  (a, b) => a - b,
);

test.each(statuses.filter((status) => status in recipes))(
  "every operation that documents status %d can respond with it",
  async (status) => {
    await expectFromAll(status, recipes[status]!);
  },
);

test("every operation responds 408 to a client that does not complete its request in time", async () => {
  const slow = await startRestProxy(services.urls, { HEADERS_TIMEOUT_MS: "10", REQUEST_TIMEOUT_MS: "10" });
  const waiting = new Map(firstExamples.map((example) => [example, sendIncompleteRequest(slow, example)]));
  await expectFromAll(408, (example) => waiting.get(example)!);
  await slow.close();
});

test("every operation accepts eight receipts, and rejects one that cannot be read with a documented 400", async () => {
  const write = await sender.send(firstExamples.find(({ id }) => id === "addComment")!);
  const receipts = Array.from({ length: 8 }, () => write.headers.get("Consistency-Token")).join(", ");
  const faults: unknown[] = [];
  for (const example of firstExamples) {
    const { status } = await sender.send(example, { headers: { ...example.headers, "Consistency-Token": receipts } });
    if (status >= 400) faults.push([example.id, example.version, status]);
  }
  expect(faults).toEqual([]);
  await expectFromAll(400, (example) => sender.send(example, { headers: { "Consistency-Token": '"replaced"' } }));
});

/** An invalid value for each query parameter. Ids are missing: an invalid id finds nothing, and is not an error. */
const invalidValues: Readonly<Record<string, string>> = {
  ...{ limit: "101", cursor: "forged", status: "NOTHING", role: "NOTHING", search: "", sort: "nothing" },
};
const lists = firstExamples.filter((example) => parameterNamesOf(example).length > 0);

test.each(lists)(
  "400 of $id in v$version names each invalid parameter, at the proxy and at the service",
  async (example) => {
    const names = parameterNamesOf(example).filter((name) => name in invalidValues);
    for (const name of names) {
      expect([name, ...(await readBadParameters(example, `${name}=${invalidValues[name]}`))]).toEqual([
        name,
        400,
        name,
      ]);
    }
    for (const limit of ["0", "-1", "1.5", "a", "", "1e1", "1000"]) {
      expect([limit, ...(await readBadParameters(example, `limit=${limit}`))]).toEqual([limit, 400, "limit"]);
    }
    // A cursor is signed together with its filters, so it is validated only if they are valid.
    const filters = names.filter((name) => name !== "cursor");
    const values = filters.map((name) => `${name}=${invalidValues[name]}`);
    expect(await readBadParameters(example, values.join("&"))).toEqual([400, ...filters.toSorted()]);
    expect(await readBadParameters(example, "limit=101&cursor=forged")).toEqual([400, "cursor", "limit"]);
    const badNames = "nothing=1&Limit=1&limit=1&l%69mit=2&cursor=%ff&nothing=2";
    expect(await readBadParameters(example, badNames)).toEqual([400, "Limit", "cursor", "limit", "nothing"]);
    const { service } = routes.find(({ id }) => id === example.id)!;
    const path = withQuery(
      `/v${example.version}${example.path.split("?", 1)[0]}`,
      [...values, badNames.replace("limit=1&l%69mit=2", "a=1")].join("&"),
    );
    const direct = await services.send(service, "GET", path, { as: "ada", scopes: everyScope });
    expect(parametersOf(await direct.json())).toEqual([...filters, "Limit", "a", "cursor", "nothing"].toSorted());
  },
);

test.each(firstExamples.filter(({ method }) => method === "GET"))(
  "the longest If-None-Match that $id in v$version documents does not cause 431",
  async (example) => {
    const { $ref } = documented.operationOf(example).parameters!.find(({ $ref }) => $ref?.endsWith("/IfNoneMatch"))!;
    const { parameters } = documented.componentsOf(example) as unknown as {
      readonly parameters: Readonly<Record<string, { readonly schema: { readonly maxLength: number } }>>;
    };
    const { maxLength } = parameters[$ref!.replace("#/components/parameters/", "")]!.schema;
    const { status } = await sender.send(example, { headers: { "If-None-Match": `"${"x".repeat(maxLength - 2)}"` } });
    expect(status).toBe(200);
  },
);

test("every operation responds 410 after the sunset of its version", async () => {
  const sunsetProxy = await startRestProxy(services.urls, {
    DEPRECATED_VERSIONS: "1=-2d,2=-2d",
    SUNSET_VERSIONS: "1=-1d,2=-1d",
  });
  await expectFromAll(410, (example) => sender.send(example, { at: sunsetProxy }));
  await sunsetProxy.close();
});

test("every operation responds 429 with Retry-After to a caller that exceeds its rate limit", async () => {
  const limits = { RATE_LIMIT_READS_PER_MINUTE: "1", RATE_LIMIT_WRITES_PER_MINUTE: "1", RATE_LIMIT_EXEMPT: "none" };
  const strict = await startRestProxy(services.urls, limits);
  for (const method of ["GET", "DELETE"]) await fetch(strict.url, { method });
  await expectFromAll(429, (example) => sender.send(example, { at: strict }));
  await strict.close();
});

test("every operation responds 502 while its service is down", async () => {
  const proxies: RunningRestProxy[] = [];
  await expectFromAll(502, async (example) => {
    // One for each request: after a second of failed requests it would respond 503 at once.
    const at = await startRestProxy(everyServiceAt("http://127.0.0.1:1"));
    proxies.push(at);
    return sender.send(example, { at });
  });
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

test("every operation responds 503 while its service has the maximum of requests in flight, and 504 after the timeout", async () => {
  const stubUrls = everyServiceAt(`http://127.0.0.1:${(stub.address() as AddressInfo).port}`);
  const full = await startRestProxy(stubUrls, { IN_FLIGHT_MAX: "1" });
  const abortion = new AbortController();
  const inFlight = pathOfEachService().map((path) => fetch(`${full.url}/v1${path}`, { signal: abortion.signal }));
  await expect.poll(() => stubRequests).toBe(serviceNames.length);
  await expectFromAll(503, (example) => sender.send(example, { at: full, path: example.path.replace("/1", "/2") }));
  abortion.abort();
  await Promise.allSettled(inFlight);
  await full.close();
  const shortTimeout = await startRestProxy(stubUrls, { UPSTREAM_TIMEOUT_MS: "20" });
  await expectFromAll(504, (example) => sender.send(example, { at: shortTimeout }));
  await shortTimeout.close();
});

test("a POST with a key that is repeated because its service is slow is successful, as one that is sent once", async () => {
  const keyed = [
    ...new Map(routes.filter(({ idempotencyKey }) => idempotencyKey).map(({ id, service }) => [id, service])),
  ];
  expect(new Set(keyed.map(([, service]) => service)).size).toBe(serviceNames.length);
  const outcomes = keyed.map(async ([id, service]) => {
    const example = firstExamples.find((one) => one.id === id)!;
    const path = await sender.pathOf(example);
    const urls = {
      ...services.urls,
      [service]: `${services.urls[service]},${await startForwarder(services.urls[service]!)}`,
    };
    let retries = 0;
    const at = await startRestProxy(urls, {}, ({ kind }) => void (kind === "retried" && retries++));
    const { sent } = await services.queryDuring(service, lockStoredResults, async () => {
      const response = sender.send(example, { at, path, headers: { "Idempotency-Key": randomUUID() } });
      await expect.poll(() => retries, { timeout: 10_000 }).toBeGreaterThan(0);
      return { sent: response };
    });
    const { ok } = await sent;
    await at.close();
    return [id, ok];
  });
  expect(await Promise.all(outcomes)).toEqual(keyed.map(([id]) => [id, true]));
});

/** Until the connection ends, no write with a key is completed. */
const lockStoredResults = `begin; do $$ begin
  execute (select format('lock table %I in exclusive mode', relname) from pg_class where relname ~ '^idempotency_[a-z]+$' and relkind = 'r');
end $$`;

/** A second address of a service. */
async function startForwarder(url: string): Promise<string> {
  const forwarder = createTcpServer((socket) => {
    const forwarded = connect(Number(new URL(url).port), "127.0.0.1");
    for (const one of [socket, forwarded])
      one.on("error", () => {}).on("close", () => [socket, forwarded].forEach((each) => each.destroy()));
    socket.pipe(forwarded).pipe(socket);
  });
  await once(forwarder.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void forwarder.close());
  return `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}`;
}

test("every operation responds with a documented 500 if its service has an internal error", async () => {
  const proxy = await startRestProxy(services.urls);
  for (const service of Object.keys(services.urls)) await services.query(service, "drop schema public cascade");
  await expectFromAll(500, (example) => sender.send(example, { at: proxy, path: example.path }));
  await proxy.close();
});

/** A read of each service, a public one if it has one. */
function pathOfEachService(): readonly string[] {
  const text = readFileSync(new URL("../../supergraph/routes.json", import.meta.url), "utf8");
  const { routes: all } = JSON.parse(text) as { readonly routes: readonly ServiceRoute[] };
  const reads = all.filter(({ method, path }) => method === "GET" && path.includes(":"));
  return serviceNames.map((name) => {
    const own = reads.filter(({ service }) => service === name);
    const { path } = (own.find(({ cache }) => cache === "public") ?? own[0])!;
    return path.replaceAll(/:\w+/g, "1");
  });
}

interface ServiceRoute {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly cache: string;
}

test("every documented status has a test", () => {
  expect(statuses.filter((status) => !(status in recipes))).toEqual([408, 410, 429, 500, 502, 503, 504]);
});

async function expectFromAll(status: number, recipe: Recipe): Promise<void> {
  const withStatus = firstExamples.filter((example) => documented.statusesOf(example).includes(status));
  expect(withStatus.length).toBeGreaterThan(0);
  const allFaults: string[] = [];
  for (const example of withStatus) {
    const faults = await documented.findFaults(await recipe(example), status, example);
    allFaults.push(...faults.map((fault) => `${example.id} v${example.version}: ${fault}`));
  }
  expect(allFaults).toEqual([]);
}

/** Returns the status and the parameter names in `errors`, sorted. */
async function readBadParameters(example: RunnableExample, query: string): Promise<readonly unknown[]> {
  const response = await sender.send(
    { ...example, path: example.path.split("?", 1)[0]! },
    { query, scopes: everyScope },
  );
  const problem = await response.json();
  expect(documented.findProblemViolations(problem, 400, example)).toEqual([]);
  return [response.status, ...parametersOf(problem)];
}

function parametersOf(problem: unknown): readonly string[] {
  const { errors = [] } = problem as { readonly errors?: readonly { readonly parameter: string }[] };
  return errors.map(({ parameter }) => parameter).toSorted();
}

function parameterNamesOf(example: RunnableExample): readonly string[] {
  const { parameters = [] } = documented.operationOf(example);
  return parameters.filter((one) => one.in === "query").map(({ name }) => name);
}

function withEmail(body: unknown, email: string, version?: number): object {
  const isNested = version === 2 || "private" in (body as object);
  return { ...(body as object), ...(isNested ? { private: { email } } : { email }) };
}

/** A path for which the operation responds 404: an unknown id, or for operations that accept those, a malformed one. */
function unknownPath({ path, document }: RunnableExample): string {
  const [, collection, , ...rest] = path.split("?", 1)[0]!.split("/");
  const checksExistence = document.problems?.includes("NOT_FOUND");
  return ["", collection, checksExistence ? "999999999" : "%00", ...rest].join("/");
}

/** Sends the example of Ada with an idempotency key while another request with the same key seems to be in flight. */
function sendWithKeyInFlight(example: RunnableExample): Promise<Response> {
  const key = randomUUID();
  const lock = `select pg_advisory_lock(${lockNumberOf({ callerId: "1", key })})`;
  return services.queryDuring(example.service, lock, () =>
    sender.send(example, { headers: { "Idempotency-Key": key } }),
  );
}

async function oldCommentOfAda(): Promise<string> {
  const response = await fetch(`${restProxy.url}/v1/comments?authorId=1&limit=100`);
  const comments = (await response.json()) as readonly { readonly id: string }[];
  return comments.at(-1)!.id;
}

function everyServiceAt(url: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(services.urls).map((name) => [name, url]));
}

/** Sends an incomplete request and returns the response. */
function sendIncompleteRequest(
  { url }: RunningRestProxy,
  { method, version, path }: RunnableExample,
): Promise<Response> {
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
