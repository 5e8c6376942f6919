import { expect, test } from "vitest";
import { open, outcomeOf, read, silence, startReplica, stream, ways } from "./asking.ts";

// Only there are all of 127.0.0.0/8 this machine's own.
test.runIf(process.platform === "linux").each(ways)(
  "%s: replicas come and go with the addresses of their name, and what is under way ends where it began",
  async (way) => {
    const first = await startReplica();
    const second = await startReplica(undefined, { host: "127.0.0.2", port: first.port });
    const clock = { nowMs: 0 };
    let addresses = ["127.0.0.1"];
    const { passage } = open([`http://service.test:${first.port}`], {
      nowMs: () => clock.nowMs,
      lookup: () => Promise.resolve(addresses),
    });
    const ask = () => outcomeOf(passage[way](read));
    const callsAfter = async (next: string[]) => {
      addresses = next;
      clock.nowMs += 5_000;
      await ask();
      const before = [first.calls, second.calls] as const;
      await stream(40, 4, ask);
      return [first.calls - before[0], second.calls - before[1]] as const;
    };
    const hosts = new Set<string | undefined>();
    first.answer = (response, request) => {
      hosts.add(request.headers.host);
      response.end("ok");
    };
    expect(await callsAfter(["127.0.0.1"])).toEqual([40, 0]);
    expect(hosts).toEqual(new Set([`service.test:${first.port}`]));
    const [some, others] = await callsAfter(["127.0.0.1", "127.0.0.2"]);
    expect(Math.min(some, others)).toBeGreaterThan(5);
    // The second of two goes where nothing is under way: one of them is held by the first replica.
    const arrived = silence(first);
    const both = [ask(), ask()];
    const answer = await arrived;
    await Promise.race(both);
    expect(await callsAfter(["127.0.0.2"])).toEqual([0, 40]);
    answer.end("still there");
    expect(await Promise.all(both)).toContain("200 still there");
  },
);

test.each(ways)("%s: a name without any address is a service that is down", async (way) => {
  const { passage, seen } = open(["http://service.test"], { lookup: () => Promise.reject(new Error("ENOTFOUND")) });
  expect(await outcomeOf(passage[way](read))).toBe("BAD_GATEWAY");
  expect(seen).toMatchObject([{ kind: "lookup-failed", host: "service.test", service: "things" }]);
});

test.each(ways)("%s: an address of IPv6 is asked, and named in Host with its brackets", async (way) => {
  const replica = await startReplica((response, request) => void response.end(request.headers.host), { host: "::1" });
  const { passage } = open([`http://[::1]:${replica.port}`]);
  expect(await outcomeOf(passage[way](read))).toBe(`200 [::1]:${replica.port}`);
});
