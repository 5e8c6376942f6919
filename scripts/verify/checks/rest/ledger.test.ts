import { expect, test } from "vitest";
import { createLedger } from "./ledger.ts";

const posts = [
  { id: "1", etag: '"a"' },
  { id: "2", etag: '"b"' },
];

test("a post has one writer at a time", () => {
  const ledger = createLedger(posts);
  const [first, second] = [ledger.reserve(), ledger.reserve()];
  expect(new Set([first?.id, second?.id])).toEqual(new Set(["1", "2"]));
  expect(ledger.reserve()).toBeUndefined();
  first?.release();
  expect(ledger.reserve()?.id).toBe(first?.id);
});

test("a released write is required of reads that start later, not of earlier ones", () => {
  const ledger = createLedger(posts);
  const post = ledger.reserve();
  const before = ledger.confirmed();
  post?.release({ etag: '"c"', confirmed: { title: 3, commentId: 8 } });
  expect(before.get(post?.id ?? "")).toEqual({ title: 0, commentId: 0 });
  expect(ledger.confirmed().get(post?.id ?? "")).toEqual({ title: 3, commentId: 8 });
  ledger.reserve()?.release();
  expect(ledger.reserve()?.etag).toBe('"c"');
});
