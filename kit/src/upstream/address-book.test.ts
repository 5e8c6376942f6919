import { expect, test } from "vitest";
import { createAddressBook, type Lookup, type ReplicaAddress } from "./address-book.ts";

function setUp(urls: readonly string[], lookup: Lookup = () => Promise.reject(new Error("asked"))) {
  const clock = { nowMs: 0 };
  const asked: string[] = [];
  const failed: string[] = [];
  let replicas: readonly ReplicaAddress[] = [];
  const book = createAddressBook({
    urls,
    lookup: (host) => {
      asked.push(host);
      return lookup(host);
    },
    resolveEveryMs: 5_000,
    nowMs: () => clock.nowMs,
    onChanged: (changed) => void (replicas = changed),
    onLookupFailed: (host) => void failed.push(host),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, asked, failed, book, settle, names: () => replicas.map(({ name }) => name), all: () => replicas };
}

test("addresses in URLs are replicas as they are, each once, and nobody is asked", () => {
  const { asked, book, all } = setUp([
    "http://10.0.0.1:1/graphql?a=b",
    "http://[::1]:2",
    "http://10.0.0.1:1/graphql?a=b",
  ]);
  expect(book.refresh()).toBeUndefined();
  expect(asked).toEqual([]);
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

test("a name with addresses of both families is one set of machines, the other family a way to fall back", async () => {
  const { book, all } = setUp(["http://localhost:1"], () => Promise.resolve(["::1", "127.0.0.1"]));
  await book.refresh();
  expect(all().map(({ addresses }) => addresses)).toEqual([["::1", "127.0.0.1"]]);
});

test("only the first lookup is waited for, later ones run aside and at intervals", async () => {
  let addresses = ["10.0.0.1"];
  const { clock, asked, book, settle, names } = setUp(["http://posts"], () => Promise.resolve(addresses));
  await book.refresh();
  addresses = ["10.0.0.2", "10.0.0.3"];
  clock.nowMs = 4_999;
  expect(book.refresh()).toBeUndefined();
  expect(asked).toHaveLength(1);
  clock.nowMs = 5_000;
  expect([book.refresh(), book.refresh()]).toEqual([undefined, undefined]);
  await settle();
  expect(asked).toHaveLength(2);
  expect(names()).toEqual(["http://posts/ (10.0.0.2)", "http://posts/ (10.0.0.3)"]);
});

test("in a hurry a name is asked for again after a second, and no sooner", async () => {
  const { clock, asked, book, settle } = setUp(["http://posts"], () => Promise.resolve(["10.0.0.1"]));
  await book.refresh();
  clock.nowMs = 999;
  book.hurry();
  void book.refresh();
  expect(asked).toHaveLength(1);
  clock.nowMs = 1_000;
  void book.refresh();
  await settle();
  expect(asked).toHaveLength(2);
  clock.nowMs = 5_999;
  void book.refresh();
  expect(asked).toHaveLength(2);
});

test("nobody waits for a name while there is an address beside it", () => {
  const { asked, book } = setUp(["http://10.0.0.1", "http://posts"]);
  expect(book.refresh()).toBeUndefined();
  expect(asked).toEqual(["posts"]);
});

test("a name that cannot be looked up any more keeps its addresses and is asked again soon", async () => {
  let answer: () => Promise<readonly string[]> = () => Promise.resolve(["10.0.0.1"]);
  const { clock, asked, failed, book, settle, names } = setUp(["http://posts"], () => answer());
  await book.refresh();
  for (const broken of [() => Promise.reject(new Error("SERVFAIL")), () => Promise.resolve([])]) {
    answer = broken;
    clock.nowMs += 5_000;
    void book.refresh();
    await settle();
  }
  expect(names()).toEqual(["http://posts/ (10.0.0.1)"]);
  expect(failed).toEqual(["posts", "posts"]);
  clock.nowMs += 1_000;
  void book.refresh();
  expect(asked).toHaveLength(4);
});

test("a name that was never found is not asked for by every request", async () => {
  const { clock, asked, book, names } = setUp(["http://posts"]);
  await book.refresh();
  clock.nowMs = 999;
  expect(book.refresh()).toBeUndefined();
  expect(names()).toEqual([]);
  clock.nowMs = 1_000;
  await book.refresh();
  expect(asked).toHaveLength(2);
});
