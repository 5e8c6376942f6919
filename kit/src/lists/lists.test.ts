import fc from "fast-check";
import { expect, test, beforeEach } from "vitest";
import { AppError } from "../errors/app-error.ts";
import { AbortSource } from "../http/abort-source.ts";
import { CallerLeft, runForCaller, takeBytes } from "../postgres/waiting-caller.ts";
import { batchLookups } from "./batched-lookup.ts";
import { readConnectionRequest, readFirst, toConnection } from "./connection.ts";
import { createCursors, nameList } from "./cursor.ts";
import { createKeyset, toPage } from "./keyset.ts";

const old = "the key of yesterday";
const current = "the key of today";
const list = nameList("users", { role: "ADMIN" });

test("a cursor is read as the position for which it was written", () => {
  const cursors = createCursors([current]);
  const position = fc.record({ direction: fc.constantFrom("next" as const, "prev" as const), id: fc.string() });
  const roundTrip = fc.property(position, (it) => {
    expect(cursors.read(list, cursors.write(list, it))).toEqual(it);
  });
  fc.assert(roundTrip);
});

test("a cursor of another list, other filters or another key is rejected", () => {
  const cursor = createCursors([current]).write(list, { direction: "next", id: "7" });
  expect(() => createCursors([current]).read(nameList("users", {}), cursor)).toThrow(AppError);
  expect(() => createCursors([current]).read(nameList("posts", { role: "ADMIN" }), cursor)).toThrow(AppError);
  expect(() => createCursors([old]).read(list, cursor)).toThrow(AppError);
});

test("every key verifies, the first one signs: keys can be rotated", () => {
  const before = createCursors([old]).write(list, { direction: "next", id: "7" });
  const rotated = createCursors([current, old]);
  expect(rotated.read(list, before).id).toBe("7");
  const after = rotated.write(list, { direction: "next", id: "7" });
  expect(createCursors([current]).read(list, after).id).toBe("7");
});

test("a cursor with any changed character is rejected", () => {
  const cursors = createCursors([current]);
  const cursor = cursors.write(list, { direction: "next", id: "12345" });
  for (let at = 0; at < cursor.length; at++) {
    const forged = cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1);
    expect(() => cursors.read(list, forged)).toThrow(AppError);
  }
  for (const other of ["", "=", `${cursor}=`, ` ${cursor}`, cursor.slice(0, 10), "x".repeat(10_000)]) {
    expect(() => cursors.read(list, other)).toThrow(AppError);
  }
});

test("a list's name does not depend on the order of its filters", () => {
  expect(nameList("users", { a: false, b: 2 })).not.toBe(nameList("users", { b: 2 }));
  expect(nameList("users", { a: "1", b: "2" })).toBe(nameList("users", { b: "2", a: "1", c: undefined }));
});

test("creating cursors requires a key", () => {
  expect(() => createCursors([])).toThrow("at least one key");
});

test("a keyset reads one row more than the page has", () => {
  const request = { limit: 2, position: { direction: "prev" as const, id: "9" } };
  expect(createKeyset("id", "$1", request)).toMatchObject({
    where: "id > $1",
    orderBy: "id asc",
    direction: "prev",
    id: "9",
    limit: 3,
  });
  expect(createKeyset("sku", "$1", { limit: 2 }, "ascending")).toMatchObject({
    where: "$1 is null",
    orderBy: "sku asc",
    direction: "first",
    id: null,
  });
  expect(toPage([10, 11, 12], request)).toEqual({ items: [11, 10], hasNext: true, hasPrev: true });
  expect(toPage([10, 11], request)).toEqual({ items: [11, 10], hasNext: true, hasPrev: false });
  expect(toPage([3, 2, 1], { limit: 2 })).toEqual({ items: [3, 2], hasNext: true, hasPrev: false });
});

test("a connection has an edge for each node, and cursors for its ends", () => {
  const cursors = createCursors(["a key for this test"]);
  const connection = toConnection({ items: ["b", "a"], hasNext: true, hasPrev: false }, cursors, "letters", (it) => it);
  expect(connection.nodes).toEqual(["b", "a"]);
  expect(connection.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  expect(readConnectionRequest({ first: 5, after: connection.pageInfo.endCursor }, cursors, "letters")).toEqual({
    limit: 5,
    position: { direction: "next", id: "a" },
    bytesMax: 1_048_576,
  });
  expect(
    toConnection({ items: [], hasNext: false, hasPrev: false }, cursors, "letters", String).pageInfo.endCursor,
  ).toBeNull();
  expect(readFirst(null)).toBe(20);
});

let statements: (readonly string[])[] = [];
beforeEach(() => {
  statements = [];
});

async function find(ids: readonly string[]) {
  statements.push(ids);
  if (ids.includes("broken")) throw new Error("away");
  return ids.filter((id) => id !== "none").map((id) => ({ id, statement: statements.length }));
}

test("look-ups that start together are one statement with each id once, and each gets its row", async () => {
  const lookUp = batchLookups(find);
  const rows = await Promise.all(["1", "2", "none", "1"].map(lookUp));
  expect(rows.map((row) => row?.id)).toEqual(["1", "2", undefined, "1"]);
  expect(statements).toEqual([["1", "2", "none"]]);
});

test("results are not cached", async () => {
  const lookUp = batchLookups(find);
  expect([(await lookUp("1"))?.statement, (await lookUp("1"))?.statement]).toEqual([1, 2]);
});

test("a lookup does not join a statement in flight, which started before writes that its caller may have made", async () => {
  let stored = "old";
  const pending: (() => void)[] = [];
  const lookUp = batchLookups(async (ids) => {
    const rows = ids.map((id) => ({ id, stored }));
    await new Promise<void>((resolve) => pending.push(resolve));
    return rows;
  });
  const before = lookUp("1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(pending).toHaveLength(1);
  stored = "new";
  const after = lookUp("1");
  await new Promise((resolve) => setImmediate(resolve));
  for (const finish of pending) finish();
  expect([(await before)?.stored, (await after)?.stored]).toEqual(["old", "new"]);
});

test("a statement looks up at most `idsMax` ids", async () => {
  const lookUp = batchLookups(find, 2);
  await Promise.all(["1", "2", "3", "4", "5"].map(lookUp));
  expect(statements).toEqual([["1", "2"], ["3", "4"], ["5"]]);
});

test("a failure rejects all look-ups of its batch, and no later one", async () => {
  const lookUp = batchLookups(find);
  const outcomes = await Promise.allSettled(["1", "broken"].map(lookUp));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await lookUp("1"))?.id).toBe("1");
});

test("the lookups of a request that has written count in what it may read", async () => {
  const caller = { disconnected: new AbortSource(), endsAtMs: 0, bytesLeft: 1, hasWritten: true };
  const lookUp = batchLookups(async (ids) => {
    takeBytes(1);
    return ids.map((id) => ({ id }));
  });
  expect(await runForCaller(caller, () => lookUp("1"))).toEqual({ id: "1" });
  await expect(runForCaller(caller, () => lookUp("2"))).rejects.toThrow(CallerLeft);
});
