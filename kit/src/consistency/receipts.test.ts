import { createCipheriv, createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AppError } from "../errors/app-error.ts";
import { createReceipts, type ServiceWrite } from "./receipts.ts";

const key = "a key for tests only";
const receipts = createReceipts([key]);
const epoch = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
const posts: ServiceWrite = { service: "posts", epoch, xid: 1_234 };
const users: ServiceWrite = { service: "users", epoch: "ffffffff-ffff-4fff-bfff-ffffffffffff", xid: 7 };
const orders: ServiceWrite = { service: "orders", epoch, xid: 3 };

describe("a receipt names", () => {
  test.each<[string, readonly ServiceWrite[]]>([
    ["one write", [posts]],
    ["writes of several services", [posts, users, orders]],
    ["two writes of one service", [posts, { ...posts, xid: 5 }]],
    ["a write without an epoch", [{ ...posts, epoch: undefined }, users]],
    [
      "the first and the last transaction number",
      [
        { ...posts, xid: 0 },
        { ...users, xid: Number.MAX_SAFE_INTEGER },
      ],
    ],
    [
      "services with long names and names that are not ASCII",
      ["a".repeat(255), "b".repeat(300), "Köln", "東京"].map(inService),
    ],
  ])("%s", (_, writes) => {
    expect(receipts.read(receipts.write([], writes))).toEqual(writes);
  });

  test("the written service once, and what the request named of other services", () => {
    const known = receipts.read([receipts.write([], [posts, users]), receipts.write([], [orders])]);
    const newPost = { ...posts, xid: 99 };
    expect(receipts.read(receipts.write(known, [newPost]))).toEqual([users, orders, newPost]);
  });

  test("the new position of the written service, also a lower one: of another epoch, or of a replayed write", () => {
    const replayed = { ...posts, xid: 2 };
    expect(receipts.read(receipts.write([posts, { ...posts, xid: 8 }], [replayed]))).toEqual([replayed]);
  });
});

test("a receipt takes at most 128 bytes for each service with a name of up to 39 bytes", () => {
  const writes = Array.from({ length: 64 }, (_, i) => ({ ...posts, service: `${i}-`.padEnd(39, "x") }));
  for (let count = 1; count <= writes.length; count++) {
    expect(receipts.write([], writes.slice(0, count)).length).toBeLessThanOrEqual(128 * count);
  }
});

describe("several receipts", () => {
  test("each of parallel writes of one service counts: none is dropped for another with a higher number", () => {
    const parallel = [4, 2, 9, 3].map((xid) => ({ ...posts, xid }));
    const list = parallel.map((write) => receipts.write([users], [write]));
    const all = [users, ...parallel];
    expect(receipts.read(list.join(", "))).toEqual(all);
    expect(receipts.read(list)).toEqual(all);
    expect(receipts.read(receipts.write(receipts.read(list), [orders]))).toEqual([...all, orders]);
  });

  test("repeated writes count once, so that the receipts of a long session stay within the limit", () => {
    let known: readonly ServiceWrite[] = [];
    for (let round = 0; round < 20; round++) {
      const parallel = Array.from({ length: 8 }, (_, i) =>
        receipts.write(known, [{ ...posts, service: `service ${round % 6}`, xid: 100 * round + i }]),
      );
      known = receipts.read(parallel);
    }
    expect(known).toHaveLength(48);
  });

  test("there are at most 8, which name at most 64 writes", () => {
    const list = (count: number) =>
      Array<string>(count)
        .fill(receipts.write([], [posts]))
        .join(",");
    expect(receipts.read(list(8))).toEqual([posts]);
    expectUnreadable(list(9));
    const writesOf = (count: number) => Array.from({ length: count }, (_, xid) => ({ ...posts, xid }));
    expect(receipts.read(receipts.write([], writesOf(64)))).toHaveLength(64);
    expectUnreadable(receipts.write([], writesOf(65)));
  });

  test("no header and an empty one name no writes", () => {
    expect(receipts.read(undefined)).toEqual([]);
    expect(receipts.read("")).toEqual([]);
  });
});

