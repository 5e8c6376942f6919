// Builds the images, starts docker-compose.yml, checks both, and restarts each container under load.
import { setTimeout as sleep } from "node:timers/promises";
import { serviceNames } from "../../platform/part-process.ts";
import { startRotation } from "../../platform/rotation.ts";
import { auditComments, selectTextsOf } from "../../traffic/audit.ts";
import { clientScopes, type Clients, startClients } from "../../traffic/clients.ts";
import { writerId } from "../../traffic/seeded.ts";
import { defineVerification, SkippedError, type VerificationRun } from "../../verification.ts";
import { runCommand, tryCommand } from "./command.ts";
import {
  type Container,
  freezeUntilRestarted,
  killContainer,
  listContainers,
  readUrl,
  startContainer,
  stopContainer,
} from "./containers.ts";
import { findLargeImages } from "./images.ts";
import {
  containerPortOf,
  fetchUserToken,
  openProject,
  type Project,
  type PublicPart,
  removeProject,
  scale,
  waitForContainers,
} from "./project.ts";
import { ensureRequirements } from "./requirements.ts";
import { verifyRestore } from "./restore-drill.ts";

/** Gateway and REST proxy look names up every five seconds: after this time both know the address of a replica that has started again. */
const dnsRefreshMs = 6_000;
/** The pause after a replica is ready again and before the next restart, so that requests reach the replica before another one stops. */
const settleMs = 1_000;
/** 50 s for the health check of docker-compose.yml, then the start. */
const recoveredMsMax = 75_000;
/**
 * Requests that may fail while a replica is frozen: in each of four gateway and REST proxy processes the writes of the first second, until the
 * replica is ejected. Reads go to another replica.
 */
const frozenFailuresMax = 40;
/** The load before the restarts, until no request fails: the machine may still be busy with the start of the containers. */
const baselineMs = 6_000;
const baselineTriesMax = 10;
const failuresShownMax = 6;
const probeEveryMs = 200;
const runName = `compose-${process.pid}`;

export const compose = defineVerification({
  name: "compose",
  summary: "the images and docker-compose.yml work, and no request fails while containers are restarted",
  description: `Builds the images and starts docker-compose.yml in a separate project, which is removed at the end. Restores a database from a dump, starts two
replicas of each part and three of posts, and restarts each container under load, one after the other, and removes one replica of posts: no request
may fail. Then it freezes the process of one container (SIGSTOP), which must be restarted and ready within 75 s. Needs Docker; without it the check
is skipped.`,
  options: {},
  // Then the claim that no request fails must not hold, and the others are not judged.
  control: "kills each container instead of stopping it",
  async run(run) {
    const missing = await ensureRequirements();
    if (missing !== undefined) throw new SkippedError(missing);
    const { print, claim, onCleanup } = run;
    const project = await openProject();
    onCleanup(() => {
      print("removing containers, volumes and images");
      return removeProject(project);
    });
    await project.compose("build");
    const large = await findLargeImages(project.version);
    claim("each image meets its size limit", large.length === 0, { measured: large.join("; ") });
    await project.compose("up", "--detach");
    await checkJobs(project, run);
    print("docker-compose.yml is up");
    if (!run.isControl) await verifyRestore(project, await fetchUserToken(project, writerId, ["users:write:all"]), run);
    await scale(project);
    await verifyRollout(project, run);
  },
});

