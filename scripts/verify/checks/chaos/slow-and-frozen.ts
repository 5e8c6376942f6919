// What reads notice of one slow replica of three, and of a service whose replicas are all frozen.
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessStatus } from "@tributary/kit/process/process-status";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { pollUntil } from "@tributary/kit/testing/poll-until";
import { createHttpClient } from "../../traffic/http-client.ts";
import { measureInTime } from "../../traffic/measure-in-time.ts";
import { describeFailures, describeLoad, type LoadReport, startLoad } from "../../traffic/open-loop.ts";
import type { VerificationRun } from "../../verification.ts";
import type { ChaosPlatform, Replica } from "./chaos-platform.ts";

/** Of the responses of a healthy replica: so long that the noise of the machine counts little. */
const healthyMs = 20;
const slowMs = { "by 300 ms": healthyMs + 300, "by 1.5 s": healthyMs + 1_500, "ten times": healthyMs * 10 };
const slowTimes = { settleMs: 5_000, measuredMs: 15_000 };
/** Through each endpoint. */
const perSecond = 60;
const p99FactorMax = 1.5;
const requestsFactorMax = 1.05;
/**
 * The breaker opens after twice the p99 of the last 256 reads of a replica. The first reads of a process are slow: until they are none of these.
 */
const warmUpMs = 15_000;
const frozenTimes = { settleMs: 2_000, measuredMs: 3_000 };
const rejectionMsMax = 50;
const rejected = "rejected, with the time to retry after";
/** An ejected replica is probed after 1, 2, 4, 8 and 16 s. */
const restoredWithinMs = 40_000;

/** No user has this id or a higher one, so no cache has a response. */
let unknownUser = 2_000_000_000;

/** With `--control` all replicas are slow, so that no choice of a replica helps. */
export async function verifySlowReplica(chaosPlatform: ChaosPlatform, run: VerificationRun): Promise<void> {
  const { proxies } = chaosPlatform.users;
  const delay = (delayMs: number, count = proxies.length) =>
    proxies.slice(0, count).forEach((proxy) => proxy.setFault({ isReset: false, delayMs }));
  const measureSlow = async (delayMs: number, delayed: number) => {
    const readsBefore = unknownUser;
    const requestsBefore = await countRequests(chaosPlatform);
    const begin = async () => {
      delay(healthyMs);
      await untilHealthy(chaosPlatform);
      delay(delayMs, delayed);
    };
    const report = await measure(chaosPlatform, begin, slowTimes);
    const requests = (await countRequests(chaosPlatform)) - requestsBefore;
    return { ...report, requestsPerRead: requests / (unknownUser - readsBefore) };
  };
  for (const [slowness, delayMs] of Object.entries(slowMs)) {
    const [healthy, slow] = await measureInTime(run, async () => [
      await measureSlow(healthyMs, 0),
      await measureSlow(delayMs, run.isControl ? proxies.length : 1),
    ]);
    run.print(`healthy: ${describeLoad(healthy)}\nslower ${slowness}: ${describeLoad(slow)}`);
    const factor = quantile(slow.latenciesMs, 0.99) / quantile(healthy.latenciesMs, 0.99);
    run.claim(
      `${slowTimes.settleMs / 1_000} s after one of three replicas is slower ${slowness}, p99 is at most ${p99FactorMax} times as long, and no read fails`,
      slow.failures.size === 0 && factor <= p99FactorMax,
      { measured: `${factor.toFixed(2)} times`, control: "fails" },
    );
    const requestsFactor = slow.requestsPerRead / healthy.requestsPerRead;
    run.claim(
      `the replicas get at most ${requestsFactorMax} times as many requests`,
      requestsFactor <= requestsFactorMax,
      {
        measured: `${requestsFactor.toFixed(3)} times`,
      },
    );
  }
  delay(0);
}

