import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type OpenApi, operationsOf, readExamples, readOpenApi, type RunnableExample } from "./documents.ts";
import { findMisfits } from "./json-schema.ts";
import { type Services, startServices } from "./services.ts";

const examples = await readExamples();
const documents: Readonly<Record<number, OpenApi>> = { 1: await readOpenApi(1), 2: await readOpenApi(2) };
const titled = examples.map((example) => [`v${example.version} ${example.id}: ${example.summary}`, example] as const);

let services: Services;
beforeAll(async () => {
  services = await startServices(inject("postgresUrl"));
});
afterAll(() => services.stop());

test.each(titled)("%s, as the document has it", async (_, example) => {
  const response = await send(example, await pathOf(example), example.headers);
  const text = await response.text();
  expect(response.status, text).toBe(example.status);
  const answer: unknown = text === "" ? undefined : JSON.parse(text);
  const { responses } = operationsOf(documents[example.version]!).get(example.id)!;
  const documented = responses[example.status]!;
  const schema = documented.content?.["application/json"]?.schema;
  expect(answer === undefined).toBe(schema === undefined);
  if (schema) expect(findMisfits(answer, schema, documents[example.version]!.components.schemas)).toEqual([]);
  expect(mask(answer, example.varies)).toEqual(mask(example.answer, example.varies));
  for (const name of headersOf(example)) expect(response.headers.has(name), name).toBe(true);
  if (example.status === 201) expect(await readAt(response.headers.get("location"), example)).toEqual(answer);
});

function send({ service, method, as, scopes, body }: RunnableExample, path: string, headers?: Record<string, string>) {
  return services.send(service, method, path, { as, scopes, headers, body });
}

/** Where the example goes: to what another operation's example has just made, if it follows one. */
async function pathOf({ version, path, follows }: RunnableExample): Promise<string> {
  if (follows === undefined) return `/v${version}${path}`;
  const before = examples.find((one) => one.id === follows && one.version === version)!;
  const made = await send(before, `/v${version}${before.path}`, { ...before.headers, ...freshKey(before) });
  expect(made.status).toBe(201);
  const [, , ...rest] = path.split("/").slice(1);
  return [made.headers.get("location"), ...rest].join("/");
}

/** Otherwise the answer would be the first one's. */
function freshKey({ headers = {} }: RunnableExample): Record<string, string> {
  return "Idempotency-Key" in headers ? { "Idempotency-Key": randomUUID() } : {};
}

/** The headers that belong to every answer of this kind; others come only in some cases. */
function headersOf({ document }: RunnableExample): readonly string[] {
  const sometimes = new Set(["Idempotency-Replayed", "Last-Modified"]);
  return ["Cache-Control", ...(document.answer.headers ?? []).filter((name) => !sometimes.has(name))];
}

/** What is where a `Location` leads, for whoever made it. */
async function readAt(location: string | null, { service, as, scopes }: RunnableExample): Promise<unknown> {
  const found = await services.send(service, "GET", location ?? "", { as, scopes });
  expect(found.status).toBe(200);
  return found.json();
}

/** A value without what is another each time. */
function mask(value: unknown, varies: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => mask(item, varies));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, varies.includes(name) ? "…" : mask(part, varies)]),
  );
}
