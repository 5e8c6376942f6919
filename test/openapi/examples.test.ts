import { execFile, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { completeDocument } from "../../rest-proxy/src/documents/open-api/complete-document.ts";
import * as reference from "../../rest-proxy/src/documents/open-api/open-api.ts";
import { createSamples, exampleOrigin, type Sample } from "../../rest-proxy/src/documents/samples.ts";
import {
  createBody,
  type OpenApi,
  operationsOf,
  readExamples,
  mergeOpenApi,
  type RunnableExample,
} from "./documents.ts";
import { findSchemaViolations } from "./json-schema.ts";
import { type RunningRestProxy, startRestProxy } from "./rest-proxy.ts";
import { type Services, startServices } from "./services.ts";

const examples = await readExamples();
const documents: Readonly<Record<number, OpenApi>> = { 1: await mergeOpenApi(1), 2: await mergeOpenApi(2) };
const titled = examples.map((example) => [`v${example.version} ${example.id}: ${example.summary}`, example] as const);

let services: Services;
let proxy: RunningRestProxy;
beforeAll(async () => {
  services = await startServices(inject("postgresUrl"));
  proxy = await startRestProxy(services.urls);
});
afterAll(async () => {
  await proxy.close();
  await services.stop();
});

test.each(titled)("%s: the response equals the documented one", async (_, example) => {
  const response = await send(example, await pathOf(example), example.headers);
  const text = await response.text();
  const { status } = example.document.response;
  expect(response.status, text).toBe(status);
  const result: unknown = text === "" ? undefined : JSON.parse(text);
  const { responses } = operationsOf(documents[example.version]!).get(example.id)!;
  const documented = responses[status]!;
  const schema = documented.content?.["application/json"]?.schema;
  expect(result === undefined).toBe(schema === undefined);
  if (schema) expect(findSchemaViolations(result, schema, documents[example.version]!.components.schemas)).toEqual([]);
  expect(mask(result, example.varies)).toEqual(mask(example.response, example.varies));
  for (const name of headersOf(documented)) expect(response.headers.has(name), name).toBe(true);
  if (status === 201) expect(await readAt(response.headers.get("location"), example)).toEqual(result);
});

const interpreters: Readonly<Record<Sample["language"], string>> = {
  curl: "curl",
  JavaScript: process.execPath,
  Python: "python3",
};

for (const [language, program] of Object.entries(interpreters) as [Sample["language"], string][]) {
  const isRunnable = isInstalled(program);
  if (!isRunnable) process.stderr.write(`SKIPPED: the ${language} samples need ${program}, which is not installed.\n`);

  test.runIf(isRunnable)(`the ${language} samples of two reads and three writes run as shown`, async () => {
    expect(await runSample("getUser", language)).toMatch(/200[^]*Ada Lovelace/);
    expect(await runSample("listOrders", language)).toMatch(/200[^]*customerId/);
    expect(await runSample("placeOrder", language)).toMatch(/201[^]*PRINT-0001/);
    expect(await runSample("updateUser", language)).toMatch(/200/);
    expect(await runSample("addComment", language)).toMatch(/201[^]*Well said/);
  });
}

function send(example: RunnableExample, path: string, headers?: Record<string, string>) {
  const { service, method, as, scopes } = example;
  return services.send(service, method, path, { as, scopes, headers, body: createBody(example) });
}

/** The path of the example. If it follows another operation's example, that one is sent first and creates the resource. */
async function pathOf({ version, path, follows }: RunnableExample): Promise<string> {
  if (follows === undefined) return `/v${version}${path}`;
  const before = examples.find((one) => one.id === follows && one.version === version)!;
  const created = await send(before, `/v${version}${before.path}`, { ...before.headers, ...newIdempotencyKey(before) });
  expect(created.status).toBe(201);
  const [, , ...rest] = path.split("/").slice(1);
  return [created.headers.get("location"), ...rest].join("/");
}

/** A new key for each request, as the service repeats the first response for a repeated key. */
function newIdempotencyKey({ headers = {} }: RunnableExample): Record<string, string> {
  return "Idempotency-Key" in headers ? { "Idempotency-Key": randomUUID() } : {};
}

function headersOf({ headers = {} }: { readonly headers?: object }): readonly string[] {
  const always = new Set(["Cache-Control", "ETag", "Link", "Location"]);
  return Object.keys(headers).filter((name) => always.has(name));
}

/** Reads a `Location` with the credentials of the example. */
async function readAt(location: string | null, { service, as, scopes }: RunnableExample): Promise<unknown> {
  const response = await services.send(service, "GET", location ?? "", { as, scopes });
  expect(response.status).toBe(200);
  return response.json();
}

function mask(value: unknown, varies: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => mask(item, varies));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, varies.includes(name) ? "…" : mask(part, varies)]),
  );
}

function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

/** Runs the sample that the reference shows for an operation, with the address of this test's proxy, as Ada. */
async function runSample(operationId: string, language: Sample["language"]): Promise<string> {
  const document = completeDocument(documents[2], 2);
  const entry = reference.operationsOf(document).find(({ operation }) => operation.operationId === operationId)!;
  const sample = createSamples(document, entry).find((sample) => sample.language === language)!;
  const code = sample.code.replaceAll(exampleOrigin, proxy.url);
  const folder = mkdtempSync(join(tmpdir(), "tributary-samples-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, language === "JavaScript" ? "sample.mjs" : "sample");
  writeFileSync(file, code);
  const program = language === "curl" ? "sh" : interpreters[language];
  const env = { ...process.env, TOKEN: await services.tokenOf("ada"), NO_PROXY: "*" };
  const { stdout } = await promisify(execFile)(program, [file], { env, timeout: 20_000 });
  return stdout;
}
