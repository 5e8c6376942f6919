// The roll-out check with processes: two of each service, of the gateway and of the REST proxy, with a load balancer in front of the last two.
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { type Balancer, startBalancer } from "../../platform/balancer.ts";
import {
  type Platform,
  type PlacedService,
  type Replica,
  replicasOfEachPart,
  serviceNames,
  startPlatform,
  type StartReplica,
} from "../../platform/platform.ts";
import { defineVerification, type VerificationRun } from "../../verification.ts";
import {
  type FurtherStep,
  rolloutOptions,
  type RolloutReplica,
  runRollout,
  waitUntilInRotation,
} from "../rollout/rollout.ts";
import { createDnsOverrides, hasLoopbackNetwork, type DnsOverrides } from "../../platform/test-dns.ts";

const probeEveryMs = 200;
/** Longer than the balancer takes to find that a process is not ready, and long enough for each client's next request. */
const drainDelayMs = 2_000;
/** The wait after a killed process runs again. It has the same address, so only the next request of each client has to reach it. */
const addressRefreshMs = 1_000;
/** How long traffic continues after the old processes have ended, so that requests to old addresses would fail. */
const afterMoveMs = 3_000;

/** This check tests restarts, not speed: with long timeouts no request fails on a busy, slow machine. */
const settings = {
  ACQUIRE_TIMEOUT_MS: "30000",
  LOCK_TIMEOUT_MS: "30000",
  STATEMENT_TIMEOUT_MS: "30000",
  SUBGRAPH_TIMEOUT_MS: "60000",
  UPSTREAM_TIMEOUT_MS: "60000",
  PLAN_TIMEOUT_MS: "60000",
  REQUEST_TIMEOUT_MS: "60000",
  SHUTDOWN_GRACE_MS: "60000",
  DRAIN_DELAY_MS: String(drainDelayMs),
};
const requestTimeoutMs = 90_000;

export const rolling = defineVerification({
  name: "rolling",
  summary: "no request fails in a rolling update, and only writes in flight fail when a process is killed",
  description: `Starts PostgreSQL and two processes of each service, the gateway and the REST proxy, with a load balancer in front of the latter two.
Under load it restarts each process, one after the other: no request may fail. Then it kills one process of posts and one of orders: no read
may fail, and at most the writes that were in flight. Finally (on Linux) the addresses behind the name of posts change.`,
  options: {
    ...rolloutOptions,
    perSecond: { ...rolloutOptions.perSecond, fallback: 40 },
    logs: {
      kind: "text",
      placeholder: "FOLDER",
      why: "writes the output of each process into this folder, one file each",
    },
  },
  // With `--control`: then the claim of rollout.ts that no request fails must not hold, and the others are not judged.
  control: "kills each process instead of draining it",
  async run(run) {
    const { options, print, onCleanup } = run;
    const dns = createDnsOverrides(onCleanup);
    const postsMove: AddressMove = {};
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: true,
      logs: options.logs,
      replicas: replicasOfEachPart(2),
      environment(part) {
        const callsServices = part === "gateway" || part === "rest-proxy";
        return callsServices ? { ...settings, ...dns.environment } : settings;
      },
      place: hasLoopbackNetwork ? { posts: (start) => placeBehindName("posts", start, dns, postsMove) } : {},
    });
    print("two processes of each part run, with seeded databases");
    const gateway = await startBalancerOf(platform.replicas.gateway, onCleanup);
    const restProxy = await startBalancerOf(platform.replicas["rest-proxy"], onCleanup);
    const services = serviceNames.flatMap((name) => platform.replicas[name]);
    const rollout = {
      graphqlUrl: gateway.url,
      restUrl: restProxy.url,
      token: platform.token,
      requestTimeoutMs,
      replicas: [
        ...services.map((replica) => toRolloutReplica(replica)),
        ...platform.replicas.gateway.map((replica) => toRolloutReplica(replica, gateway)),
        ...platform.replicas["rest-proxy"].map((replica) => toRolloutReplica(replica, restProxy)),
      ],
      killed: replicasToKill(platform).map((replica) => toRolloutReplica(replica)),
      furtherSteps: postsMove.run ? [createMoveStep("posts", postsMove.run)] : [],
      addressRefreshMs,
      baselineTriesMax: 1,
    };
    await runRollout(rollout, options, run);
  },
});

/** One process of orders, whose writes have idempotency keys, so the REST proxy retries them, and one of posts, whose writes have no keys. */
function replicasToKill({ replicas }: Platform): readonly Replica[] {
  return [...replicas.orders.slice(0, 1), ...replicas.posts.slice(0, 1)];
}

const initialHosts = ["127.0.0.2", "127.0.0.3"];
const movedHosts = ["127.0.0.4", "127.0.0.5"];

interface AddressMove {
  /**
   * Set by `placeBehindName`. Starts processes at other addresses, publishes these and ends the old processes.
   * @returns 0 if all old processes exit with 0; otherwise the first other exit code, null if a signal ended the process.
   */
  run?: () => Promise<number | null>;
}

/** Starts a service behind a host name, as in Compose and Kubernetes, and sets `move.run`, which changes the addresses of that name. */
async function placeBehindName(
  service: "posts",
  start: StartReplica,
  dns: DnsOverrides,
  move: AddressMove,
): Promise<PlacedService> {
  const hostName = `${service}.test`;
  const port = await pickFreePort(initialHosts[0]);
  const feedPort = await pickFreePort(initialHosts[0]);
  const replicas = await Promise.all(initialHosts.map((host) => start({ host, port, feedPort })));
  dns.publish(hostName, initialHosts);
  move.run = async () => {
    await Promise.all(movedHosts.map((host) => start({ host, port, feedPort })));
    dns.publish(hostName, movedHosts);
    const exitCodes = await Promise.all(replicas.map((replica) => replica.end("SIGTERM")));
    const failureCode = exitCodes.find((code) => code !== 0);
    return failureCode === undefined ? 0 : failureCode;
  };
  return { replicas, urls: [`http://${hostName}:${port}`], feedUrls: [`http://${hostName}:${feedPort}`] };
}

/** Like a blue-green deployment: the name resolves to the new processes only, from one moment to the next. */
function createMoveStep(name: string, move: () => Promise<number | null>): FurtherStep {
  return {
    kind: "moved",
    name,
    async run() {
      const exitCode = await move();
      await sleep(afterMoveMs);
      return { exitCode };
    },
  };
}

async function startBalancerOf(
  replicas: readonly Replica[],
  onCleanup: VerificationRun["onCleanup"],
): Promise<Balancer> {
  const urls = replicas.map(({ url }) => url);
  const balancer = await startBalancer(urls, probeEveryMs);
  onCleanup(() => balancer.stop());
  return balancer;
}

function toRolloutReplica({ name, url, end, start }: Replica, balancer?: Balancer): RolloutReplica {
  return {
    name,
    stop: () => end("SIGTERM"),
    async kill() {
      await end("SIGKILL");
    },
    async start() {
      await start();
      if (balancer) await waitUntilInRotation(balancer, url);
    },
  };
}
