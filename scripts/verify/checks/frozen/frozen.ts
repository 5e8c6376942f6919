// Freezes one of two replicas under reads, then both: it accepts connections and never responds, as a process that is deadlocked or swapped out.
import { setTimeout as sleep } from "node:timers/promises";
import { replicaOf, startPlatform } from "../../platform/platform.ts";
import { createHttpClient, findResponseProblem } from "../../traffic/http-client.ts";
import { describeLoad, type LoadReport, startLoad } from "../../traffic/open-loop.ts";
import { userAt } from "../../traffic/seeded.ts";
import { defineVerification } from "../../verification.ts";
import { verifyAllFrozen } from "./all-frozen.ts";
import { createGet, createQuery } from "./reads.ts";

/** Reads that may fail per endpoint. Without a deadline per attempt 16 of 1,320 failed, each after 10 s. */
const failuresMax = 3;
const avoidedAfterMs = 2_000;
/** An attempt at a replica that does not respond ends after 450 ms or later (kit/src/upstream/attempt-timer.ts). */
const slowMs = 400;
/** The probes of the replica are reads, too. */
const slowShareMax = 0.02;
/** More than the latencies from which the deadline of an attempt follows (kit/src/upstream/latency-window.ts): the first responses are slow. */
const warmUpReads = 300;
const settleMs = 3_000;

/** Each user is read once in 1,000 requests, so the REST proxy's cache serves few of them. */
const endpoints = {
  gateway: { createRequest: createQuery },
  "rest-proxy": { createRequest: createGet },
} as const;

export const frozen = defineVerification({
  name: "frozen",
  summary: "almost no read fails when a replica stops responding without closing its connections",
  description: `Starts two replicas of users, the gateway and the REST proxy, and reads users through both at a fixed rate. Then it stops the process of one
replica with SIGSTOP. The other replica must serve the reads, and from 2 s on hardly any may wait for the frozen one. Then it stops both replicas, under different
and under equal reads: soon both endpoints must reject each read at once, and serve reads again soon after the processes continue.`,
  options: {
    perSecond: { kind: "number", min: 10, max: 1_000, fallback: 40, why: "reads per second through each endpoint" },
    seconds: { kind: "number", min: 3, max: 600, fallback: 30, quick: 5, why: "how long the replica is frozen" },
  },
  control: "both replicas are frozen, and later none", // Then each claim with `control: "fails"` has to fail; others are not judged.
  async run({ options, isControl, claim, print, onCleanup }) {
    const replicas = { users: 2, gateway: 1, "rest-proxy": 1 };
    const platform = await startPlatform({ run: { onCleanup }, isSeeded: true, replicas });
    const loads = Object.entries(endpoints).map(([name, { createRequest }]) => {
      const replica = replicaOf(platform, name as keyof typeof endpoints);
      const client = createHttpClient(replica.url);
      onCleanup(() => client.close());
      const send = async (requestNumber: number) => {
        const response = await client.send(createRequest(userAt(requestNumber)));
        return findResponseProblem(response, [200], () => true);
      };
      return { name, load: startLoad({ perSecond: options.perSecond, send }) };
    });
    await sleep((warmUpReads / options.perSecond) * 1_000);
    for (const { load } of loads) load.reset();
    const frozenReplicas = platform.replicas.users.slice(0, isControl ? 2 : 1);
    for (const replica of frozenReplicas) replica.signal("SIGSTOP");
    await sleep(avoidedAfterMs);
    const firstReports = loads.map(({ load }) => load.next());
    await sleep(options.seconds * 1_000 - avoidedAfterMs);
    for (const [index, { name, load }] of loads.entries()) {
      const [first, later] = await Promise.all([firstReports[index] ?? load.next(), load.stop()]);
      for (const report of [first, later]) print(`${name}: ${describeLoad(report)}`);
      const [failed, count] = [countFailures(first) + countFailures(later), first.count + later.count];
      claim(`at most ${failuresMax} reads fail through the ${name}`, count > 0 && failed <= failuresMax, {
        measured: `${failed} of ${count}`,
        control: "fails",
      });
      const slow = later.latenciesMs.filter((latencyMs) => latencyMs > slowMs).length;
      claim(
        `from ${avoidedAfterMs} ms on at most ${slowShareMax * 100} % of the reads through the ${name} wait for the frozen replica`,
        slow <= slowShareMax * later.count,
        { measured: `${slow} of ${later.count} take more than ${slowMs} ms` },
      );
    }
    for (const replica of frozenReplicas) replica.signal("SIGCONT");
    // The gateway and the REST proxy restore a replica by a probe that it has to respond to.
    await sleep(settleMs);
    for (const reads of ["different", "equal"] as const) {
      await verifyAllFrozen(platform, reads, options.perSecond, { isControl, claim });
    }
  },
});

function countFailures({ failures }: LoadReport): number {
  let total = 0;
  for (const times of failures.values()) total += times;
  return total;
}
