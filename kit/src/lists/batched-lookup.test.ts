import { beforeEach, expect, test } from "vitest";
import { batchLookups } from "./batched-lookup.ts";

let asked: (readonly string[])[] = [];
beforeEach(() => {
  asked = [];
});

async function find(ids: readonly string[]) {
  asked.push(ids);
  if (ids.includes("broken")) throw new Error("away");
  return ids.filter((id) => id !== "none").map((id) => ({ id, time: asked.length }));
}

test("the look-ups of one turn are one statement with each id once, and each gets its row", async () => {
  const lookUp = batchLookups(find);
  const found = await Promise.all(["1", "2", "none", "1"].map(lookUp));
  expect(found.map((row) => row?.id)).toEqual(["1", "2", undefined, "1"]);
  expect(asked).toEqual([["1", "2", "none"]]);
});

test("results are not cached", async () => {
  const lookUp = batchLookups(find);
  expect([(await lookUp("1"))?.time, (await lookUp("1"))?.time]).toEqual([1, 2]);
});

test("a lookup does not join a statement in flight, which started before writes that its caller may have made", async () => {
  let stored = "old";
  const answers: (() => void)[] = [];
  const lookUp = batchLookups(async (ids) => {
    const rows = ids.map((id) => ({ id, stored }));
    await new Promise<void>((resolve) => answers.push(resolve));
    return rows;
  });
  const before = lookUp("1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toHaveLength(1);
  stored = "new";
  const after = lookUp("1");
  await new Promise((resolve) => setImmediate(resolve));
  for (const answer of answers) answer();
  expect([(await before)?.stored, (await after)?.stored]).toEqual(["old", "new"]);
});

test("a statement looks up at most `idsMax` ids", async () => {
  const lookUp = batchLookups(find, 2);
  await Promise.all(["1", "2", "3", "4", "5"].map(lookUp));
  expect(asked).toEqual([["1", "2"], ["3", "4"], ["5"]]);
});

test("a failure rejects all look-ups of its batch, and no later one", async () => {
  const lookUp = batchLookups(find);
  const outcomes = await Promise.allSettled(["1", "broken"].map(lookUp));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await lookUp("1"))?.id).toBe("1");
});
