import { expect, test } from "vitest";
import { toEntry, toStoredHead, type Entry } from "./entry.ts";
import { Store } from "./store.ts";

const limits = { bytesMax: 1_000_000, entryBytesMax: 100_000, entriesMax: 100, variantsMax: 3 };
const none = () => undefined;

interface EntryOptions {
  readonly language?: string;
  readonly bytes?: number;
  readonly groups?: string;
  readonly position?: number;
  readonly origin?: string;
  readonly etag?: string;
}

function entry(key: string, o: EntryOptions = {}): Entry {
  const headers = ["Cache-Control", "max-age=60", "Cache-Groups", o.groups ?? ""];
  if (o.etag) headers.push("ETag", o.etag);
  if (o.language) headers.push("Vary", "Accept-Language");
  const received = {
    status: 200,
    headers,
    requestedAtMs: 0,
    receivedAtMs: 0,
    wasAuthorized: false,
    varyValueOf: () => o.language,
  };
  const head = toStoredHead(received);
  if (!head) throw new Error("not storable");
  return toEntry({ origin: o.origin ?? "test", key, position: o.position ?? 0 }, head, Buffer.alloc(o.bytes ?? 10));
}

function setUp(o: Partial<typeof limits> = {}) {
  const evicted: string[] = [];
  const store = new Store({ ...limits, ...o }, ({ key }) => evicted.push(key));
  return { store, evicted };
}

test("a response with the same Vary key replaces the old one", () => {
  const { store } = setUp();
  store.put(entry("/a"));
  const second = entry("/a");
  store.put(second);
  expect(store.find("/a", none)).toBe(second);
  expect(store.entries).toBe(1);
  expect(store.bytes).toBe(second.bytes);
});

test("variants of one key are stored together, and the oldest is evicted beyond the limit", () => {
  const { store, evicted } = setUp();
  const english = entry("/a", { language: "en" });
  for (const variant of [english, entry("/a", { language: "de" }), entry("/a", { language: "fr" })]) store.put(variant);
  expect(store.find("/a", () => "en")).toBe(english);
  expect(store.find("/a", () => "it")).toBeUndefined();
  store.put(entry("/a", { language: "it" }));
  expect(store.find("/a", () => "en")).toBeUndefined();
  expect(evicted).toEqual(["/a"]);
});

test("a later request for one variant rejects earlier responses of that variant, not those of another", () => {
  const { store } = setUp();
  store.put(entry("/a", { language: "en", position: 1 }));
  expect(store.put(entry("/a", { language: "de", position: 0 }))).toBe(true);
  expect(store.find("/a", () => "de")).toBeDefined();
  expect(store.put(entry("/a", { language: "en", position: 0 }))).toBe(false);
  // Without `Vary`, the same requests select it.
  expect(store.put(entry("/a", { position: 0 }))).toBe(false);
});

test("a new response is stored however often all others are used", () => {
  const { store, evicted } = setUp({ entriesMax: 2 });
  for (const key of ["/a", "/b"]) store.put(entry(key));
  for (const key of ["/a", "/b"]) store.find(key, none);
  store.put(entry("/c"));
  expect(evicted).toEqual(["/a"]);
  store.put(entry("/d"));
  expect(evicted).toEqual(["/a", "/b"]);
});

test("a key that was used is evicted after one that was not", () => {
  const { store, evicted } = setUp({ entriesMax: 2 });
  for (const key of ["/a", "/b"]) store.put(entry(key));
  store.find("/a", none);
  store.put(entry("/c"));
  expect(evicted).toEqual(["/b"]);
});

test("many keys stay within the limit of bytes", () => {
  const bytesMax = 50_000;
  const { store, evicted } = setUp({ bytesMax, entriesMax: 1_000_000 });
  for (let at = 0; at < 1_000; at++) {
    store.put(entry(`/${at}`, { bytes: at % 3_000, groups: `"g${at % 7}"` }));
    expect(store.bytes).toBeLessThanOrEqual(bytesMax);
  }
  expect(evicted.length + store.entries).toBe(1_000);
  expect(store.find("/999", none)).toBeDefined();
});

test("a response that is too large is not stored, and the old one is removed", () => {
  const { store } = setUp();
  store.put(entry("/a"));
  expect(store.put(entry("/a", { bytes: 100_001 }))).toBe(false);
  expect(store.find("/a", none)).toBeUndefined();
  expect(store.bytes).toBe(0);
});

test("invalidating a group invalidates all its members and nothing else (RFC 9875, 2)", () => {
  const { store } = setUp();
  store.put(entry("/a", { groups: '"x", "y"', etag: '"1"' }));
  store.put(entry("/b", { groups: '"y"', etag: '"1"' }));
  store.put(entry("/c", { groups: '"z"', etag: '"1"' }));
  expect(store.invalidateGroup("y")).toBe(2);
  expect(store.invalidateGroup("x")).toBe(0);
  expect(["/a", "/b", "/c"].map((key) => store.find(key, none)?.isInvalidated)).toEqual([true, true, false]);
  expect(store.invalidateKey("/c")).toBe(1);
  expect(store.find("/c", none)?.isInvalidated).toBe(true);
});

test("invalidating a group of one origin does not affect the responses of another", () => {
  const { store } = setUp();
  store.put(entry("/a", { origin: "one", groups: '"x"', etag: '"1"' }));
  store.put(entry("/b", { origin: "two", groups: '"x"', etag: '"1"' }));
  expect(store.invalidateGroup("x", "one")).toBe(1);
  expect(["/a", "/b"].map((key) => store.find(key, none)?.isInvalidated)).toEqual([true, false]);
});

test("removing an origin removes all its responses, also those that are invalidated, and no others", () => {
  const { store } = setUp();
  store.put(entry("/a", { origin: "one", etag: '"1"' }));
  store.put(entry("/b", { origin: "two", etag: '"1"' }));
  store.put(entry("/c", { origin: "one", etag: '"1"' }));
  store.invalidateKey("/c");
  expect(store.removeOrigin("one")).toBe(1);
  expect(["/a", "/b", "/c"].map((key) => store.find(key, none)?.isInvalidated)).toEqual([undefined, false, undefined]);
});

test("an invalidated response without a strong validator is removed, since a 304 could confirm the old state", () => {
  const { store } = setUp();
  for (const [key, etag] of Object.entries({ "/none": undefined, "/weak": 'W/"1"', "/strong": '"1"' })) {
    store.put(entry(key, etag === undefined ? {} : { etag }));
    expect(store.invalidateKey(key)).toBe(1);
  }
  expect(["/none", "/weak", "/strong"].map((key) => store.find(key, none) !== undefined)).toEqual([false, false, true]);
});
