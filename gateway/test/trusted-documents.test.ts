import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { silentLog } from "@tributary/kit/process/log";
import { sampleSize } from "@tributary/kit/testing/sample-size";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../src/config.ts";
import { readBundle } from "../src/documents/document-bundle.ts";
import type { TrustedDocuments } from "../src/engine/parse/trusted-documents.ts";
import type { GatewayObservation } from "../src/observations.ts";
import { createSettingsStore } from "../src/settings-store.ts";
import { parseSettings } from "../src/settings/parse-settings.ts";
import { createGatewayRequestObserver } from "../src/telemetry/request-observer.ts";
import { createTestPlannerPool, readGraphqlResponse, startGateway } from "./helpers/gateway.ts";
import { type BundleEntry, startTrustedGateway, toBundle, type TrustedPlatform } from "./helpers/trusted-documents.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { sendRaw } from "./helpers/raw-http.ts";
import { respondJson } from "./helpers/subgraphs.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let library: Library;
beforeAll(async () => void (library = await startLibrary()));
afterAll(() => library.close());
beforeEach(() => {
  for (const subgraph of library.all) subgraph.fault = undefined;
});

const person: BundleEntry = { id: "person-1", text: `query Person { person(id: "1") { name } }` };
const rename: BundleEntry = { id: "rename-1", text: `mutation Rename { rename(id: "1", name: "Ada") { name } }` };
const byId: BundleEntry = { id: "by-id", text: "query ById($id: ID!) { person(id: $id) { name } }" };
const all = [person, rename, byId];
const ada = { data: { person: { name: "Ada" } } };
const other = `{ person(id: "2") { name } }`;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
const start = (mode: string, entries = all, environment: Record<string, string> = {}) =>
  startTrustedGateway(mode, entries, { supergraphSdl: library.supergraphSdl, environment });
