import { expect, test } from "vitest";
import { createLedger } from "./ledger.ts";

const posts = [
  { id: "1", etag: '"a"' },
  { id: "2", etag: '"b"' },
];

test("a post has one writer at a time", () => {
  const ledger = createLedger(posts);
  const [first, second] = [ledger.take(), ledger.take()];
  expect(new Set([first?.id, second?.id])).toEqual(new Set(["1", "2"]));
  expect(ledger.take()).toBeUndefined();
  first?.release();
  expect(ledger.take()?.id).toBe(first?.id);
});

test("what is written is what readers have to see from then on, and not before", () => {
  const ledger = createLedger(posts);
  const post = ledger.take();
  const before = ledger.floors();
  post?.release({ etag: '"c"', floor: { title: 3, commentId: 8 } });
  expect(before.get(post?.id ?? "")).toEqual({ title: 0, commentId: 0 });
  expect(ledger.floors().get(post?.id ?? "")).toEqual({ title: 3, commentId: 8 });
  ledger.take()?.release();
  expect(ledger.take()?.etag).toBe('"c"');
});
