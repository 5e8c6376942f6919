import { expect, test } from "vitest";
import { PurgeQueue, type QueuedTag } from "../src/purge-queue.ts";

const tagsOf = (taken: readonly QueuedTag[]) => taken.map(({ tag }) => tag);

test("a group is due at once, once, and again a second after it was purged", () => {
  const queue = new PurgeQueue(10);
  queue.addGroups("posts", ["posts", "posts:7"], 0);
  queue.addGroups("posts", ["posts:7"], 5);
  const first = queue.take(10, 10);
  expect(first).toEqual([
    { tag: "posts", service: "posts", changedAtMs: 0 },
    { tag: "posts:7", service: "posts", changedAtMs: 0 },
  ]);
  queue.onPurged(first, 100);
  expect([queue.nextDueMs(), queue.take(10, 1_099)]).toEqual([1_100, []]);
  const second = queue.take(10, 1_100);
  expect(tagsOf(second)).toEqual(["posts", "posts:7"]);
  queue.onPurged(second, 1_200);
  expect([queue.size(), queue.nextDueMs()]).toEqual([0, Infinity]);
});

test("a change while a purge is in flight is purged after it", () => {
  const queue = new PurgeQueue(10);
  queue.addGroups("posts", ["posts"], 0);
  const first = queue.take(10, 0);
  queue.addGroups("posts", ["posts"], 1);
  queue.onPurged(first, 2);
  expect(queue.take(10, 2)).toEqual([{ tag: "posts", service: "posts", changedAtMs: 1 }]);
});

test("a purge that failed is due again, with the time of its change", () => {
  const queue = new PurgeQueue(10);
  queue.addGroups("posts", ["posts"], 0);
  queue.onFailed(queue.take(10, 0));
  queue.addGroups("posts", ["posts"], 50);
  const again = queue.take(10, 100);
  expect(again).toEqual([{ tag: "posts", service: "posts", changedAtMs: 0 }]);
  queue.onPurged(again, 100);
  queue.onFailed(queue.take(10, 1_100));
  expect(tagsOf(queue.take(10, 1_100))).toEqual(["posts"]);
});

test("the purge of a service replaces those of its groups, and of no other's", () => {
  const queue = new PurgeQueue(10);
  queue.addGroups("posts", ["posts:1"], 0);
  queue.onPurged(queue.take(10, 0), 0);
  queue.addGroups("posts", ["posts:2"], 1);
  queue.addGroups("users", ["users:1"], 1);
  queue.addService("posts", 2);
  queue.addGroups("posts", ["posts:3"], 3);
  expect(queue.take(10, 5_000)).toEqual([
    { tag: "users:1", service: "users", changedAtMs: 1 },
    // The time of the oldest change that it replaces.
    { tag: "service:posts", service: "posts", changedAtMs: 1 },
  ]);
});

test("a change while only the second purge of its service is due is purged twice too", () => {
  const queue = new PurgeQueue(10);
  queue.addService("posts", 0);
  queue.onPurged(queue.take(10, 0), 0);
  // The second purge fails, so it is due again.
  queue.onFailed(queue.take(10, 1_000));
  queue.addGroups("posts", ["posts:1"], 1_500);
  const first = queue.take(10, 1_500);
  expect(first).toEqual([{ tag: "service:posts", service: "posts", changedAtMs: 1_500 }]);
  queue.onPurged(first, 1_600);
  expect(tagsOf(queue.take(10, 2_600))).toEqual(["service:posts"]);
});

test("a failed purge joins the second purge of its service, and is purged twice too", () => {
  const queue = new PurgeQueue(10);
  queue.addService("posts", 0);
  queue.onPurged(queue.take(10, 0), 0);
  queue.addGroups("posts", ["posts:1"], 900);
  const group = queue.take(10, 900);
  queue.onFailed(queue.take(10, 1_000));
  queue.onFailed(group);
  expect(queue.take(10, 1_100)).toEqual([{ tag: "service:posts", service: "posts", changedAtMs: 900 }]);
});

test("a full queue becomes the services in it, with those that wait for their second purge", () => {
  const queue = new PurgeQueue(3);
  queue.addGroups("users", ["users:1"], 0);
  queue.onPurged(queue.take(10, 0), 0);
  expect(queue.addGroups("posts", ["posts:1", "posts:2"], 1)).toBe(true);
  expect(queue.addGroups("orders", ["orders:1"], 2)).toBe(false);
  expect(queue.size()).toBe(3);
  expect(tagsOf(queue.take(10, 3)).toSorted()).toEqual(["service:orders", "service:posts", "service:users"]);
});

test("a request takes at most as many tags as it may have", () => {
  const queue = new PurgeQueue(10);
  queue.addGroups("posts", ["a", "b", "c"], 0);
  expect([queue.take(2, 0), queue.take(2, 0)].map(tagsOf)).toEqual([["a", "b"], ["c"]]);
});
