import { expect, onTestFinished, test } from "vitest";
import { createAddressBook, type ResolveHost, type ReplicaAddress } from "../../src/upstream/addresses.ts";
import { holdResponse, type ReplicaServer, respondAndClose, start, startReplica } from "./replica.ts";
import { failuresOf, open, read, sendRequests, textOf, write } from "./requests.ts";

// Only Linux routes all of 127.0.0.0/8 to the machine itself.
test.runIf(process.platform === "linux")(
  "replicas are added and removed with the addresses of their name",
  async () => {
    const [first] = await start(1);
    const second = await startReplica({ host: "127.0.0.2", port: first.port });
    onTestFinished(second.kill);
    const clock = { nowMs: 0 };
    let addresses = ["127.0.0.1"];
    const { upstream } = open([`http://service.test:${first.port}`], {
      nowMs: () => clock.nowMs,
      resolveHost: () => Promise.resolve(addresses),
    });
    const hosts: unknown[] = [];
    first.respond = (response, request) => void response.end(`${hosts.push(request.headers.host)}`);
    const requestsAfter = async (next: string[]) => {
      addresses = next;
      clock.nowMs += 5_000;
      await upstream.send(read);
      const before = [first.requests, second.requests] as const;
      await sendRequests(40, 4, () => upstream.send(read));
      return [first.requests - before[0], second.requests - before[1]] as const;
    };
    expect(await requestsAfter(["127.0.0.1"])).toEqual([40, 0]);
    const [toFirst, toSecond] = await requestsAfter(["127.0.0.1", "127.0.0.2"]);
    expect(Math.min(toFirst, toSecond)).toBeGreaterThan(5);
    // Of two concurrent requests one goes to each replica: the first replica holds its response.
    const arrived = holdResponse(first);
    const both = [upstream.send(read), upstream.send(read)];
    const response = await arrived;
    await Promise.race(both);
    expect(await requestsAfter(["127.0.0.2"])).toEqual([0, 40]);
    response.end("from the removed replica");
    expect((await Promise.all(both)).map(textOf)).toContain("from the removed replica");
    expect(new Set(hosts)).toEqual(new Set([`service.test:${first.port}`]));
  },
);

test.runIf(process.platform === "linux").each([
  ["is draining", (replica: ReplicaServer) => (replica.respond = respondAndClose)],
  ["is killed", (replica: ReplicaServer) => replica.kill()],
])("when a replica %s, the name is looked up again before its time", async (_, stop) => {
  const [old] = await start(1);
  const successor = await startReplica({ host: "127.0.0.2", port: old.port });
  onTestFinished(successor.kill);
  const clock = { nowMs: 0 };
  let addresses = ["127.0.0.1"];
  const resolveHost = () => Promise.resolve(addresses);
  const { upstream } = open([`http://service.test:${old.port}`], { nowMs: () => clock.nowMs, resolveHost });
  await upstream.send(read);
  await stop(old);
  addresses = ["127.0.0.2"];
  await upstream.send(read);
  clock.nowMs = 1_000;
  await upstream.send(read);
  expect(failuresOf(await sendRequests(10, 1, () => upstream.send(write)))).toEqual([]);
  expect(successor.requests).toBeGreaterThanOrEqual(10);
});

test("a request to a name without an address is refused, and the lookup reported", async () => {
  const { upstream, seen } = open(["http://service.test"], {
    resolveHost: () => Promise.reject(new Error("ENOTFOUND")),
  });
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
  expect(seen).toEqual([{ kind: "dns-lookup-failed", host: "service.test", cause: expect.any(Error) }]);
});

test("the operating system finds localhost, whichever address family the replica listens on", async () => {
  const [replica] = await start(1);
  const { upstream } = open([`http://localhost:${replica.port}`]);
  expect(failuresOf(await sendRequests(10, 1, () => upstream.send(write)))).toEqual([]);
});

function openBook(
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
  const { lookups, book, all } = openBook([
    "http://10.0.0.1:1/graphql?a=b",
    "http://[::1]:2",
    "http://10.0.0.1:1/graphql?a=b",
    "HTTP://[0::1]:2/",
  ]);
  expect(book.refresh()).toBeUndefined();
  expect(lookups).toEqual([]);
  expect(all()).toEqual([
    { name: "http://10.0.0.1:1/graphql", origin: "http://10.0.0.1:1", path: "/graphql?a=b", addresses: [] },
    { name: "http://[::1]:2/", origin: "http://[::1]:2", path: "/", addresses: [] },
  ]);
});

test("each address of a name is a replica that keeps the name's origin", async () => {
  const { book, all } = openBook(["http://posts:4003/graphql"], () => Promise.resolve(["10.0.0.1", "10.0.0.2"]));
  await book.refresh();
  expect(all()).toMatchObject([
    { origin: "http://posts:4003", path: "/graphql", addresses: ["10.0.0.1"] },
    { origin: "http://posts:4003", path: "/graphql", addresses: ["10.0.0.2"] },
  ]);
});

test("a name with addresses of both families has replicas of the preferred one, with the other one as a fallback", async () => {
  const { book, all } = openBook(["http://localhost:1"], () => Promise.resolve(["::1", "127.0.0.1"]));
  await book.refresh();
  expect(all().map(({ addresses }) => addresses)).toEqual([["::1", "127.0.0.1"]]);
});

test("only the first lookup is awaited, later ones run in the background and at intervals", async () => {
  let addresses = ["10.0.0.1"];
  const { clock, lookups, book, settle, names } = openBook(["http://posts"], () => Promise.resolve(addresses));
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

test("the name of a replica, which is logged, has no user, password and query", async () => {
  const urls = ["http://user:secret@posts/a?b=1", "https://user:secret@10.0.0.2/"];
  const { book, settle, names } = openBook(urls, () => Promise.resolve(["10.0.0.1"]));
  void book.refresh();
  await settle();
  expect(names()).toEqual(["http://posts/a (10.0.0.1)", "https://10.0.0.2/"]);
});

test("refreshSoon starts the next lookup a second after the last one, and no sooner", async () => {
  const { clock, lookups, book, settle } = openBook(["http://posts"], () => Promise.resolve(["10.0.0.1"]));
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

test("a name whose lookup hangs delays no other name", async () => {
  const { book, settle, names } = openBook(["http://posts", "http://hanging"], (host) =>
    host === "posts" ? Promise.resolve(["10.0.0.1"]) : new Promise(() => {}),
  );
  void book.refresh();
  await settle();
  expect(names()).toEqual(["http://posts/ (10.0.0.1)"]);
  expect(book.refresh()).toBeUndefined();
});

test("no request waits for a lookup while another address is known", () => {
  const { lookups, book } = openBook(["http://10.0.0.1", "http://posts"]);
  expect(book.refresh()).toBeUndefined();
  expect(lookups).toEqual(["posts"]);
});

test("a name whose lookup fails keeps its addresses, and is looked up again after a second", async () => {
  let respond: () => Promise<readonly string[]> = () => Promise.resolve(["10.0.0.1"]);
  const { clock, lookups, failed, book, settle, names } = openBook(["http://posts"], () => respond());
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
  const { clock, lookups, book, names } = openBook(["http://posts"]);
  await book.refresh();
  clock.nowMs = 999;
  expect(book.refresh()).toBeUndefined();
  expect(names()).toEqual([]);
  clock.nowMs = 1_000;
  await book.refresh();
  expect(lookups).toHaveLength(2);
});
