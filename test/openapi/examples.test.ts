import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type OpenApi, operationsOf, readExamples, readOpenApi, type RunnableExample } from "./documents.ts";
import { findSchemaViolations } from "./json-schema.ts";
import { type Services, startServices } from "./services.ts";

const examples = await readExamples();
const documents: Readonly<Record<number, OpenApi>> = { 1: await readOpenApi(1), 2: await readOpenApi(2) };
const titled = examples.map((example) => [`v${example.version} ${example.id}: ${example.summary}`, example] as const);

let services: Services;
beforeAll(async () => {
  services = await startServices(inject("postgresUrl"));
});
afterAll(() => services.stop());

test.each(titled)("%s: the response equals the documented one", async (_, example) => {
  const response = await send(example, await pathOf(example), example.headers);
  const text = await response.text();
  expect(response.status, text).toBe(example.status);
  const result: unknown = text === "" ? undefined : JSON.parse(text);
  const { responses } = operationsOf(documents[example.version]!).get(example.id)!;
  const documented = responses[example.status]!;
  const schema = documented.content?.["application/json"]?.schema;
  expect(result === undefined).toBe(schema === undefined);
  if (schema) expect(findSchemaViolations(result, schema, documents[example.version]!.components.schemas)).toEqual([]);
  expect(mask(result, example.varies)).toEqual(mask(example.response, example.varies));
  for (const name of headersOf(example)) expect(response.headers.has(name), name).toBe(true);
  if (example.status === 201) expect(await readAt(response.headers.get("location"), example)).toEqual(result);
});

function send({ service, method, as, scopes, body }: RunnableExample, path: string, headers?: Record<string, string>) {
  return services.send(service, method, path, { as, scopes, headers, body });
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

function headersOf({ document }: RunnableExample): readonly string[] {
  const optional = new Set(["Idempotency-Replayed", "Last-Modified"]);
  return ["Cache-Control", ...(document.response.headers ?? []).filter((name) => !optional.has(name))];
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
