import { expect, test } from "vitest";
import { createAddressBook, type ResolveHost, type ReplicaAddress } from "./addresses.ts";

function setUp(
  urls: readonly string[],
  resolveHost: ResolveHost = () => Promise.reject(new Error("unexpected lookup")),
) {
  const clock = { nowMs: 0 };
  const lookups: string[] = [];
  const failed: string[] = [];
  let replicas: readonly ReplicaAddress[] = [];
  const book = createAddressBook({
    urls,
    resolveHost: (host) => {
      lookups.push(host);
      return resolveHost(host);
    },
    resolveEveryMs: 5_000,
    nowMs: () => clock.nowMs,
    onResolved: (resolved) => void (replicas = resolved),
    onLookupFailed: (host) => void failed.push(host),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, lookups, failed, book, settle, names: () => replicas.map(({ name }) => name), all: () => replicas };
}

test("each address in the URLs is one replica, without a lookup", () => {
  const { lookups, book, all } = setUp([
    "http://10.0.0.1:1/graphql?a=b",
    "http://[::1]:2",
    "http://10.0.0.1:1/graphql?a=b",
  ]);
  expect(book.refresh()).toBeUndefined();
  expect(lookups).toEqual([]);
  expect(all()).toEqual([
    { name: "http://10.0.0.1:1/graphql?a=b", origin: "http://10.0.0.1:1", path: "/graphql?a=b", addresses: [] },
    { name: "http://[::1]:2/", origin: "http://[::1]:2", path: "/", addresses: [] },
  ]);
});

test("each address of a name is a replica that keeps the name's origin", async () => {
  const { book, all } = setUp(["http://posts:4003/graphql"], () => Promise.resolve(["10.0.0.1", "10.0.0.2"]));
  await book.refresh();
  expect(all()).toMatchObject([
    { origin: "http://posts:4003", path: "/graphql", addresses: ["10.0.0.1"] },
    { origin: "http://posts:4003", path: "/graphql", addresses: ["10.0.0.2"] },
  ]);
});

test("a name with addresses of both families has replicas of the preferred one, with the other one as a fallback", async () => {
  const { book, all } = setUp(["http://localhost:1"], () => Promise.resolve(["::1", "127.0.0.1"]));
  await book.refresh();
  expect(all().map(({ addresses }) => addresses)).toEqual([["::1", "127.0.0.1"]]);
});

test("only the first lookup is awaited, later ones run in the background and at intervals", async () => {
  let addresses = ["10.0.0.1"];
  const { clock, lookups, book, settle, names } = setUp(["http://posts"], () => Promise.resolve(addresses));
  await book.refresh();
  addresses = ["10.0.0.2", "10.0.0.3"];
  clock.nowMs = 4_999;
  expect(book.refresh()).toBeUndefined();
  expect(lookups).toHaveLength(1);
  clock.nowMs = 5_000;
  expect([book.refresh(), book.refresh()]).toEqual([undefined, undefined]);
  await settle();
  expect(lookups).toHaveLength(2);
  expect(names()).toEqual(["http://posts/ (10.0.0.2)", "http://posts/ (10.0.0.3)"]);
});

test("refreshSoon starts the next lookup a second after the last one, and no sooner", async () => {
  const { clock, lookups, book, settle } = setUp(["http://posts"], () => Promise.resolve(["10.0.0.1"]));
  await book.refresh();
  clock.nowMs = 999;
  book.refreshSoon();
  void book.refresh();
  expect(lookups).toHaveLength(1);
  clock.nowMs = 1_000;
  void book.refresh();
  await settle();
  expect(lookups).toHaveLength(2);
  clock.nowMs = 5_999;
  void book.refresh();
  expect(lookups).toHaveLength(2);
});

test("no request waits for a lookup while another address is known", () => {
  const { lookups, book } = setUp(["http://10.0.0.1", "http://posts"]);
  expect(book.refresh()).toBeUndefined();
  expect(lookups).toEqual(["posts"]);
});

test("a name whose lookup fails keeps its addresses, and is looked up again after a second", async () => {
  let respond: () => Promise<readonly string[]> = () => Promise.resolve(["10.0.0.1"]);
  const { clock, lookups, failed, book, settle, names } = setUp(["http://posts"], () => respond());
  await book.refresh();
  for (const broken of [() => Promise.reject(new Error("SERVFAIL")), () => Promise.resolve([])]) {
    respond = broken;
    clock.nowMs += 5_000;
    void book.refresh();
    await settle();
  }
  expect(names()).toEqual(["http://posts/ (10.0.0.1)"]);
  expect(failed).toEqual(["posts", "posts"]);
  clock.nowMs += 1_000;
  void book.refresh();
  expect(lookups).toHaveLength(4);
});

test("a name without an address is looked up once a second, not for every request", async () => {
  const { clock, lookups, book, names } = setUp(["http://posts"]);
  await book.refresh();
  clock.nowMs = 999;
  expect(book.refresh()).toBeUndefined();
  expect(names()).toEqual([]);
  clock.nowMs = 1_000;
  await book.refresh();
  expect(lookups).toHaveLength(2);
});
