// The roll-out check with containers: builds the images, starts docker-compose.yml, checks both, and restarts each container under load.
import { setTimeout as sleep } from "node:timers/promises";
import type { Balancer } from "../../platform/balancer.ts";
import { checkJourney } from "../../traffic/journey-check.ts";
import { defineVerification, SkippedError, type VerificationRun } from "../../verification.ts";
import { type FurtherStep, rolloutOptions, type Rollout, type RolloutReplica, runRollout } from "../rollout/rollout.ts";
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
import { describeImage, readImages } from "./images.ts";
import {
  balance,
  containerPortOf,
  fetchWriterToken,
  waitForContainers,
  openProject,
  type Project,
  type PublicPart,
  publicParts,
  readPublicUrl,
  removeProject,
  scale,
} from "./project.ts";
import { serviceNames } from "../../platform/platform.ts";
import { ensureRequirements } from "./requirements.ts";
import { describeShare, isFair, measureShares } from "./traffic-shares.ts";

/** Gateway and REST proxy look names up every five seconds: after this time both know the address of a replica that has started again. */
const dnsRefreshMs = 6_000;
/** Without a restart of the frozen container in this time the verification ends with an error. The claimed limit, 75 s, is in rollout.ts. */
const frozenTimeoutMs = 120_000;
/** Measurements of the load before the restarts, until no request fails: the machine may still be busy with the start of the containers. */
const baselineTriesMax = 10;
const rotationTimeoutMs = 10_000;
const rotationPollMs = 50;
/** Longer than any deadline of the platform. */
const requestTimeoutMs = 35_000;

export const compose = defineVerification({
  name: "compose",
  summary: "the images and docker-compose.yml work, and no request fails while containers are restarted",
  description: `Builds the images and starts docker-compose.yml in a separate project, which is removed at the end. Sends each request of the journey
through the published gateway and REST proxy, starts two replicas of each part and three of posts, prints each replica's share of the
traffic, and restarts each container under load, one after the other: no request may fail. Then it kills one container, freezes the process
of another (SIGSTOP), which must be restarted and ready within 75 s, and removes one replica of posts. Needs Docker; without it the check is
skipped.`,
  options: { ...rolloutOptions, perSecond: { ...rolloutOptions.perSecond, fallback: 16 } },
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
    const printWithDuration = createDurationPrinter(print);
    await project.compose("build");
    printWithDuration("the images are built");
    await checkImages(project, run);
    await project.compose("up", "--detach");
    const urls = {
      graphqlUrl: await readPublicUrl(project, "gateway"),
      restUrl: await readPublicUrl(project, "rest-proxy"),
    };
    const token = await fetchWriterToken(project);
    await checkJobs(project, run);
    printWithDuration("docker-compose.yml is up");
    // `run` is part of the texts and keys that the journey writes.
    const journey = await checkJourney({ ...urls, token, run: "journey" });
    for (const fault of journey.faults) print(`  ${fault}`);
    claim(
      "each request of the journey succeeds through the published ports",
      journey.requestCount > 0 && journey.faults.length === 0,
      {
        measured: `${journey.faults.length} of ${journey.requestCount} fail`,
      },
    );
    await scale(project);
    const rollout = await createRollout(project, token, onCleanup);
    printWithDuration("two replicas of each part and three of posts run");
    await checkShares(rollout, options.perSecond, run);
    await runRollout(rollout, options, run);
    printWithDuration("all containers were restarted");
  },
});