async function verifyRollout(project: Project, run: VerificationRun): Promise<void> {
  const { print, claim, onCleanup } = run;
  const services = await waitForContainers(project, serviceNames);
  const gateway = await rotatePart("gateway", project, onCleanup);
  const restProxy = await rotatePart("rest-proxy", project, onCleanup);
  print("two replicas of each part and three of posts run");
  const clients = await startClients({
    graphqlUrl: gateway.next,
    restUrl: restProxy.next,
    tokenOf: (userId) => fetchUserToken(project, userId, clientScopes),
    run: runName,
    perSecond: 16,
  });
  onCleanup(() => clients.stop());
  const step = (name: string, work: () => Promise<unknown>) => runStep(name, work, clients, print);

  for (let tries = 1; tries <= baselineTriesMax; tries++)
    if ((await step("before the restarts", () => sleep(baselineMs))).length === 0) break;

  const replicas = [...inRestartOrder(services), ...gateway.replicas, ...restProxy.replicas];
  const restarted = replicas.filter(({ number }) => number <= (run.isQuick ? 1 : 3));
  const sentBefore = clients.sent;
  let failed = 0;
  const exitCodes: number[] = [];
  for (const { container, untilInRotation } of restarted) {
    const failures = await step(`${container.name} is restarted`, async () => {
      if (run.isControl) await killContainer(container);
      else exitCodes.push(await stopContainer(container));
      await startContainer(container);
      await untilInRotation();
      await sleep(settleMs);
    });
    failed += failures.length;
  }
  if (!run.isControl) failed += (await step("posts 3 is removed", () => scaleDown(project))).length;
  claim("no request fails while replicas are restarted", clients.sent > sentBefore && failed === 0, {
    measured: `${failed} of ${clients.sent - sentBefore}`,
    control: "fails",
  });
  claim(
    "each replica ends after SIGTERM without being killed",
    exitCodes.every((code) => code === 0),
  );
  const [frozen] = services.get("comments") ?? [];
  // The restart of a frozen container takes a minute, and infra/images/images.test.ts tests its health check.
  if (!run.isControl && !run.isQuick && frozen) await verifyFreeze(frozen, step, run);
  await clients.stop();
  const psql = ["exec", "-T", "postgres", "psql", "--username", "postgres", "--dbname", "comments"];
  const rows = await project.compose(...psql, "--tuples-only", "--no-align", "--command", selectTextsOf(runName));
  const audit = auditComments(rows.trim().split("\n"), clients.comments);
  claim("every confirmed comment is stored, and none twice", audit.stored > 0 && audit.isRight, {
    measured: JSON.stringify(audit),
  });
}

type RunStep = (name: string, work: () => Promise<unknown>) => Promise<Clients["failures"]>;

/** @returns the requests that failed meanwhile. */
async function runStep(
  name: string,
  work: () => Promise<unknown>,
  clients: Clients,
  print: VerificationRun["print"],
): Promise<Clients["failures"]> {
  const before = { failures: clients.failures.length, sent: clients.sent };
  await work();
  const failures = clients.failures.slice(before.failures);
  print(`${name}: ${clients.sent - before.sent} requests, ${failures.length} failed`);
  for (const { name: request, codes } of failures.slice(0, failuresShownMax)) print(`  ${request}: ${codes.join()}`);
  return failures;
}

async function verifyFreeze(container: Container, step: RunStep, { claim }: VerificationRun): Promise<void> {
  let recoveredMs = Infinity;
  const failures = await step(`${container.name} is frozen`, async () => {
    const startMs = performance.now();
    await freezeUntilRestarted(container);
    recoveredMs = performance.now() - startMs;
    await sleep(dnsRefreshMs);
  });
  const text = `a frozen replica is restarted and ready within ${recoveredMsMax / 1_000} s`;
  claim(text, recoveredMs <= recoveredMsMax, { measured: `${(recoveredMs / 1_000).toFixed(0)} s` });
  claim(`at most ${frozenFailuresMax} requests fail meanwhile`, failures.length <= frozenFailuresMax, {
    measured: String(failures.length),
  });
}

async function scaleDown(project: Project): Promise<void> {
  await scale(project, { posts: 2 });
  await sleep(dnsRefreshMs);
  const remaining = await listContainers(project.name, "posts");
  if (remaining.length !== 2) throw new Error(`posts has ${remaining.length} replicas instead of two.`);
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

interface RestartedReplica {
  readonly container: Container;
  /** Of this part, from 1. */
  readonly number: number;
  /** Resolves when clients send requests to it again. */
  untilInRotation(): Promise<void>;
}

async function rotatePart(part: PublicPart, project: Project, onCleanup: VerificationRun["onCleanup"]) {
  const containers = (await waitForContainers(project, [part])).get(part) ?? [];
  const readUrls = containers.map((container) => readUrl(container, containerPortOf[part]));
  const { next, untilInRotation, stop } = await startRotation(await Promise.all(readUrls), probeEveryMs);
  onCleanup(stop);
  const replicas = containers.map((container, index): RestartedReplica => ({
    container,
    number: index + 1,
    untilInRotation: async () => untilInRotation(await readUrl(container, containerPortOf[part])),
  }));
  return { next, replicas };
}

/**
 * The first replica of each service, then the second of each: gateway and REST proxy look names up every five seconds, so they know the new
 * address of a restarted replica before the last replica with an old address is restarted.
 */
function inRestartOrder(containers: ReadonlyMap<string, readonly Container[]>): readonly RestartedReplica[] {
  return [...containers.values()]
    .flatMap((replicas) => replicas.map((container, index) => ({ container, number: index + 1 })))
    .toSorted((a, b) => a.number - b.number)
    .map((replica) => ({ ...replica, untilInRotation: async () => {} }));
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
