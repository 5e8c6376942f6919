import { expect, test } from "vitest";
import { holdResponse, open, outcomeOf, read, startReplica, stream, transports } from "./replicas.ts";

// Only Linux routes all of 127.0.0.0/8 to the machine itself.
test.runIf(process.platform === "linux").each(transports)(
  "%s: replicas are added and removed with the addresses of their name, and requests in flight end where they started",
  async (transport) => {
    const first = await startReplica();
    const second = await startReplica(undefined, { host: "127.0.0.2", port: first.port });
    const clock = { nowMs: 0 };
    let addresses = ["127.0.0.1"];
    const { client } = open([`http://service.test:${first.port}`], {
      nowMs: () => clock.nowMs,
      resolveHost: () => Promise.resolve(addresses),
    });
    const send = () => outcomeOf(client[transport](read));
    const requestsAfter = async (next: string[]) => {
      addresses = next;
      clock.nowMs += 5_000;
      await send();
      const before = [first.requests, second.requests] as const;
      await stream(40, 4, send);
      return [first.requests - before[0], second.requests - before[1]] as const;
    };
    const hosts = new Set<string | undefined>();
    first.respond = (response, request) => {
      hosts.add(request.headers.host);
      response.end("ok");
    };
    expect(await requestsAfter(["127.0.0.1"])).toEqual([40, 0]);
    expect(hosts).toEqual(new Set([`service.test:${first.port}`]));
    const [toFirst, toSecond] = await requestsAfter(["127.0.0.1", "127.0.0.2"]);
    expect(Math.min(toFirst, toSecond)).toBeGreaterThan(5);
    // Of two concurrent requests one goes to each replica: the first replica holds its response.
    const arrived = holdResponse(first);
    const both = [send(), send()];
    const response = await arrived;
    await Promise.race(both);
    expect(await requestsAfter(["127.0.0.2"])).toEqual([0, 40]);
    response.end("from the removed replica");
    expect(await Promise.all(both)).toContain("200 from the removed replica");
  },
);

test.each(transports)("%s: a service whose name has no address is a bad gateway", async (transport) => {
  const { client, seen } = open(["http://service.test"], { resolveHost: () => Promise.reject(new Error("ENOTFOUND")) });
  expect(await outcomeOf(client[transport](read))).toBe("BAD_GATEWAY");
  expect(seen).toMatchObject([{ kind: "lookup-failed", host: "service.test", service: "things" }]);
});

test.each(transports)("%s: an IPv6 address works, and is sent in Host with its brackets", async (transport) => {
  const replica = await startReplica((response, request) => void response.end(request.headers.host), { host: "::1" });
  const { client } = open([`http://[::1]:${replica.port}`]);
  expect(await outcomeOf(client[transport](read))).toBe(`200 [::1]:${replica.port}`);
});
