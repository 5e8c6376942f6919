// The roll-out check with containers: builds the images, starts docker-compose.yml, checks both, and restarts each container under load.
import { setTimeout as sleep } from "node:timers/promises";
import { serviceNames } from "../../platform/platform.ts";
import { checkJourney } from "../../traffic/journey-check.ts";
import { journeyScopes } from "../../traffic/journey.ts";
import { writerId } from "../../traffic/seeded.ts";
import { defineVerification, SkippedError, type VerificationRun } from "../../verification.ts";
import {
  type FurtherStep,
  rolloutOptions,
  type RolloutReplica,
  runRollout,
  waitUntilInRotation,
} from "../rollout/rollout.ts";
import { runCommand, tryCommand } from "./command.ts";
import {
  type Container,
  countRestarts,
  freezeProcess,
  killContainer,
  listContainers,
  readUrl,
  startContainer,
  stopContainer,
  waitUntilRestarted,
} from "./containers.ts";
import { findFaults } from "./images.ts";
import {
  balance,
  containerPortOf,
  fetchUserToken,
  openProject,
  type Project,
  type PublicPart,
  readPublicUrl,
  removeProject,
  scale,
  waitForContainers,
} from "./project.ts";
import { ensureRequirements } from "./requirements.ts";
import { verifyRestore } from "./restore-drill.ts";
import { findUnfairShares } from "./traffic-shares.ts";

/** Gateway and REST proxy look names up every five seconds: after this time both know the address of a replica that has started again. */
const dnsRefreshMs = 6_000;
/** Without a restart of the frozen container in this time the verification ends with an error. The claimed limit, 75 s, is in rollout.ts. */
const frozenTimeoutMs = 120_000;
/** Measurements of the load before the restarts, until no request fails: the machine may still be busy with the start of the containers. */
const baselineTriesMax = 10;
/** Longer than any deadline of the platform. */
const requestTimeoutMs = 35_000;

export const compose = defineVerification({
  name: "compose",
  summary: "the images and docker-compose.yml work, and no request fails while containers are restarted",
  description: `Builds the images and starts docker-compose.yml in a separate project, which is removed at the end. Sends each request of the journey
through the published gateway and REST proxy, restores two databases from dumps, starts two replicas of each part and three of posts, measures
each replica's share of the traffic, and restarts each container under load, one after the other: no request may fail. Then it kills one container, freezes the process
of another (SIGSTOP), which must be restarted and ready within 75 s, and removes one replica of posts. Needs Docker; without it the check is
skipped.`,
  options: {
    ...rolloutOptions,
    perSecond: { ...rolloutOptions.perSecond, fallback: 16 },
    only: {
      kind: "names",
      of: ["freeze", "scale-down"],
      // The restart of a frozen container takes a minute, and infra/images/images.test.ts tests its health check.
      quick: ["scale-down"],
      why: "only these steps after the killed container",
    },
  },
  // With `--control`: then the claim of rollout.ts that no request fails must not hold, and the others are not judged.
  control: "kills each container instead of stopping it",
  async run(run) {
    const missing = await ensureRequirements();
    if (missing !== undefined) throw new SkippedError(missing);
    const { options, print, claim, onCleanup } = run;
    const project = await openProject();
    onCleanup(() => {
      print("removing containers, volumes and images");
      return removeProject(project);
    });
    await project.compose("build");
    const faults = await findFaults(project.version);
    claim("each image meets its size limit and all requirements", faults.length === 0, { measured: faults.join("; ") });
    await project.compose("up", "--detach");
    const token = await fetchUserToken(project, writerId, journeyScopes);
    await checkJobs(project, run);
    print("docker-compose.yml is up");
    await verifyJourney(project, token, run);
    if (!run.isControl) await verifyRestore(project, token, run);
    await scale(project);
    const rollout = await createRollout(project, token, options.only, onCleanup);
    print("two replicas of each part and three of posts run");
    const unfair = await findUnfairShares({ ...rollout, perSecond: options.perSecond });
    claim("each replica gets its share of the traffic from the gateway and from the REST proxy", unfair.length === 0, {
      measured: unfair.join("; "),
    });
    await runRollout(rollout, options, run);
  },
});

async function verifyJourney(project: Project, token: string, { claim }: VerificationRun): Promise<void> {
  const graphqlUrl = await readPublicUrl(project, "gateway");
  const restUrl = await readPublicUrl(project, "rest-proxy");
  // `run` is part of the texts and keys that the journey writes.
  const { requestCount, faults } = await checkJourney({ graphqlUrl, restUrl, token, run: "journey" });
  claim("each request of the journey succeeds through the published ports", requestCount > 0 && faults.length === 0, {
    measured: `${faults.length} of ${requestCount} fail ${faults.join("; ")}`,
  });
}