async function checkImages({ version }: Project, { print, claim }: VerificationRun): Promise<void> {
  const images = await readImages(version);
  for (const image of images) print(`  ${describeImage(image)}`);
  claim(
    "no image exceeds its size limit",
    images.every(({ addedMb, addedMbMax }) => addedMb <= addedMbMax),
  );
  claim("each image meets all requirements", images.length > 0 && images.every(({ faults }) => faults.length === 0));
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

interface ComposeRollout extends Rollout {
  readonly serviceContainers: ReadonlyMap<string, readonly Container[]>;
}

async function createRollout(
  project: Project,
  token: string,
  onCleanup: VerificationRun["onCleanup"],
): Promise<ComposeRollout> {
  const serviceContainers = await waitForContainers(project, serviceNames);
  const publicContainers = await waitForContainers(project, publicParts);
  const [gateway, restProxy] = await Promise.all([
    balancePart("gateway", publicContainers, onCleanup),
    balancePart("rest-proxy", publicContainers, onCleanup),
  ]);
  const serviceReplicas = inRestartOrder(serviceContainers).map((container) => toRolloutReplica(container));
  const [killedPosts, frozenPosts] = serviceContainers.get("posts") ?? [];
  return {
    graphqlUrl: gateway.url,
    restUrl: restProxy.url,
    token,
    requestTimeoutMs,
    serviceContainers,
    replicas: [...serviceReplicas, ...gateway.replicas, ...restProxy.replicas],
    killed: killedPosts ? [toRolloutReplica(killedPosts)] : [],
    furtherSteps: frozenPosts ? [createFreezeStep(frozenPosts), createScaleDownStep(project)] : [],
    addressRefreshMs: dnsRefreshMs,
    baselineTriesMax,
  };
}

interface BalancedPart {
  readonly url: string;
  readonly replicas: readonly RolloutReplica[];
}

async function balancePart(
  part: PublicPart,
  publicContainers: ReadonlyMap<string, readonly Container[]>,
  onCleanup: VerificationRun["onCleanup"],
): Promise<BalancedPart> {
  const containers = publicContainers.get(part) ?? [];
  const balancer = await balance(part, containers);
  onCleanup(() => balancer.stop());
  const replicas = containers.map((container) => toRolloutReplica(container, { balancer, part }));
  return { url: balancer.url, replicas };
}

async function checkShares(
  { graphqlUrl, restUrl, token, serviceContainers }: ComposeRollout,
  perSecond: number,
  { print, claim }: VerificationRun,
): Promise<void> {
  const urls = { gateway: graphqlUrl, "rest-proxy": restUrl };
  const shares = await measureShares({ urls, services: serviceContainers, token, perSecond });
  print(`\n${"through".padEnd(12)}${"service".padEnd(12)} each replica's share`);
  for (const share of shares) print(describeShare(share));
  claim(
    "each replica gets its share of the traffic from the gateway and from the REST proxy",
    shares.length > 0 && shares.every(isFair),
  );
}

/**
 * The first replica of each service, then the second of each: gateway and REST proxy look names up every five seconds, so they know the new
 * address of a restarted replica before the last replica with an old address is restarted.
 */
function inRestartOrder(containers: ComposeRollout["serviceContainers"]): readonly Container[] {
  const byService = [...containers.values()];
  const replicasMax = Math.max(...byService.map(({ length }) => length));
  const ordered: Container[] = [];
  for (let index = 0; index < replicasMax; index++) {
    for (const replicas of byService) {
      const replica = replicas[index];
      if (replica) ordered.push(replica);
    }
  }
  return ordered;
}

interface Rotation {
  readonly balancer: Balancer;
  readonly part: PublicPart;
}

/** @param rotation undefined for a container of a service, which has no load balancer. */
function toRolloutReplica(container: Container, rotation?: Rotation): RolloutReplica {
  return {
    name: container.name,
    stop: () => stopContainer(container),
    kill: () => killContainer(container),
    async start() {
      await startContainer(container);
      if (rotation) await waitUntilInRotation(container, rotation);
    },
  };
}

async function waitUntilInRotation(container: Container, { balancer, part }: Rotation): Promise<void> {
  const url = await readUrl(container, containerPortOf[part]);
  const deadline = performance.now() + rotationTimeoutMs;
  while (!balancer.isInRotation(url)) {
    if (performance.now() > deadline)
      throw new Error(`The balancer does not forward to ${container.name} at ${url} again.`);
    await sleep(rotationPollMs);
  }
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

/** @returns a function that prints a line with the time since the line before. */
function createDurationPrinter(print: (line: string) => void): (line: string) => void {
  let sinceMs = performance.now();
  return (line) => {
    const seconds = (performance.now() - sinceMs) / 1_000;
    print(`${line} (${seconds.toFixed(0)} s)`);
    sinceMs = performance.now();
  };
}
