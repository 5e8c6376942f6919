import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import { expect, test } from "vitest";
import { createSharing } from "./fetch-sharing.ts";
import type { AskedAnswer } from "./subgraph-response.ts";

test("equal reads at the same time are one read", async () => {
  const { share, reads } = setUp();
  const [one, other] = [share("a"), share("a")];
  expect(reads).toHaveLength(1);
  reads[0]!.end();
  expect(await one).toBe(await other);
});

test.each([
  ["service", { service: "orders" }],
  ["body", { body: "b" }],
  ["caller", { authorization: "Bearer b" }],
  ["caller, who is anonymous", { authorization: undefined }],
  ["count of settled writes", { settledWrites: 1 }],
])("reads that differ in their %s are two", (_, other) => {
  const { sharing, start, reads } = setUp();
  const read = { service: "users", body: "a", authorization: "Bearer a", settledWrites: 0 };
  const { signal } = new AbortController();
  void sharing.share(read, signal, start);
  void sharing.share({ ...read, ...other }, signal, start);
  expect(reads).toHaveLength(2);
  void sharing.share(read, signal, start);
  expect(reads).toHaveLength(2);
});

test("an answer is shared when two have waited for it to the end", async () => {
  const { share, reads, sharing } = setUp();
  const leaving = new AbortController();
  const alone = share("a");
  void share("a", leaving.signal);
  leaving.abort("gone");
  const both = [share("b"), share("b")];
  for (const read of reads) read.end();
  expect(sharing.isShared(await alone)).toBe(false);
  expect(sharing.isShared(await both[0]!)).toBe(true);
});

test("what has ended is read again", async () => {
  const { share, reads } = setUp();
  const first = share("a");
  reads[0]!.end();
  await first;
  void share("a");
  expect(reads).toHaveLength(2);
});

test("who leaves gets a failure at once, and takes nothing from the others", async () => {
  const { share, reads } = setUp();
  const leaving = new AbortController();
  const [left, stays] = [share("a", leaving.signal), share("a")];
  leaving.abort("gone");
  expect(await left).toMatchObject({ kind: "abandoned" });
  expect(reads[0]!.signal.aborted).toBe(false);
  reads[0]!.end();
  expect(await stays).toMatchObject({ kind: "graphql" });
});

test("the last one to leave ends the read, with its reason", () => {
  const { share, reads } = setUp();
  const leaving = [new AbortController(), new AbortController()];
  for (const { signal } of leaving) void share("a", signal);
  leaving[0]!.abort("gone");
  expect(reads[0]!.signal.aborted).toBe(false);
  leaving[1]!.abort("late");
  expect(reads[0]!.signal.reason).toBe("late");
});

test("nobody joins a read that is being ended", async () => {
  const { share, reads } = setUp();
  const leaving = new AbortController();
  void share("a", leaving.signal);
  leaving.abort("gone");
  const next = share("a");
  expect(reads).toHaveLength(2);
  // The end of the one that was given up takes nothing from the one that came after it.
  reads[0]!.end();
  await Promise.resolve();
  const joined = share("a");
  expect(reads).toHaveLength(2);
  reads[1]!.end();
  expect(await joined).toBe(await next);
});

test("who has an answer can leave without ending what comes next", async () => {
  const { share, reads } = setUp();
  const leaving = new AbortController();
  const first = share("a", leaving.signal);
  reads[0]!.end();
  await first;
  void share("a");
  leaving.abort("gone");
  expect(reads.map(({ signal }) => signal.aborted)).toEqual([false, false]);
});

test("beyond the bound a read goes alone", () => {
  const { share, reads } = setUp();
  for (let i = 0; i < 1_024; i++) void share(`key ${i}`);
  void share("one more");
  void share("one more");
  expect(reads).toHaveLength(1_026);
  void share("key 0");
  expect(reads).toHaveLength(1_026);
});

interface Read {
  readonly signal: AbortSignalLike;
  end(): void;
}

function setUp() {
  const sharing = createSharing();
  const reads: Read[] = [];
  const start = (signal: AbortSignalLike) =>
    new Promise<AskedAnswer>((resolve) => {
      reads.push({ signal, end: () => resolve({ kind: "graphql", data: {}, errors: [], replica: "a" }) });
    });
  const share = (body: string, signal = new AbortController().signal) =>
    sharing.share({ service: "users", body, authorization: undefined, settledWrites: 0 }, signal, start);
  return { reads, sharing, start, share };
}
