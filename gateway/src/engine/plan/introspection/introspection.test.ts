import { setTimeout as sleep } from "node:timers/promises";
import { buildSchema, execute, type ExecutionResult, getIntrospectionQuery, getOperationAST, parse } from "graphql";
import { expect, test } from "vitest";
import { Rejection } from "../../../errors/rejections.ts";
import { type ValidatedOperation, identifyOperation } from "../../parse/validated-operation.ts";
import type { CompiledPlan } from "../compile/compiled-plan.ts";
import { responseNameOf } from "../normalize/collect-fields.ts";
import { findIntrospectionFields } from "./introspection-fields.ts";
import { readIntrospectionKey, writeIntrospection, writeStandardIntrospection } from "./introspection-writer.ts";
import { resolveConditionsAndFragments } from "../normalize/resolve-conditions.ts";
import { createIntrospection } from "./introspection.ts";

const types = Array.from(
  { length: 800 },
  (_, i) => `type T${i} { a(first: Int = ${i}): T${(i + 1) % 800} old: ID @deprecated }`,
);
const schema = buildSchema(`
  "Everything" type Query { t: T0 byMeta(meta: Meta = "all"): [Kind!]! any: Any named: Named }
  union Any = T0 | T1
  interface Named { name: String }
  type Person implements Named { name: String }
  enum Kind { PAPER SCREEN @deprecated(reason: "no \\"ink\\"") }
  input Filter { kind: Kind = PAPER size: [Int!] = [1, 2] }
  input Choice @oneOf { kind: Kind size: Int }
  scalar Meta @specifiedBy(url: "https://example.org/meta")
  directive @cached(seconds: Int = 5) repeatable on FIELD | QUERY
  ${types.join("\n")}
`);
const large = "__schema { types { name fields { name args { name defaultValue } type { name kind } } } }";

test.each([
  ["the query of tools", getIntrospectionQuery()],
  [
    "the query of tools with every detail",
    getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true, specifiedByUrl: true }),
  ],
  [
    "several fields, aliases and __typename",
    '{ a: __schema { __typename t: types { k: kind } } b: __type(name: "Any") { possibleTypes { name __typename } } }',
  ],
  [
    "fragments and merged selections",
    "{ __schema { ...S directives { name } } __schema { directives { isRepeatable } } } fragment S on __Schema { ... on __Schema { queryType { description } } }",
  ],
  [
    "deprecated members",
    '{ __type(name: "T1") { fields(includeDeprecated: true) { name deprecationReason } } e: __type(name: "Kind") { enumValues { name } } }',
  ],
  ["a type that does not exist", '{ __type(name: "Nothing") { name } }'],
])("%s: the response is the one of graphql-js", async (_, source) => {
  const { readLater } = setUp();
  expect(JSON.parse(await readLater(source))).toEqual(JSON.parse(expected(source)));
});

test("variables are coerced, and documents with equal selections share a cached response", () => {
  const { read, introspection } = setUp();
  const text = read(
    "query ($n: String!, $d: Boolean = true) { __type(name: $n) { fields(includeDeprecated: $d) { name } } }",
    { n: "T1" },
  );
  expect(text).toContain('"old"');
  read(
    "query Other($type: String!) { __type(name: $type) { ... { fields(includeDeprecated: true) { name name } } } }",
    { type: "T1" },
  );
  expect(introspection.size().entries).toBe(1);
});

test("an unpaired surrogate in a name matches no type, also in a response that is written by a worker", async () => {
  const { readLater, threadKeys } = setUp();
  const text = await readLater(`query ($n: String!) { __type(name: $n) { name } ${large} }`, { n: "T1\ud800" });
  expect(JSON.parse(text)).toEqual({ __type: null, ...JSON.parse(expected(`{ ${large} }`)) });
  expect(threadKeys).toHaveLength(1);
});

test("the responses to the query of tools are written once per supergraph, and never evicted", () => {
  const { read, introspection, standard } = setUp();
  for (let i = 0; i < 100; i++) read(`{ a${i}: __type(name: "T${i}") { name a${i}: kind } }`);
  expect(introspection.size().entries).toBeGreaterThan(10);
  const entries = introspection.size().entries;
  expect(read(getIntrospectionQuery())).toBe(`{"__schema":${toText(standard[0]?.values["introspection0"])}}`);
  expect(introspection.size().entries).toBe(entries);
});

test("a large response is written by a worker, once for concurrent requests", async () => {
  const { readLater, threadKeys, introspection } = setUp();
  const texts = await Promise.all([readLater(`{ ${large} }`), readLater(`query Again { ${large} }`)]);
  expect(threadKeys).toHaveLength(1);
  expect(texts[0]).toBe(texts[1]);
  expect(texts[0]).toBe(expected(`{ ${large} }`));
  await readLater(`{ ${large} }`);
  expect(threadKeys).toHaveLength(1);
  expect(introspection.size().weight).toBeGreaterThan(texts[0].length);
});