describe("keys", () => {
  test("the first encrypts and all decrypt", () => {
    const rotated = createReceipts(["the next key of all", key]);
    expect(rotated.read(receipts.write([], [posts]))).toEqual([posts]);
    expect(createReceipts(["the next key of all"]).read(rotated.write([], [posts]))).toEqual([posts]);
    expectUnreadable(rotated.write([], [posts]));
  });

  test("at least one is required", () => {
    expect(() => createReceipts([])).toThrow("A key for receipts is required.");
  });
});

test("equal writes have different receipts of equal length", () => {
  const texts = Array.from({ length: 100 }, () => receipts.write([], [posts]));
  expect(new Set(texts).size).toBe(100);
  expect(texts.map((text) => text.length)).toEqual(texts.map(() => texts[0]?.length));
});

describe("a text that is not a receipt is rejected:", () => {
  const receipt = receipts.write([], [posts, users]);
  const bytes = Buffer.from(receipt.slice(1, -1), "base64url");

  test("one with any byte altered", () => {
    for (let at = 0; at < bytes.length; at++) {
      for (const mask of [1, 0x80]) {
        const altered = Buffer.from(bytes);
        altered[at] = altered[at]! ^ mask;
        expectUnreadable(`"${altered.toString("base64url")}"`);
      }
    }
  });

  test("one that is cut at either end, or longer", () => {
    for (let length = 0; length < bytes.length; length++) {
      expectUnreadable(`"${bytes.subarray(0, length).toString("base64url")}"`);
      expectUnreadable(`"${bytes.subarray(-length - 1, -1).toString("base64url")}"`);
    }
    expectUnreadable(`"${Buffer.concat([bytes, Buffer.of(0)]).toString("base64url")}"`);
  });

  test.each([
    ["without quotes", receipt.slice(1, -1)],
    ["as bytes", `:${bytes.toString("base64")}:`],
    ["in an inner list", `(${receipt})`],
    ["without a comma", `${receipt} ${receipt}`],
    ["after an empty member", `, ${receipt}`],
    ["before an empty member", `${receipt},`],
    ["not closed", receipt.slice(0, -1)],
    ["beside another text", `${receipt}, "Y29mZmVl"`],
    ["an empty string", '""'],
    ["a megabyte", `"${"a".repeat(1_000_000)}"`],
    ["a receipt in a text of more than 16 KiB", receipt.padEnd(16_385)],
    ["many members", Array<string>(5_000).fill('""').join(",")],
  ])("%s", (_, text) => {
    expectUnreadable(text);
  });

  test("one of a format of a later release", () => {
    expect(receipts.read(encrypt(Buffer.of(1)))).toEqual([]);
    expectUnreadable(encrypt(Buffer.of(2)));
    expectUnreadable(encrypt(Buffer.of(2, 0xff, 0xff, 1)));
    expectUnreadable(encrypt(Buffer.alloc(0)));
  });

  test("any other text, without another error", () => {
    const base64url = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString("base64url"));
    const member = fc.oneof(
      base64url.map((text) => `"${text}"`),
      fc.string(),
      fc.constantFrom('"', "(", ")", ";", ":", "?1", "@1"),
    );
    const list = fc.array(member, { minLength: 1, maxLength: 10 }).map((members) => members.join(", "));
    fc.assert(
      fc.property(fc.oneof(list, fc.string({ unit: "binary" })), (text) => {
        if (text.trim() === "") return;
        expectUnreadable(text);
      }),
      { numRuns: 2_000 },
    );
  });
});

function inService(service: string): ServiceWrite {
  return { ...posts, service };
}

function expectUnreadable(text: string): void {
  let thrown: unknown;
  try {
    receipts.read(text);
  } catch (error) {
    thrown = error;
  }
  expect(thrown, text.slice(0, 200)).toBeInstanceOf(AppError);
  expect((thrown as AppError).code).toBe("MALFORMED_REQUEST");
}

/** A receipt with any content, encrypted with the right key. */
function encrypt(content: Buffer): string {
  const iv = Buffer.alloc(12, 7);
  const cipher = createCipheriv(
    "aes-256-gcm",
    createHash("sha256").update("consistency token").update(key).digest(),
    iv,
  );
  const bytes = Buffer.concat([iv, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  return `"${bytes.toString("base64url")}"`;
}
