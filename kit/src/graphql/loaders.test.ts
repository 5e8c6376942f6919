import { expect, test } from "vitest";
import { createLoaderById, createLoaderByKey } from "./loaders.ts";

interface User {
  readonly id: string;
  readonly name: string;
}

const idOf = (user: User) => user.id;
const ada: User = { id: "1", name: "ada" };
const grace: User = { id: "2", name: "grace" };

test("ids that are loaded together are one call, each id once, whatever the order of the rows", async () => {
  const calls: (readonly string[])[] = [];
  const users = createLoaderById<User>(async (ids) => {
    calls.push(ids);
    return [grace, ada];
  }, idOf);
  expect(await Promise.all(["1", "2", "1"].map((id) => users.load(id)))).toEqual([ada, grace, ada]);
  expect(calls).toEqual([["1", "2"]]);
});

test("an id without a row loads null", async () => {
  const users = createLoaderById(async () => [ada], idOf);
  expect(await Promise.all([users.load("1"), users.load("3")])).toEqual([ada, null]);
});

test("rows are found by another field than id", async () => {
  const users = createLoaderById(
    async () => [ada, grace],
    (user) => user.name,
  );
  expect(await users.load("grace")).toBe(grace);
});

test("more than a thousand ids are several calls", async () => {
  const sizes: number[] = [];
  const users = createLoaderById<User>(async (ids) => {
    sizes.push(ids.length);
    return [];
  }, idOf);
  await users.loadMany(Array.from({ length: 1_500 }, (_, index) => String(index)));
  expect(sizes).toEqual([1_000, 500]);
});

test("keys that are equal as JSON are one key", async () => {
  const calls: unknown[] = [];
  const slices = createLoaderByKey<{ readonly userId: string; readonly limit: number }, string>(async (keys) => {
    calls.push(keys);
    return keys.map(({ userId, limit }) => `${limit} of ${userId}`);
  });
  const loads = [slices.load({ userId: "1", limit: 2 }), slices.load({ userId: "1", limit: 2 })];
  expect(await Promise.all(loads)).toEqual(["2 of 1", "2 of 1"]);
  expect(calls).toEqual([[{ userId: "1", limit: 2 }]]);
});