/** Waits for the jobs of the first start, then starts the seed job again. */
async function checkJobs(project: Project, { claim }: VerificationRun): Promise<void> {
  await waitForJobs(project);
  await project.compose("up", "--detach", "seed");
  const { exitCodes, seedLog } = await waitForJobs(project);
  claim("each job succeeds", exitCodes.length > 0 && exitCodes.every((code) => code === 0), {
    measured: exitCodes.join(", "),
  });
  claim("existing data is not seeded again", seedLog.includes("nothing to seed"));
}

async function createRollout(
  project: Project,
  token: string,
  only: readonly string[],
  onCleanup: VerificationRun["onCleanup"],
) {
  const serviceContainers = await waitForContainers(project, serviceNames);
  const gateway = await balancePart("gateway", project, onCleanup);
  const restProxy = await balancePart("rest-proxy", project, onCleanup);
  const serviceReplicas = inRestartOrder(serviceContainers).map((container) => toRolloutReplica(container));
  const [killedPosts, frozenPosts] = serviceContainers.get("posts") ?? [];
  const furtherSteps = [
    ...(only.includes("freeze") && frozenPosts ? [createFreezeStep(frozenPosts)] : []),
    ...(only.includes("scale-down") ? [createScaleDownStep(project)] : []),
  ];
  return {
    graphqlUrl: gateway.url,
    restUrl: restProxy.url,
    token,
    requestTimeoutMs,
    serviceContainers,
    replicas: [...serviceReplicas, ...gateway.replicas, ...restProxy.replicas],
    killed: killedPosts ? [toRolloutReplica(killedPosts)] : [],
    furtherSteps,
    addressRefreshMs: dnsRefreshMs,
    baselineTriesMax,
  };
}

async function balancePart(part: PublicPart, project: Project, onCleanup: VerificationRun["onCleanup"]) {
  const containers = (await waitForContainers(project, [part])).get(part) ?? [];
  const balancer = await balance(part, containers);
  onCleanup(() => balancer.stop());
  const replicas = containers.map((container) =>
    toRolloutReplica(container, async () =>
      waitUntilInRotation(balancer, await readUrl(container, containerPortOf[part])),
    ),
  );
  return { url: balancer.url, replicas };
}

/**
 * The first replica of each service, then the second of each: gateway and REST proxy look names up every five seconds, so they know the new
 * address of a restarted replica before the last replica with an old address is restarted.
 */
function inRestartOrder(containers: ReadonlyMap<string, readonly Container[]>): readonly Container[] {
  const byService = [...containers.values()];
  const replicasMax = Math.max(...byService.map(({ length }) => length));
  return Array.from({ length: replicasMax }, (_, index) =>
    byService.flatMap((replicas) => replicas[index] ?? []),
  ).flat();
}

/** @param afterStart undefined for a container of a service, which has no load balancer. */
function toRolloutReplica(container: Container, afterStart?: () => Promise<void>): RolloutReplica {
  return {
    name: container.name,
    stop: () => stopContainer(container),
    kill: () => killContainer(container),
    async start() {
      await startContainer(container);
      await afterStart?.();
    },
  };
}

/** The process is stopped (SIGSTOP) until its health check ends it, and Docker's restart policy starts it again. */
function createFreezeStep(container: Container): FurtherStep {
  return {
    kind: "frozen",
    name: container.name,
    async run() {
      const restarts = await countRestarts(container);
      const startMs = performance.now();
      await freezeProcess(container);
      await waitUntilRestarted(container, restarts, frozenTimeoutMs);
      const recoveredMs = performance.now() - startMs;
      await sleep(dnsRefreshMs);
      return { recoveredMs };
    },
  };
}

function createScaleDownStep(project: Project): FurtherStep {
  return {
    kind: "restarted",
    name: "posts 3 to 2",
    async run() {
      await scale(project, { posts: 2 });
      await sleep(dnsRefreshMs);
      const remaining = await listContainers(project.name, "posts");
      if (remaining.length !== 2) throw new Error(`posts has ${remaining.length} replicas instead of two.`);
      return { exitCode: 0 }; // The container is removed with its exit code. 0 meets the claim about exit codes.
    },
  };
}

/** The last one is the job whose log `waitForJobs` reads. */
const jobNames = ["secrets", "databases", ...serviceNames.map((name) => `migrate-${name}`), "seed"];

async function waitForJobs({ name }: Project) {
  const containersByJob = await Promise.all(jobNames.map((job) => listContainers(name, job)));
  const ids = containersByJob.flat().map(({ id }) => id);
  // Prints one exit code in each line.
  const out = await runCommand(["docker", "wait", ...ids]);
  const exitCodes = out.trim().split("\n").map(Number);
  const seedId = ids.at(-1) ?? "";
  const { out: seedLog } = await tryCommand(["docker", "logs", "--tail", "1", seedId]);
  return { exitCodes, seedLog };
}