test("a response that is longer than the limit is rejected and not cached", async () => {
  const { readLater, introspection } = setUp({ bytesMax: 1_000 });
  const twenty = Array.from({ length: 20 }, (_, i) => `a${i}: ${large}`);
  await expect(readLater(`{ ${twenty.join(" ")} }`)).rejects.toMatchObject({ code: "INTROSPECTION_TOO_LARGE" });
  expect(introspection.size().entries).toBe(0);
});

test("the limit is for all introspection fields of an operation together", async () => {
  const one = `a: ${large}`;
  const { readLater } = setUp({ bytesMax: 1_000 });
  await expect(readLater(`{ ${one} }`)).resolves.toSatisfy(mentionsLastType);
  const many = Array.from({ length: 10 }, (_, i) => `a${i}: ${large}`).join(" ");
  await expect(readLater(`{ ${many} }`)).rejects.toThrow(Rejection);
});

test("the cache is bounded in bytes, keys included", () => {
  const { read, introspection, evicted } = setUp({ bytesMax: 1_000, standard: [] });
  for (let i = 0; i < 100; i++) read(`{ __type(name: "T${i}") { a${i}: name } }`);
  expect(introspection.size().weight).toBeLessThanOrEqual(4_000);
  expect(evicted()).toBe(100 - introspection.size().entries);
});

test("when too many large responses are pending, the next one is rejected until one is complete", async () => {
  const { readLater, release } = setUp({ isHeld: true });
  const pending = Array.from({ length: 32 }, (_, i) =>
    readLater(`{ a${i}: ${large} b: __type(name: "T${i}") { name } }`),
  );
  await expect(readLater(`{ ${large} }`)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  release();
  await Promise.all(pending);
  await expect(readLater(`{ ${large} }`)).resolves.toSatisfy(mentionsLastType);
});

function toText(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}

function expected(source: string): string {
  const { data } = execute({ schema, document: parse(source) }) as ExecutionResult;
  return JSON.stringify(data);
}

/** Not `toContain`, which prints the whole response when it fails. */
function mentionsLastType(text: string): boolean {
  return text.includes("T799");
}

test("after a large response, the next one is delayed by as long as it took", async () => {
  const { readLater, threadTimes } = setUp({ threadMs: 30 });
  await Promise.all(["a", "b"].map((alias) => readLater(`{ ${large} __type(name: "T1") { ${alias}: name } }`)));
  const [first, second] = threadTimes;
  const tookMs = (first?.endMs ?? 0) - (first?.startMs ?? 0);
  expect((second?.startMs ?? 0) - (first?.endMs ?? 0)).toBeGreaterThan(0.9 * tookMs);
});

interface SetUp {
  readonly bytesMax?: number;
  readonly standard?: ReturnType<typeof writeStandardIntrospection>;
  /** If true, workers complete their tasks only after `release`. */
  readonly isHeld?: boolean;
  /** Additional time of each task. */
  readonly threadMs?: number;
}

function setUp({
  bytesMax = 1_000_000,
  standard = writeStandardIntrospection(schema),
  isHeld = false,
  threadMs = 0,
}: SetUp = {}) {
  const threadKeys: string[] = [];
  const threadTimes: { startMs: number; endMs: number }[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  if (!isHeld) release();
  let evicted = 0;
  const introspection = createIntrospection({
    apiSchema: schema,
    standard,
    bytesMax,
    onEvicted: () => void evicted++,
    async executeInWorker(key, max) {
      threadKeys.push(key);
      const startMs = performance.now();
      await released;
      await sleep(threadMs);
      const values = writeIntrospection(schema, readIntrospectionKey(schema, key), max);
      threadTimes.push({ startMs, endMs: performance.now() });
      return values;
    },
  });

  function start(source: string, variables: Readonly<Record<string, unknown>>) {
    const document = parse(source);
    const operation = getOperationAST(document);
    if (!operation) throw new Error("The document has no single operation");
    const client = resolveConditionsAndFragments(document, operation, variables);
    const fields = findIntrospectionFields(client, responseNameOf);
    const plan = { introspection: fields?.selectionSet } as CompiledPlan;
    const validated: ValidatedOperation = {
      source,
      document,
      operation,
      identity: identifyOperation(operation, ""),
      isIncremental: false,
      priority: "normal",
      addRetainedBytes: () => {},
    };
    const names = [...new Set(client.selectionSet.selections.map((selection) => responseNameOf(selection as never)))];
    const join = (values: Readonly<Record<string, Uint8Array>>) =>
      `{${names.map((name) => `"${name}":${toText(values[fields?.findAlias([name]) ?? ""])}`).join(",")}}`;
    return { values: introspection.read(plan, validated, variables, { documentCpuMs: 0 }), join };
  }

  function read(source: string, variables = {}): string {
    const { values, join } = start(source, variables);
    if (!values || values instanceof Promise) throw new Error("The response is not written on the main thread");
    return join(values);
  }

  async function readLater(source: string, variables = {}): Promise<string> {
    const { values, join } = start(source, variables);
    return join((await values) ?? {});
  }

  return { introspection, read, readLater, threadKeys, threadTimes, release, standard, evicted: () => evicted };
}
