import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@tributary/kit/process/log";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { buildSchema } from "graphql";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readBundle } from "../src/documents/document-bundle.ts";
import { openDocumentStore } from "../src/documents/document-store.ts";
import { createDocumentPreparation } from "../src/engine/generation/document-preparation.ts";
import type { Generation } from "../src/engine/generation/generations.ts";
import { createOperationStore } from "../src/engine/parse/operation-store.ts";
import type { ValidatedOperation } from "../src/engine/parse/validated-operation.ts";
import type { GatewayObservation } from "../src/observations.ts";
import { createGatewayRequestObserver } from "../src/telemetry/request-observer.ts";
import { createTestPlannerPool, type RunningGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { composeSupergraph } from "./helpers/subgraphs.ts";
import { type BundleEntry, startTrustedGateway, toBundle } from "./helpers/trusted-documents.ts";

// Registered documents are validated and planned before clients send them.

let library: Library;
let jobs = 0;
const plannerPool = createTestPlannerPool({ observe: ({ kind }) => void (kind === "plan-started" && jobs++) });
beforeAll(async () => void (library = await startLibrary()));
afterAll(() => Promise.all([library.close(), plannerPool.close()]));

const entries: readonly BundleEntry[] = [
  { id: "1", text: `query Person { person(id: "1") { name books { title } } }` },
  {
    id: "2",
    text: "query Books($stars: Boolean!, $titles: Boolean = true) { books { isbn stars @include(if: $stars) title @include(if: $titles) } }",
  },
  { id: "3", text: "query Two { whoAmI } query Three { people { id } }" },
  { id: "4", text: "{ bestBook { title stars } }" },
];
const requests = [
  { documentId: "1" },
  ...[true, false].flatMap((stars) =>
    [true, false].map((titles) => ({ documentId: "2", variables: { stars, titles }, operationName: "Books" })),
  ),
  { documentId: "2", variables: { stars: true } },
  { documentId: "3", operationName: "Two" },
  { documentId: "3", operationName: "Three" },
  { documentId: "4" },
  { query: entries[0]?.text },
];
const start = () => startTrustedGateway("enforce", entries, { supergraphSdl: library.supergraphSdl, plannerPool });
const listKinds = ({ observations }: RunningGateway) => observations.map(({ kind }) => kind);

test("the first requests after a start, and after a swap of the supergraph, find all plans, on the fast path", async () => {
  const { gateway, post } = await start();
  expect(jobs).toBeGreaterThan(0);
  // Their plans alone are in memory.
  expect(gateway.cacheSizes().documents.entries).toBe(0);
  const sendAll = async () => {
    const before = jobs;
    for (const request of requests) {
      expect((await post(request)).body.errors).toBeUndefined();
      expect(gateway.tookFastPath()).toBe(true);
    }
    expect(jobs).toBe(before);
  };
  await sendAll();
  writeFileSync(gateway.file, `${library.supergraphSdl}\n`);
  await gateway.seen("supergraph-loaded", 2);
  // Those in use are compiled for the new supergraph, also if they are prepared at the same time.
  expect(gateway.cacheSizes().documents.entries).toBe(entries.length);
  await sendAll();
});

test("those of a new bundle are planned before it is in use", async () => {
  const { gateway, post, writeBundle } = await start();
  const added = { id: "5", text: "query New { books { title author { name email } } }" };
  writeBundle([...entries, added]);
  await gateway.seen("documents-loaded", 2);
  const before = jobs;
  expect((await post({ documentId: "5" })).body.errors).toBeUndefined();
  expect([gateway.tookFastPath(), jobs]).toEqual([true, before]);
});

test("a new bundle ends the planning of the one before, and a text that is prepared is not prepared again", async () => {
  const listOf = (...texts: string[]) => readBundle(toBundle(texts.map((text) => ({ text })))).list();
  const documents = listOf("{ d }", "{ a }");
  const validated: (string | undefined)[] = [];
  let ofNewBundle: Promise<void> | undefined;
  const preparation = createDocumentPreparation({
    validation: {
      close: () => Promise.resolve(),
      validate({ graphql: { query } }) {
        validated.push(query);
        if (query === "{ b }") ofNewBundle = preparation.prepare(documents);
        return Promise.resolve({ operation: {} } as unknown as ValidatedOperation);
      },
    },
    stages: { planAhead: () => Promise.resolve(new Map()), addPlans: () => {} },
    operations: createOperationStore({ apiSchema: buildSchema("type Query { a: Int }"), bytesMax: 100_000 }),
    observe: () => {},
  });
  await preparation.prepare(listOf("{ a }", "{ b }", "{ c }"));
  await ofNewBundle;
  expect(validated).toEqual(["{ a }", "{ b }", "{ d }"]);
  for (const document of documents) expect(preparation.find(document, undefined)).toBeDefined();
});

test("one that a new supergraph makes invalid is reported before the swap, which it does not stop", async () => {
  const { gateway, post } = await start();
  writeFileSync(gateway.file, composeSupergraph([library.people, library.books]));
  await gateway.seen("supergraph-loaded", 2);
  const kinds = listKinds(gateway);
  expect(kinds.indexOf("documents-invalid")).toBeLessThan(kinds.lastIndexOf("supergraph-loaded"));
  const invalid = gateway.observations.filter(({ kind }) => kind === "documents-invalid");
  const about = { client: "web", owner: "@acme/web-team", file: "clients/web/1.json" };
  expect(invalid).toEqual([
    {
      kind: "documents-invalid",
      count: 2,
      documents: [
        { ...about, operations: ["Books"], problem: expect.stringContaining("stars") as unknown },
        { ...about, operations: [], problem: expect.stringContaining("bestBook") as unknown },
      ],
    },
  ]);
  expect((await post({ documentId: "4" })).body.errors[0].extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
  expect((await post({ documentId: "1" })).body.errors).toBeUndefined();
});

test("other documents evict none of them, and never take the label of their operations", async () => {
  const metrics = await createPrometheus(metricsOf.gateway);
  const names = { knownClients: [], knownOperations: [] };
  const about = { log: silentLog, metrics, trace: noTrace, accessLog: "off", ...names } as const;
  const { gateway, post } = await startTrustedGateway("log", entries, {
    supergraphSdl: library.supergraphSdl,
    environment: { OPERATIONS_BYTES_MAX: "1000000", RATE_LIMIT: "0" },
    plannerPool,
    observers: { requestObserver: createGatewayRequestObserver(about), fetchObserver: undefined },
  });
  for (let i = 0; i < 600; i += 50) {
    const strangers = Array.from({ length: 50 }, (_, j) =>
      post({ query: `query N${i + j} { whoAmI n${i + j}: whoAmI }` }),
    );
    await Promise.all(strangers);
  }
  expect(listKinds(gateway)).toContain("cache-evicted");
  const before = jobs;
  for (const request of requests) {
    expect((await post(request)).body.errors).toBeUndefined();
    expect(gateway.tookFastPath()).toBe(true);
  }
  expect(jobs).toBe(before);
  const text = await metrics.write();
  for (const [name, count] of [
    ["Person", 2],
    ["Books", 5],
    ["Two", 1],
    ["Three", 1],
    ["unnamed", 1],
  ] as const)
    expect(text).toContain(`tributary_gateway_operations_total{operation="web/${name}",outcome="ok"} ${count}\n`);
});

test("a start waits for them only for a time, and plans the rest afterwards", async () => {
  const planned = Promise.withResolvers<void>();
  const { store, generation, inUse, problems, observations } = openStore(entries, () => planned.promise);
  await store.prepare(generation);
  inUse.push(generation);
  expect(store.status().counts).toEqual({ planned: 0, invalid: 0, pending: entries.length });
  problems.set(store.current.findById("1"), "it is not valid");
  planned.resolve();
  await expect.poll(() => observations.at(-1)).toMatchObject({ kind: "documents-invalid", count: 1 });
});

test("a start waits for the first 500 of a large bundle, and a new supergraph for all", async () => {
  const large = Array.from({ length: 501 }, (_, i) => ({ text: `{ name${i}: whoAmI }` }));
  const planned = Promise.withResolvers<void>();
  let calls = 0;
  const prepare: Generation["documents"]["prepare"] = (_documents, onPrepared) => {
    calls++;
    onPrepared?.(500);
    return planned.promise;
  };
  const { store, generation, inUse } = openStore(large, prepare, { prepareMsMax: 60_000 });
  await store.prepare(generation);
  expect(calls).toBe(1);
  inUse.push(generation);
  let isSwapped = false;
  const swap = store.prepare(generation).then(() => (isSwapped = true));
  await expect.poll(() => calls).toBe(2);
  expect(isSwapped).toBe(false);
  planned.resolve();
  await swap;
});

function openStore(
  bundle: readonly BundleEntry[],
  prepare: Generation["documents"]["prepare"],
  { prepareMsMax = 1 } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-documents-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "documents.json");
  writeFileSync(file, toBundle(bundle));
  const observations: GatewayObservation[] = [];
  const problems = new Map<unknown, string>();
  const documents: Generation["documents"] = {
    prepare,
    find: () => undefined,
    problemOf: (document) => problems.get(document),
    isPrepared: () => false,
    stop: () => {},
  };
  const generation = { documents } as unknown as Generation;
  const inUse: Generation[] = [];
  const store = openDocumentStore({
    source: { file, urls: undefined, headers: undefined, lastGood: undefined },
    pollMs: 20,
    generationInUse: () => inUse.at(-1),
    prepareMsMax,
    observe: (observation) => void observations.push(observation),
  });
  onTestFinished(store.stop);
  return { store, generation, inUse, problems, observations };
}
