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
const ejectedWithinMs = 2_000;
/** More than the latencies from which the deadline of an attempt follows (kit/src/upstream/latency-window.ts): the first responses are slow. */
const warmUpReads = 300;
const pollMs = 20;
const settleMs = 3_000;

/** Each user is read once in 1,000 requests, so the REST proxy's cache serves few of them. */
const endpoints = {
  gateway: { metric: "tributary_gateway_replicas_ejected", createRequest: createQuery },
  "rest-proxy": { metric: "tributary_rest_replicas_ejected", createRequest: createGet },
} as const;

export const frozen = defineVerification({
  name: "frozen",
  summary: "almost no read fails when a replica stops responding without closing its connections",
  description: `Starts two replicas of users, the gateway and the REST proxy, and reads users through both at a fixed rate. Then it stops the process of one
replica with SIGSTOP. The other replica must serve the reads, and both endpoints must eject the frozen one. Then it stops both replicas, under different
and under equal reads: soon both endpoints must reject each read at once, and serve reads again soon after the processes continue.`,
  options: {
    perSecond: { kind: "number", min: 10, max: 1_000, fallback: 40, why: "reads per second through each endpoint" },
    seconds: { kind: "number", min: 3, max: 600, fallback: 30, quick: 5, why: "how long the replica is frozen" },
  },
  control: "both replicas are frozen, and later none", // Then each claim with `control: "fails"` has to fail; others are not judged.
  async run({ options, isControl, claim, print, onCleanup }) {
    const replicas = { users: 2, gateway: 1, "rest-proxy": 1 };
    const platform = await startPlatform({ run: { onCleanup }, isSeeded: true, replicas });
    const loads = Object.entries(endpoints).map(([name, { metric, createRequest }]) => {
      const replica = replicaOf(platform, name as keyof typeof endpoints);
      const client = createHttpClient(replica.url);
      onCleanup(() => client.close());
      const send = async (requestNumber: number) => {
        const response = await client.send(createRequest(userAt(requestNumber)));
        return findResponseProblem(response, [200], () => true);
      };
      return { name, metric, replica, load: startLoad({ perSecond: options.perSecond, send }) };
    });
    await sleep((warmUpReads / options.perSecond) * 1_000);
    for (const { load } of loads) load.reset();
    const frozenReplicas = platform.replicas.users.slice(0, isControl ? 2 : 1);
    for (const replica of frozenReplicas) replica.signal("SIGSTOP");
    const ejections = loads.map(async ({ name, replica, metric }) => {
      const ejectedMs = await measureEjection(replica.admin, metric);
      return { name, ejectedMs };
    });
    await sleep(options.seconds * 1_000);
    const reports = await Promise.all(loads.map(async ({ name, load }) => ({ name, report: await load.stop() })));
    for (const { name, report } of reports) {
      const failed = countFailures(report);
      print(`${name}: ${describeLoad(report)}`);
      claim(`at most ${failuresMax} reads fail through the ${name}`, report.count > 0 && failed <= failuresMax, {
        measured: `${failed} of ${report.count}`,
        control: "fails",
      });
    }
    for (const { name, ejectedMs } of await Promise.all(ejections)) {
      claim(`the ${name} ejects the frozen replica within ${ejectedWithinMs} ms`, ejectedMs <= ejectedWithinMs, {
        measured: `${ejectedMs.toFixed(0)} ms`,
      });
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

/** The time until the process reports an ejected replica; infinite if it reports none within twice the limit. */
async function measureEjection(admin: string, metric: string): Promise<number> {
  const ejectedReplicas = new RegExp(`^${metric}\\{[^}]*"users"[^}]*\\} [1-9]`, "m");
  const startMs = performance.now();
  while (performance.now() - startMs < 2 * ejectedWithinMs) {
    const response = await fetch(`http://${admin}/metrics`);
    if (ejectedReplicas.test(await response.text())) return performance.now() - startMs;
    await sleep(pollMs);
  }
  return Infinity;
}