/** With `--control` none is frozen. */
export async function verifyFrozenService(chaosPlatform: ChaosPlatform, run: VerificationRun): Promise<void> {
  const signalAll = (signal: "SIGSTOP" | "SIGCONT") => {
    if (!run.isControl) for (const replica of chaosPlatform.users.replicas) replica.signal(signal);
  };
  const freeze = async () => {
    await untilHealthy(chaosPlatform);
    await sleep(warmUpMs);
    signalAll("SIGSTOP");
  };
  const thaw = async () => signalAll("SIGCONT");
  const [frozen, back] = await measureInTime(run, async () => [
    await measure(chaosPlatform, freeze, frozenTimes),
    await measure(chaosPlatform, thaw, frozenTimes),
  ]);
  run.print(`all frozen: ${describeLoad(frozen)}\nafter they continue: ${describeLoad(back)}`);
  const p99Ms = quantile(frozen.latenciesMs, 0.99);
  run.claim(
    `${frozenTimes.settleMs / 1_000} s after all replicas are frozen, each read is ${rejected}, and p99 is at most ${rejectionMsMax} ms`,
    frozen.failures.get(rejected) === frozen.count && p99Ms <= rejectionMsMax,
    { measured: `${p99Ms.toFixed(0)} ms; ${describeFailures(frozen.failures)} of ${frozen.count}`, control: "fails" },
  );
  run.claim(`${frozenTimes.settleMs / 1_000} s after they continue, no read fails`, back.failures.size === 0, {
    measured: describeFailures(back.failures),
    control: "holds",
  });
}

/** Of reads through both endpoints. @param begin called when they have begun. */
async function measure(
  { gateway, restProxy }: ChaosPlatform,
  begin: () => Promise<void>,
  { settleMs, measuredMs }: typeof slowTimes,
): Promise<LoadReport> {
  const graphql = createHttpClient(gateway.url);
  const rest = createHttpClient(restProxy.url);
  const load = startLoad({
    perSecond: 2 * perSecond,
    async send(requestNumber) {
      const id = unknownUser++;
      const isGraphql = requestNumber % 2 === 0;
      const { status, headers, text } = await (isGraphql ? graphql.send(queryOf(id)) : rest.send(getOf(id)));
      const isRight = isGraphql ? text === '{"data":{"user":null}}' : status === 404;
      const isRejected = isGraphql ? text.includes('"retryAfterSeconds":') : Number(headers["retry-after"]) > 0;
      if (isRejected) return rejected;
      return isRight ? undefined : `${status}: ${text}`;
    },
  });
  await begin();
  await sleep(settleMs);
  load.reset();
  await sleep(measuredMs);
  const report = await load.stop();
  graphql.close();
  rest.close();
  return report;
}

function queryOf(id: number) {
  const body = JSON.stringify({ query: "query ($id: ID!) { user(id: $id) { name } }", variables: { id } });
  return { method: "POST", path: "/graphql", headers: { "content-type": "application/json" }, body };
}

function getOf(id: number) {
  return { method: "GET", path: `/v2/users/${id}` };
}

async function untilHealthy({ gateway, restProxy, users }: ChaosPlatform): Promise<void> {
  const isHealthy = async ({ admin }: Replica) => {
    const response = await fetch(`http://${admin}/status`);
    const { services = [] } = (await response.json()) as ProcessStatus;
    const states = services.find(({ service }) => service === "users")?.replicas.map(({ state }) => state);
    return states?.length === users.replicas.length && states.every((state) => state === "healthy");
  };
  const areHealthy = async () => (await Promise.all([gateway, restProxy].map(isHealthy))).every(Boolean);
  if (!(await pollUntil(areHealthy, { everyMs: 200, withinMs: restoredWithinMs })))
    throw new Error("A replica is not restored");
}

async function countRequests({ users }: ChaosPlatform): Promise<number> {
  const counts = users.replicas.map(async ({ admin }) => {
    const text = await (await fetch(`http://${admin}/metrics`)).text();
    const series = text.matchAll(/^tributary_service_requests_total\{.*\} (\d+)$/gm);
    return [...series].reduce((sum, [, count]) => sum + Number(count), 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count);
}
