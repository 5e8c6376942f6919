import { expect, onTestFinished, test } from "vitest";
import { failuresOf, open, read, stream, textOf, write } from "./requests.ts";
import { holdResponse, type ReplicaServer, respondAndClose, start, startReplica } from "./replica.ts";

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
      await stream(40, 4, () => upstream.send(read));
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
  expect(failuresOf(await stream(10, 1, () => upstream.send(write)))).toEqual([]);
  expect(successor.requests).toBeGreaterThanOrEqual(10);
});

test.runIf(process.platform === "linux")(
  "an ejected replica whose address is removed is reported as gone",
  async () => {
    const [removed] = await start(1);
    const remaining = await startReplica({ host: "127.0.0.2", port: removed.port });
    onTestFinished(remaining.kill);
    const clock = { nowMs: 0 };
    let addresses = ["127.0.0.1", "127.0.0.2"];
    const options = { nowMs: () => clock.nowMs, resolveHost: () => Promise.resolve(addresses), random: () => 0 };
    const { upstream, seen } = open([`http://service.test:${removed.port}`], options);
    await removed.kill();
    await stream(5, 1, () => upstream.send(read));
    addresses = ["127.0.0.2"];
    clock.nowMs = 1_000;
    await stream(5, 1, () => upstream.send(write));
    const kinds = seen.map(({ kind }) => kind).filter((kind) => kind !== "retried");
    expect(kinds).toEqual(["replica-ejected", "replica-removed"]);
  },
);

test("a request to a name without an address is refused, and the lookup reported", async () => {
  const { upstream, seen } = open(["http://service.test"], {
    resolveHost: () => Promise.reject(new Error("ENOTFOUND")),
  });
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
  expect(seen).toEqual([{ kind: "lookup-failed", host: "service.test", cause: expect.any(Error) }]);
});

test("the operating system finds localhost, whichever address family the replica listens on", async () => {
  const [replica] = await start(1);
  const { upstream } = open([`http://localhost:${replica.port}`]);
  expect(failuresOf(await stream(10, 1, () => upstream.send(write)))).toEqual([]);
});
