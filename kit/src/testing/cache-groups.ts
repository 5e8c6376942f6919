// Every write × every REST and GraphQL response that caches may store. If a write alters a response, its recorded changes must name at
// least one group of that response; a REST write must also invalidate the response itself.
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CacheGroupsCases, type Read, withOtherValues } from "./cache-groups/cases.ts";
import { findColumns, type TestedColumn } from "./cache-groups/column-writes.ts";
import { findUncovered } from "./cache-groups/coverage.ts";
import { createReadAll, type Outcome, runWrites } from "./cache-groups/outcomes.ts";

/** Limits that every cache supports (RFC 9875, 2 and 3). */
const groupsMax = 32;
const groupNameCharsMax = 32;

/** Registers the tests. They fail if a route, query parameter, mutation, table or column has no case. */
export function testCacheGroups(declaredCases: CacheGroupsCases): void {
  let cases = declaredCases;
  let columns: readonly TestedColumn[];
  let reads: readonly Read[];
  let outcomes: readonly Outcome[];
  let stop = async () => {};

  beforeAll(async () => {
    const service = await cases.start();
    const client = new pg.Client({ connectionString: service.database.url });
    stop = async () => {
      await client.end();
      await service.stop();
    };
    await client.connect();
    await client.query(cases.seed ?? "");
    columns = await findColumns(client);
    cases = withOtherValues(cases, columns);
    const readAll = await createReadAll(cases, service);
    reads = await readAll();
    outcomes = await runWrites(cases, service, client, readAll);
  });
  afterAll(() => stop());

  test("every route, query parameter, mutation, table and column has a case", () => {
    const urls = reads.map(({ url }) => url);
    expect(findUncovered(cases, columns, urls), "add a case to each of these members in groups.test.ts").toEqual([]);
  });

  test("every write has its effect, and every response in a cache group is altered by a write", () => {
    const unexpected = outcomes.filter(({ effect, expected }) => effect !== expected);
    expect(unexpected.map(describeOutcome)).toEqual([]);
    expect(findNeverAltered(reads, outcomes)).toEqual([]);
  });

  test("the recorded changes of a write name a group of each response that it alters", () => {
    expect(findMissed(outcomes, "recorded")).toEqual([]);
  });

  test("a REST write invalidates each response that it alters", () => {
    const ofRestWrites = outcomes.filter(({ target }) => target !== undefined);
    expect(findMissed(ofRestWrites, "invalidated")).toEqual([]);
  });

  test("a hidden or rejected write names no group", () => {
    const hiddenOrRejected = outcomes.filter(({ expected }) => expected !== "visible");
    const withGroups = hiddenOrRejected.filter(({ recorded, invalidated }) => recorded.length + invalidated.length > 0);
    expect(withGroups.map(describeOutcome)).toEqual([]);
  });

  test("every group that a write names is the only one by which some response is invalidated", () => {
    expect(findUnneeded(reads, outcomes, "recorded")).toEqual([]);
    expect(findUnneeded(reads, outcomes, "invalidated")).toEqual([]);
  });

  test("a response has at most 32 groups, and their names have the service's prefix and at most 32 characters", () => {
    const groupsOfReads = withAltered(reads, outcomes).map(({ groups }) => groups);
    const groupsOfHeaders = [...groupsOfReads, ...outcomes.map(({ invalidated }) => invalidated)];
    expect(groupsOfHeaders.filter((groups) => groups.length > groupsMax)).toEqual([]);
    const names = new Set([...groupsOfHeaders, ...outcomes.map(({ recorded }) => recorded)].flat());
    const hasPrefix = (name: string) => name === cases.service || name.startsWith(`${cases.service}:`);
    const isValid = (name: string) => hasPrefix(name) && name.length <= groupNameCharsMax;
    expect([...names].filter((name) => !isValid(name))).toEqual([]);
  });

  test("caches that do not follow the change feed may not store an error response", () => {
    const errors = withAltered(reads, outcomes).filter(({ status }) => status >= 400);
    expect(errors.filter(({ isForEveryCache }) => isForEveryCache).map(({ url }) => url)).toEqual([]);
  });
}

function withAltered(reads: readonly Read[], outcomes: readonly Outcome[]): readonly Read[] {
  return [...reads, ...outcomes.flatMap(({ altered }) => altered.map(({ after }) => after))];
}

function findNeverAltered(reads: readonly Read[], outcomes: readonly Outcome[]): readonly string[] {
  const alteredSubjects = new Set(outcomes.flatMap(({ altered }) => altered.map(({ subject }) => subject)));
  const grouped = reads.filter(({ isStorable, groups, status }) => isStorable && groups.length > 0 && status < 400);
  return grouped.map(({ subject }) => subject).filter((subject) => !alteredSubjects.has(subject));
}

type Source = "recorded" | "invalidated";

function findMissed(outcomes: readonly Outcome[], source: Source): readonly string[] {
  return outcomes.flatMap((outcome) => {
    const missed = outcome.altered.filter(({ url, groups }) => {
      // A REST write invalidates its own URL without a group (RFC 9111, 4.4).
      const isTarget = source === "invalidated" && url === outcome.target;
      const isNamed = groups.some((group) => outcome[source].includes(group));
      return !isTarget && !isNamed;
    });
    return missed.map(({ url }) => `${url} after ${outcome.write}`);
  });
}

/** `findMissed` would not notice if these were missing. */
function findUnneeded(reads: readonly Read[], outcomes: readonly Outcome[], source: Source): readonly string[] {
  const groupsOfReads = new Set(reads.flatMap(({ groups }) => groups));
  const namedGroups = new Set(outcomes.flatMap((outcome) => outcome[source]));
  const sharedGroups = outcomes.flatMap((outcome) =>
    outcome.altered.map(({ groups }) => groups.filter((group) => outcome[source].includes(group))),
  );
  const neededGroups = new Set(sharedGroups.filter(({ length }) => length === 1).flat());
  return [...namedGroups].filter((group) => groupsOfReads.has(group) && !neededGroups.has(group));
}

function describeOutcome({ write, expected, effect, recorded, invalidated }: Outcome): string {
  return `${write}: ${effect}, expected ${expected}; groups ${[...recorded, ...invalidated].join(" ")}`;
}
