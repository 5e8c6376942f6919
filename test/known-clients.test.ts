import { createHash } from "node:crypto";
import { buildSchema, OperationTypeNode, validate, validateSchema } from "graphql";
import { sampleSize } from "@tributary/kit/testing/sample-size";
import { expect, test } from "vitest";
import type { Change } from "../supergraph/changes/changes.ts";
import { findSchemaChanges } from "../supergraph/changes/schema-changes.ts";
import { judgeChanges } from "../supergraph/clients/broken-operations.ts";
import { activeOperations, readClients } from "../supergraph/clients/clients.ts";
import { breakingMutations, harmlessMutations, type Mutation } from "./known-clients/mutations.ts";
import { findBreak } from "./known-clients/oracle.ts";
import { sampleApi, sampleClients } from "./known-clients/sample.ts";

const today = "2026-11-28";
const operations = activeOperations(sampleClients.clients, today);
const base = buildSchema(sampleApi);

const breakingCount = sampleSize(80, 250);
const harmlessCount = sampleSize(70, 220);
const breaking = sample(breakingMutations(sampleApi), breakingCount);
const harmless = sample(harmlessMutations(sampleApi), harmlessCount);

test("the sample is large enough, and its clients are valid", () => {
  expect(sampleClients.problems).toEqual([]);
  expect(operations.flatMap(({ document }) => validate(base, document))).toEqual([]);
  expect(breaking.length).toBe(breakingCount);
  expect(harmless.length).toBe(harmlessCount);
  expect(breaking.filter((mutation) => listBreaks(mutation).length > 0).length).toBeGreaterThan(0.8 * breakingCount);
});

test("each breaking change names exactly the operations that no longer work", async () => {
  const wrong: string[] = [];
  for (const mutation of breaking) {
    const named = listNamed(await judge(mutation));
    const broken = listBreaks(mutation);
    if (named.join() !== broken.map(([name]) => name).join())
      wrong.push(`${mutation.name}: names [${named.join()}], breaks ${JSON.stringify(broken)}`);
  }
  expect(wrong).toEqual([]);
});

test("changes that break no operation pass", async () => {
  const wrong: string[] = [];
  for (const mutation of harmless) {
    const failing = (await judge(mutation)).filter(({ level }) => level === "breaking");
    const broken = listBreaks(mutation);
    if (failing.length + broken.length > 0) wrong.push(`${mutation.name}: ${JSON.stringify([failing, broken])}`);
  }
  expect(wrong).toEqual([]);
});

test("an operation that a safe change makes invalid is a breaking change of its own", async () => {
  const name = "clients/web/1.json";
  const text = JSON.stringify({
    q: "query Both($id: ID!) { node(id: $id) { ... on Book { x: subtitle } ... on Ticket { x: gate } } }",
  });
  const { clients } = readClients({ list: () => [name], read: (path) => (path === name ? text : undefined) });
  const sdl = sampleApi.replace("subtitle: String", "subtitle: String!");
  expect(await judge({ name: "", sdl }, activeOperations(clients, today))).toMatchObject([
    {
      level: "breaking",
      code: "OPERATION_BROKEN",
      subject: "web@1 Both",
      message: expect.stringContaining("they return conflicting types"),
      places: [{ file: name, line: 1 }],
    },
  ]);
});

test("a removed root type breaks the operations of its kind", async () => {
  const sdl = sampleApi.replace(" mutation: Mutation", "").replace(/type Mutation \{[^}]*\}/, "");
  const isMutation = ({ document }: (typeof operations)[number]) =>
    document.definitions.some((node) => "operation" in node && node.operation === OperationTypeNode.MUTATION);
  const broken = operations.filter(isMutation).map(({ release, name }) => `${release} ${name}`);
  expect(broken.length).toBeGreaterThan(0);
  const changes = await judge({ name: "", sdl });
  expect(listNamed(changes.filter(({ subject }) => subject === "Mutation"))).toEqual(broken.toSorted());
});

async function judge({ sdl }: Mutation, ones = operations): Promise<readonly Change[]> {
  const toState = (apiSdl: string) => ({ apiSdl, supergraphSdl: apiSdl, sources: [] });
  const changes = await findSchemaChanges(toState(sampleApi), toState(sdl));
  return judgeChanges(changes, ones, { base, now: buildSchema(sdl) }).changes;
}

/** The operations that the changes name. */
function listNamed(changes: readonly Change[]): readonly string[] {
  const named = changes.flatMap(({ breaks = [] }) =>
    breaks.flatMap((one) => one.operations.map((name) => `${one.release} ${name}`)),
  );
  return [...new Set(named)].toSorted();
}

const breaksOf = new Map<Mutation, readonly (readonly [string, string])[]>();

/** Once for each mutation, because it takes most of the time. */
function listBreaks(mutation: Mutation): readonly (readonly [string, string])[] {
  const known = breaksOf.get(mutation);
  if (known) return known;
  const now = buildSchema(mutation.sdl);
  const breaks = operations
    .flatMap(({ release, name, document }) => {
      const reason = findBreak(document, base, now);
      return reason === undefined ? [] : [[`${release} ${name}`, reason] as const];
    })
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  breaksOf.set(mutation, breaks);
  return breaks;
}

/** The same ones in each run. */
function sample(mutations: readonly Mutation[], count: number): readonly Mutation[] {
  const orderOf = ({ name }: Mutation) => createHash("sha256").update(name).digest("hex");
  const ordered = mutations.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  return ordered.values().filter(isValidSchema).take(count).toArray();
}

/** Not each edit makes a valid schema. */
function isValidSchema({ sdl }: Mutation): boolean {
  try {
    return validateSchema(buildSchema(sdl)).length === 0;
  } catch {
    return false;
  }
}
