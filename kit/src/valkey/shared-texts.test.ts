import { createHash } from "node:crypto";
import { Valkey } from "iovalkey";
import { expect, onTestFinished, test as vitestTest } from "vitest";
import { findStoreProgram, startStoreServer } from "../testing/store-server.ts";
import { createSharedTexts, type SharedTexts } from "./shared-texts.ts";

const program = findStoreProgram();
const test = vitestTest.skipIf(program === undefined);
vitestTest.runIf(program === undefined)(
  "skipped: install Debian's redis-server or valkey-server to run these tests",
  () => {},
);

const text = "{ books { title } }";
const hash = sha256(text);

test("a text that one process stores is found by another, and expires within a day", async () => {
  const { first, second, store } = await start();
  expect(await second.find(hash)).toBeUndefined();
  await untilStored(first, text);
  expect(await second.find(hash)).toBe(text);
  const ttlSeconds = await store.ttl(keyOf(hash));
  expect([ttlSeconds > 0, ttlSeconds <= 86_400]).toEqual([true, true]);
});

test("a text that does not have the hash is not found, although the store has it", async () => {
  const { first, second, store } = await start();
  await untilStored(first, text);
  await store.set(keyOf(hash), "{ books { price } }");
  expect(await second.find(hash)).toBeUndefined();
});

test("however many texts are stored, the store has one for each place, and none that is too long", async () => {
  const { first, store } = await start();
  const texts = Array.from({ length: 300 }, (_, index) => `{ book(isbn: "${index}") { title } }`);
  for (const each of texts) await untilStored(first, each);
  const places = new Set(texts.map((each) => sha256(each).slice(0, 3)));
  expect(places.size).toBeLessThan(texts.length);
  expect(await store.dbsize()).toBe(places.size);
  const long = `{ ${"x".repeat(8_192)} }`;
  first.store(sha256(long), long);
  await untilStored(first, text);
  expect(await store.exists(keyOf(sha256(long)))).toBe(0);
});

test("while the store is frozen or down nothing is found, and nothing fails", async () => {
  const { first, server } = await start();
  await untilStored(first, text);
  server.freeze(true);
  for (let call = 0; call < 3; call++) expect(await first.find(hash)).toBeUndefined();
  server.freeze(false);
  await expect.poll(() => first.find(hash)).toBe(text);
  await server.kill();
  first.store(hash, text);
  expect(await first.find(hash)).toBeUndefined();
  await server.start();
  await untilStored(first, text);
});

async function start() {
  const server = await startStoreServer(program ?? "valkey-server");
  const store = new Valkey(server.url);
  store.on("error", () => {});
  const [first, second] = [1, 2].map(() => createSharedTexts(server.url, undefined, "texts")) as [
    SharedTexts,
    SharedTexts,
  ];
  onTestFinished(async () => {
    first.close();
    second.close();
    store.disconnect();
    await server.kill();
  });
  await untilStored(second, "{ connected }");
  await store.flushall();
  return { server, store, first, second };
}

/** Stores nothing before it is connected. */
async function untilStored(texts: SharedTexts, each: string): Promise<void> {
  await expect
    .poll(() => {
      texts.store(sha256(each), each);
      return texts.find(sha256(each));
    })
    .toBe(each);
}

function keyOf(of: string): string {
  return `texts:${of.slice(0, 3)}`;
}

function sha256(of: string): string {
  return createHash("sha256").update(of).digest("hex");
}