const createSettingsStoreOf = (yaml: string) => {
  const environment = { SUPERGRAPH_FILE: "unused" };
  return createSettingsStore(parseSettings(yaml, "gateway.yaml", environment), readConfig(environment), environment);
};
interface GraphqlErrors {
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

const codeOf = ({ body }: { readonly body: unknown }) => (body as GraphqlErrors).errors?.[0]?.extensions.code;

test("the manifests that builds of clients write are bundles", () => {
  const text = "fragment F on Person { name } query Person { person(id: 1) { ...F } }";
  const operations = [{ id: "p1", name: "Person", type: "query", body: text }];
  const apollo = readBundle(JSON.stringify({ format: "apollo-persisted-query-manifest", version: 1, operations }));
  const relay = readBundle(JSON.stringify({ p1: text }));
  for (const documents of [apollo, relay]) {
    expect(documents.findById("p1")).toMatchObject({ text, operationNames: ["Person"] });
    expect(documents.findById(sha256(text))).toMatchObject({ text });
    expect(documents.findByText(text)).toBeDefined();
  }
  expect(() => readBundle('{"p1":{"body":"{ a }"}}')).toThrow("p1 has to be a document");
  expect(() => readBundle('["{ a }"]')).toThrow("the bundle is not valid");
  expect(() => readBundle('{"format":"apollo-persisted-query-manifest","version":2}')).toThrow("version has to be 1");
});

test.each(["off", "log", "enforce"])(
  "with mode %s a document is executed by each of its ids, on both paths",
  async (mode) => {
    const { gateway, post, get } = await start(mode);
    const forms = [
      { documentId: "person-1" },
      { doc_id: "person-1" },
      { id: "person-1" },
      { extensions: persisted("person-1") },
      { documentId: sha256(person.text) },
      { documentId: `sha256:${sha256(person.text)}` },
      { extensions: persisted(sha256(person.text)) },
      { query: person.text },
      { query: person.text, documentId: "person-1", id: "person-1" },
      { query: person.text, extensions: persisted(sha256(person.text)) },
      { query: person.text, extensions: persisted("person-1") },
    ];
    for (const form of forms) expect((await post(form)).body).toEqual(ada);
    for (const form of forms) {
      expect((await post(form)).body).toEqual(ada);
      expect(gateway.tookFastPath()).toBe(true);
    }
    expect((await get("/graphql/person-1")).body).toEqual(ada);
    expect((await get("/graphql?documentId=person-1")).body).toEqual(ada);
    const variables = encodeURIComponent(JSON.stringify({ id: "1" }));
    expect((await get(`/graphql/by-id?variables=${variables}&operationName=ById`)).body).toEqual(ada);
    expect((await post({ documentId: "by-id", variables: { id: "1" } })).body).toEqual(ada);
  },
);

test("an id beside another query, and different ids, are rejected", async () => {
  const { post, get } = await start("log");
  const wrong = [
    { documentId: "person-1", query: other },
    { id: "person-1", query: other },
    { query: other, extensions: persisted("person-1") },
    { query: person.text, extensions: persisted(sha256(other)) },
    { documentId: "person-1", doc_id: "by-id" },
    { documentId: "person-1", extensions: persisted(sha256(person.text)) },
    { id: "other", documentId: "person-1" },
  ];
  for (const body of wrong) {
    const response = await post(body);
    expect([response.status, codeOf(response)]).toEqual([400, "MALFORMED_REQUEST"]);
  }
  expect((await get("/graphql/person-1?documentId=by-id")).status).toBe(400);
  expect((await get("/graphql/%zz")).status).toBe(400);
});

test("a member `id` that names no document does not matter beside a query", async () => {
  const { post } = await start("log");
  for (const id of ["1", 7, null, { a: 1 }]) expect((await post({ id, query: person.text })).body).toEqual(ada);
  expect((await post({ id: "1", query: other })).body).toEqual({ data: { person: { name: "Grace" } } });
  expect(codeOf(await post({ id: 7 }))).toBe("MALFORMED_REQUEST");
});

test("without registered documents, ids are members without a meaning", async () => {
  const gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
  const send = async (path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const post = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${gateway.url}${path}`, { headers, ...post });
    return [response.status, codeOf({ body: await response.json() })];
  };
  expect(await send("/graphql", { documentId: "person-1" })).toEqual([400, "MALFORMED_REQUEST"]);
  expect(await send("/graphql", { documentId: "person-1", doc_id: "1", query: other })).toEqual([200, undefined]);
  expect(await send("/graphql/person-1")).toEqual([404, "NOT_FOUND"]);
  await gateway.drain();
});

test.each(["off", "log"])("with mode %s, an id is 503 until a bundle is loaded", async (mode) => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-unloaded-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [bundle, settings] = [join(folder, "documents.json"), join(folder, "gateway.yaml")];
  writeFileSync(settings, `documents: { mode: ${mode}, file: ${bundle} }`);
  const environment = { SETTINGS_FILE: settings };
  const gateway = await startGateway({ supergraphSdl: library.supergraphSdl, environment });
  onTestFinished(() => gateway.drain());
  const send = async (body: object) => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await readGraphqlResponse(await fetch(`${gateway.url}/graphql`, init));
    return [response.status, response.headers.get("retry-after"), codeOf(response)];
  };
  const unloaded = [503, "1", "SERVICE_UNAVAILABLE"];
  for (const documentId of ["person-1", "unknown"]) expect(await send({ documentId })).toEqual(unloaded);
  expect((await fetch(`${gateway.url}/graphql/person-1`)).status).toBe(503);
  expect(await send({ query: person.text })).toEqual([200, null, undefined]);
  writeFileSync(bundle, toBundle([person]));
  await gateway.seen("documents-loaded");
  expect(await send({ documentId: "person-1" })).toEqual([200, null, undefined]);
  expect(await send({ documentId: "unknown" })).toEqual([200, null, "PERSISTED_QUERY_NOT_FOUND"]);
});

describe("mode enforce", () => {
  test("rejects what is not registered, and stores no text", async () => {
    const { gateway, post, get } = await start("enforce");
    const unknown = [
      { query: other },
      { query: `${person.text} ` },
      { query: "{ __schema { queryType { name } } }" },
      { query: "{ syntax" },
      { documentId: "unknown" },
      { id: "unknown" },
      { extensions: persisted("unknown") },
      { extensions: persisted(sha256(other)) },
      { query: other, extensions: persisted(sha256(other)) },
      { query: other, documentId: "unknown" },
    ];
    for (const body of unknown) {
      const response = await post(body);
      expect([response.status, codeOf(response)]).toEqual([200, "DOCUMENT_NOT_TRUSTED"]);
      const modern = await post(body, { accept: "application/graphql-response+json" });
      expect([modern.status, codeOf(modern)]).toEqual([403, "DOCUMENT_NOT_TRUSTED"]);
    }
    expect(codeOf(await get("/graphql/unknown"))).toBe("DOCUMENT_NOT_TRUSTED");
    expect((await post({ query: person.text, extensions: persisted(sha256(person.text)) })).body).toEqual(ada);
    expect(gateway.cacheSizes()["persisted-queries"].entries).toBe(0);
  });

  test("rejects the text of a persisted query that was registered before", async () => {
    const { gateway, post, writeMode } = await start("log");
    const register = { query: other, extensions: persisted(sha256(other)) };
    expect((await post(register)).status).toBe(200);
    expect((await post({ extensions: persisted(sha256(other)) })).body).toEqual({
      data: { person: { name: "Grace" } },
    });
    writeMode("enforce");
    await gateway.seen("settings-loaded");
    expect(codeOf(await post({ extensions: persisted(sha256(other)) }))).toBe("DOCUMENT_NOT_TRUSTED");
    expect(codeOf(await post({ query: other }))).toBe("DOCUMENT_NOT_TRUSTED");
    writeMode("log");
    await gateway.seen("settings-loaded", 2);
    expect((await post({ query: other })).status).toBe(200);
  });

  test("begins and ends under load without a failure of a registered document", async () => {
    const { gateway, post, writeMode } = await start("off");
    const stopped = new AbortController();
    const failures: unknown[] = [];
    const load = async (body: object) => {
      while (!stopped.signal.aborted) {
        const response = await post(body);
        if (response.body.errors) failures.push(response.body);
      }
    };
    const loads = [
      { documentId: "person-1" },
      { query: person.text },
      { documentId: "by-id", variables: { id: 1 } },
    ].map(load);
    for (const [i, mode] of ["log", "enforce", "log", "enforce", "off"].entries()) {
      writeMode(mode);
      await gateway.seen("settings-loaded", i + 1);
      expect(codeOf(await post({ query: other }))).toBe(mode === "enforce" ? "DOCUMENT_NOT_TRUSTED" : undefined);
    }
    stopped.abort();
    await Promise.all(loads);
    expect(failures).toEqual([]);
  });

  test("needs a source, and a gateway without documents is not ready", async () => {
    expect(() => createSettingsStoreOf("documents: { mode: enforce }")).toThrow(
      /gateway.yaml:1: documents.mode: needs/,
    );
    const folder = mkdtempSync(join(tmpdir(), "gateway-enforce-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [bundle, lastGood, settings] = ["documents.json", "last-good.json", "gateway.yaml"].map((name) =>
      join(folder, name),
    );
    writeFileSync(settings ?? "", `documents: { mode: enforce, file: ${bundle}, last_good: ${lastGood} }`);
    const startOne = () =>
      startGateway({ supergraphSdl: library.supergraphSdl, environment: { SETTINGS_FILE: settings ?? "" } });
    const first = await startOne();
    expect(first.isReady()).toBe(false);
    expect((await first.send(person.text)).status).toBe(503);
    writeFileSync(bundle ?? "", toBundle([person]));
    await first.seen("documents-loaded");
    expect(first.isReady()).toBe(true);
    expect((await first.send(person.text)).body).toEqual(ada);
    await first.drain();
    await expect.poll(() => existsSync(lastGood ?? "")).toBe(true);
    rmSync(bundle ?? "");
    const second = await startOne();
    await second.seen("documents-restored");
    expect((await second.send(person.text)).body).toEqual(ada);
    await second.drain();
  });

  test("an unknown id is neither parsed nor planned, only a debug line reports it, and nothing of it is retained", async () => {
    let jobs = 0;
    const plannerPool = createTestPlannerPool({ observe: ({ kind }) => void (kind === "plan-started" && jobs++) });
    onTestFinished(plannerPool.close);
    const { gateway, post, get } = await startTrustedGateway("enforce", all, {
      supergraphSdl: library.supergraphSdl,
      plannerPool,
    });
    const kinds = new Map<GatewayObservation["kind"], number>();
    const sendUnknown = async (from: number, count: number) => {
      const batch = Array.from({ length: count }, (_, i) => [
        post({ documentId: `unknown-${from + i}` }),
        post({ extensions: persisted(sha256(`unknown-${from + i}`)) }),
        get(`/graphql/unknown-${from + i}`),
      ]);
      const codes = (await Promise.all(batch.flat())).map(codeOf);
      expect(new Set(codes)).toEqual(new Set(["DOCUMENT_NOT_TRUSTED"]));
      for (const { kind } of gateway.observations.splice(0)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    };
    const measure = async () => {
      for (let times = 0; times < 3; times++) {
        collectGarbage();
        await sleep(20);
      }
      return { jobs, heapBytes: process.memoryUsage().heapUsed, caches: gateway.cacheSizes() };
    };
    const warmUpCount = 500;
    /** Each by three names. */
    const count = sampleSize(1_000, 35_000);
    for (let sent = 0; sent < warmUpCount; sent += 50) await sendUnknown(sent, 50);
    kinds.clear();
    const before = await measure();
    for (let sent = 0; sent < count; sent += 50) await sendUnknown(warmUpCount + sent, 50);
    const after = await measure();
    expect([...kinds]).toEqual([["request-rejected", 3 * count]]);
    expect([after.jobs, after.caches]).toEqual([before.jobs, before.caches]);
    expect((after.heapBytes - before.heapBytes) / (3 * count)).toBeLessThan(200);
  });
});

describe("own_only", () => {
  const [webKey, appKey] = ["key-of-web", "key-of-app"];
  const environment = { CLIENT_KEYS: `web=${sha256(webKey)},app=${sha256(appKey)}` };
  const entries = [
    person,
    { ...byId, client: "app" },
    { id: "of-both", text: `query Both { person(id: "1") { name } }` },
    { id: "of-app", text: `query Both { person(id: "1") { name } }`, client: "app", until: "2099-12-31" },
  ];
  const outcomes = async ({ post, get }: TrustedPlatform, key: Record<string, string>) => {
    const variables = { id: "1" };
    return [
      await post({ documentId: "person-1" }, key),
      await post({ query: person.text }, key),
      await get("/graphql/person-1", key),
      await post({ documentId: "by-id", variables }, key),
      await post({ query: byId.text, variables }, key),
      await get(`/graphql/by-id?variables=${encodeURIComponent(JSON.stringify(variables))}`, key),
      await post({ documentId: "of-both" }, key),
      await post({ documentId: "of-app" }, key),
    ].map((response) => codeOf(response) ?? response.body);
  };

  test("rejects the document of another client, from a client with a key", async () => {
    const platform = await start("enforce", entries, environment);
    platform.writeMode("enforce", ", own_only: true");
    await platform.gateway.seen("settings-loaded");
    const [own, other] = [[ada, ada, ada], Array(3).fill("DOCUMENT_NOT_TRUSTED")];
    const both = [ada, ada];
    for (let i = 0; i < 2; i++) {
      expect(await outcomes(platform, { "x-client-key": webKey })).toEqual([...own, ...other, ...both]);
      expect(await outcomes(platform, { "x-client-key": appKey })).toEqual([...other, ...own, ...both]);
    }
    // A name without a proof restricts nothing: the client could leave it out.
    for (const claimed of [{}, { "x-client-name": "web" }, { "x-client-key": "guessed" }])
      expect(await outcomes(platform, claimed)).toEqual([...own, ...own, ...both]);
    platform.writeMode("log", ", own_only: true");
    await platform.gateway.seen("settings-loaded", 2);
    expect(await outcomes(platform, { "x-client-key": webKey })).toEqual([...own, ...own, ...both]);
  });

  test("ends a client's own document with its own registration", () => {
    const today = new Date().toISOString().slice(0, 10);
    const list = [
      { ...person, until: today },
      { ...person, id: "of-app", client: "app" },
    ];
    const document = readBundle(toBundle(list)).findByText(person.text);
    const web = document?.untilMsByClient.get("web") ?? 0;
    expect([...(document?.untilMsByClient ?? [])]).toEqual([
      ["web", web],
      ["app", Infinity],
    ]);
    expect(web).toBeLessThan(Date.now() + 24 * 60 * 60_000);
  });
});

test("mode log counts each request by client, exactly, and rejects none", async () => {
  const metrics = await createPrometheus(metricsOf.gateway);
  const names = { knownClients: ["web", "app"], knownOperations: [] };
  const about = { log: silentLog, metrics, trace: noTrace, accessLog: "off", ...names } as const;
  const observers = { requestObserver: createGatewayRequestObserver(about), fetchObserver: undefined };
  const { gateway, post, get, writeMode } = await startTrustedGateway("log", all, {
    supergraphSdl: library.supergraphSdl,
    observers,
  });
  const forms = [
    ["known", () => ({ documentId: "person-1" })],
    ["known", () => ({ query: byId.text, variables: { id: "1" } })],
    ["unknown", (i: number) => ({ query: `{ person(id: "${i % 7}") { name } }` })],
    ["unknown", (i: number) => ({ documentId: `u${i}` })],
    ["unknown", () => ({ extensions: persisted(sha256("x")) })],
    [undefined, () => ({ variables: {} })],
  ] as const;
  const sent = new Map<string, number>();
  const count = (client: string, document: string | undefined) => {
    const key = `{client="${client}",document="${document}"}`;
    if (document !== undefined) sent.set(key, (sent.get(key) ?? 0) + 1);
  };
  const clients = ["web", "app", "stranger"] as const;
  let seed = 7;
  const draw = <T>(list: readonly T[]): T => list[(seed = (seed * 48_271) % 2_147_483_647) % list.length] as T;
  for (let batch = 0; batch < 30; batch++) {
    const requests = Array.from({ length: 100 }, (_, i) => {
      const client = draw(clients);
      const [document, bodyOf] = draw(forms);
      count(client === "stranger" ? "other" : client, document);
      return post(bodyOf(i), { "x-client-name": client });
    });
    await Promise.all(requests);
  }
  await get("/graphql/person-1", { "x-client-name": "web" });
  count("web", "known");
  writeMode("off");
  await gateway.seen("settings-loaded");
  await post({ documentId: "person-1" }, { "x-client-name": "web" });
  const text = await metrics.write();
  for (const [key, number] of sent) expect(text).toContain(`tributary_gateway_documents_total${key} ${number}\n`);
  expect([...sent.values()].reduce((sum, number) => sum + number)).toBeGreaterThan(2_000);
});

describe("by GET", () => {
  test("a document is cacheable without a CSRF header, with its ETag, and HEAD has the same headers", async () => {
    for (const subgraph of library.all)
      subgraph.fault = async (response, _body, _request, resolve) => {
        const extensions = { cache: { seconds: 10, groups: ["people:1"] } };
        respondJson(response, 200, JSON.stringify({ ...(await resolve()), extensions }));
      };
    const { get } = await start("enforce");
    const response = await get("/graphql/person-1");
    expect([response.status, response.body]).toEqual([200, ada]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=0, s-maxage=10");
    const etag = response.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const again = await get("/graphql/person-1", { "if-none-match": etag });
    expect([again.status, again.text]).toEqual([304, ""]);
    const head = await get("/graphql/person-1", {}, "HEAD");
    expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", etag]);
    expect(head.headers.get("content-length")).toBe(String(response.text.length));
    for (const path of ["/graphql/person-1?x=1", "/graphql/person-1?variables={}&variables={}"])
      expect(codeOf(await get(path))).toBe("CSRF_PREVENTED");
  });

  test("a document is found by its id in a target in absolute form", async () => {
    const { gateway } = await start("enforce");
    const head = ["GET http://a.example/graphql/person-1 HTTP/1.1", "Host: a.example", "Connection: close"];
    const response = await sendRaw(gateway.url, `${head.join("\r\n")}\r\n\r\n`);
    expect(JSON.parse(response.split("\r\n\r\n")[1] ?? "")).toEqual(ada);
  });

  test("a mutation is refused, and so is a POST to the URL of a document", async () => {
    const { post, get } = await start("enforce");
    for (let i = 0; i < 2; i++) {
      const mutation = await get("/graphql/rename-1");
      expect([mutation.status, mutation.headers.get("allow")]).toEqual([405, "POST"]);
      expect((await post({ documentId: "rename-1" })).body).toEqual({ data: { rename: { name: "Ada" } } });
    }
    const posted = await get("/graphql/person-1", { "content-type": "application/json" }, "POST");
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });
});

describe("the bundle", () => {
  test("with one id for two documents is refused with client, file and owner, and the one before stays", async () => {
    const { gateway, post, writeBundle } = await start("enforce");
    const copy = { ...byId, id: "person-1", client: "app", file: "clients/app/2.json" };
    writeBundle([...all, copy]);
    await gateway.seen("documents-rejected");
    const rejected = gateway.observations.find(({ kind }) => kind === "documents-rejected");
    expect(String(rejected && "cause" in rejected && rejected.cause)).toContain(
      "the id person-1 of app (clients/app/2.json, @acme/web-team) is that of another document of web (clients/web/1.json, @acme/web-team)",
    );
    expect((await post({ documentId: "person-1" })).body).toEqual(ada);
    writeBundle([{ ...person, id: "person-2" }]);
    await gateway.seen("documents-loaded", 2);
    expect((await post({ documentId: "person-2" })).body).toEqual(ada);
    expect(codeOf(await post({ documentId: "person-1" }))).toBe("DOCUMENT_NOT_TRUSTED");
  });

  test("of a new build has the documents of the old one until they expire", async () => {
    const { gateway, post, writeBundle } = await start("enforce", [person]);
    const changed = {
      id: "person-2",
      text: `query Person { person(id: "1") { name email } }`,
      file: "clients/web/2.json",
    };
    const tomorrow = new Date(Date.now() + 24 * 60 * 60_000).toISOString().slice(0, 10);
    writeBundle([{ ...person, until: tomorrow }, changed]);
    await gateway.seen("documents-loaded", 2);
    expect((await post({ documentId: "person-1" })).body).toEqual(ada);
    expect((await post({ documentId: "person-2" })).status).toBe(200);
    writeBundle([{ ...person, until: "2026-01-01" }, changed]);
    await gateway.seen("documents-loaded", 3);
    expect(codeOf(await post({ documentId: "person-1" }))).toBe("DOCUMENT_NOT_TRUSTED");
    expect(codeOf(await post({ query: person.text }))).toBe("DOCUMENT_NOT_TRUSTED");
  });

  test("that expires in a running gateway loses the ids that a gateway which starts then would not have", () => {
    const today = new Date().toISOString().slice(0, 10);
    const text = person.text;
    const bundle = toBundle([
      { id: "old", text, until: today },
      { id: sha256(text), text, until: today },
      { id: "both", text, until: today },
      { id: "both", text, file: "clients/web/2.json" },
      { id: "gone", text: other, until: today },
    ]);
    const ids = ["old", "both", "gone", sha256(text), `sha256:${sha256(text)}`, sha256(other)];
    const list = ({ findById }: TrustedDocuments) => ids.filter((id) => findById(id) !== undefined);
    const running = readBundle(bundle);
    expect(list(running)).toEqual(ids);
    const tomorrow = Date.now() + 24 * 60 * 60_000;
    onTestFinished(() => void vi.restoreAllMocks());
    vi.spyOn(Date, "now").mockReturnValue(tomorrow);
    expect(list(running)).toEqual(list(readBundle(bundle)));
    expect(list(running)).toEqual(["both", sha256(text), `sha256:${sha256(text)}`]);
  });

  test.each([
    ["{", "is not valid JSON"],
    ["{}", "has no document"],
    [JSON.stringify({ format: "documents" }), "npm run clients -- bundle"],
    [toBundle([{ ...person, text: "" }]), "documents.0.text"],
    [toBundle(Array.from({ length: 5_001 }, (_, i) => ({ text: `{ a${i} }` }))), "5000 at most"],
  ])("that cannot be used is refused: %#", (text, reason) => {
    expect(() => readBundle(text)).toThrow(reason);
  });
});
