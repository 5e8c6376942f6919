import { expect, onTestFinished, test } from "vitest";
import { failuresOf, open, read, stream, textOf, write } from "./calls.ts";
import { type Replica, sayFarewell, silence, start, startReplica } from "./replica.ts";

// Only there are all of 127.0.0.0/8 this machine's own.
test.runIf(process.platform === "linux")("replicas come and go with the addresses of their name", async () => {
  const [first] = await start(1);
  const second = await startReplica({ host: "127.0.0.2", port: first.port });
  onTestFinished(second.kill);
  const clock = { nowMs: 0 };
  let addresses = ["127.0.0.1"];
  const { upstream } = open([`http://service.test:${first.port}`], {
    nowMs: () => clock.nowMs,
    lookup: () => Promise.resolve(addresses),
  });
  const hosts: unknown[] = [];
  first.answer = (response, request) => void response.end(`${hosts.push(request.headers.host)}`);
  const callsAfter = async (next: string[]) => {
    addresses = next;
    clock.nowMs += 5_000;
    await upstream.send(read);
    const before = [first.calls, second.calls] as const;
    await stream(40, 4, () => upstream.send(read));
    return [first.calls - before[0], second.calls - before[1]] as const;
  };
  expect(await callsAfter(["127.0.0.1"])).toEqual([40, 0]);
  const [some, others] = await callsAfter(["127.0.0.1", "127.0.0.2"]);
  expect(Math.min(some, others)).toBeGreaterThan(5);
  // The second of two requests goes where nothing is under way: one of them is held by the first replica.
  const arrived = silence(first);
  const both = [upstream.send(read), upstream.send(read)];
  const answer = await arrived;
  await Promise.race(both);
  expect(await callsAfter(["127.0.0.2"])).toEqual([0, 40]);
  answer.end("still there");
  expect((await Promise.all(both)).map(textOf)).toContain("still there");
  expect(new Set(hosts)).toEqual(new Set([`service.test:${first.port}`]));
});

test.runIf(process.platform === "linux").each([
  ["takes its leave", (replica: Replica) => (replica.answer = sayFarewell)],
  ["is gone", (replica: Replica) => replica.kill()],
])("when a replica %s, the name is looked up again before its time", async (_, go) => {
  const [old] = await start(1);
  const successor = await startReplica({ host: "127.0.0.2", port: old.port });
  onTestFinished(successor.kill);
  const clock = { nowMs: 0 };
  let addresses = ["127.0.0.1"];
  const lookup = () => Promise.resolve(addresses);
  const { upstream } = open([`http://service.test:${old.port}`], { nowMs: () => clock.nowMs, lookup });
  await upstream.send(read);
  await go(old);
  addresses = ["127.0.0.2"];
  await upstream.send(read);
  clock.nowMs = 1_000;
  await upstream.send(read);
  expect(failuresOf(await stream(10, 1, () => upstream.send(write)))).toEqual([]);
  expect(successor.calls).toBeGreaterThanOrEqual(10);
});

test.runIf(process.platform === "linux")("one that is left out and whose address goes is told gone", async () => {
  const [gone] = await start(1);
  const staying = await startReplica({ host: "127.0.0.2", port: gone.port });
  onTestFinished(staying.kill);
  const clock = { nowMs: 0 };
  let addresses = ["127.0.0.1", "127.0.0.2"];
  const options = { nowMs: () => clock.nowMs, lookup: () => Promise.resolve(addresses), random: () => 0 };
  const { upstream, seen } = open([`http://service.test:${gone.port}`], options);
  await gone.kill();
  await stream(5, 1, () => upstream.send(read));
  addresses = ["127.0.0.2"];
  clock.nowMs = 1_000;
  await stream(5, 1, () => upstream.send(write));
  const kinds = seen.map(({ kind }) => kind).filter((kind) => kind !== "retried");
  expect(kinds).toEqual(["replica-ejected", "replica-gone"]);
});

test("a name without any address is refused, and seen", async () => {
  const { upstream, seen } = open(["http://service.test"], { lookup: () => Promise.reject(new Error("ENOTFOUND")) });
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
  expect(seen).toEqual([{ kind: "lookup-failed", host: "service.test", cause: expect.any(Error) }]);
});

test("the machine's own lookup finds localhost, by whichever family somebody listens", async () => {
  const [replica] = await start(1);
  const { upstream } = open([`http://localhost:${replica.port}`]);
  expect(failuresOf(await stream(10, 1, () => upstream.send(write)))).toEqual([]);
});
