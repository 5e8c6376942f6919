import { setTimeout as sleep } from "node:timers/promises";
import { startTraffic, type Traffic } from "../journey/traffic.ts";
import type { Balancer } from "../processes/balancer.ts";
import { countFailures, describeStep, type Step, stepsHead } from "../verify-rolling/steps.ts";
import { tryCommand } from "./command.ts";
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
import type { VerifyOptions } from "./options.ts";
import {
  balance,
  doors,
  fetchWriterToken,
  listParts,
  openProject,
  type Project,
  readDoorUrl,
  removeProject,
  scale,
  services,
} from "./platform.ts";
import type { Outcome } from "./report.ts";
import { describeShare, measureShares } from "./shares.ts";
import { walk } from "./walk.ts";

type Say = (line: string) => void;

/** Between a container that is well again and the next that goes. */
const settleMs = 1_000;
/** The doors look names up every five seconds. */
const lookUpMs = 6_000;
/** A container that was killed is missed for so long. */
const deadMs = 3_000;
/** A frozen container that is not restarted by then never is. */
const frozenTimeoutMs = 120_000;
const rampMs = 3_000;
const calmMs = 3_000;
const calmTriesMax = 10;
const seenInTimeoutMs = 10_000;
const seenInMs = 50;
/** Longer than any deadline of the platform. */
const answerTimeoutMs = 35_000;

/** Runs in a project of its own, and removes it, whatever happens. */
export async function runCompose(options: VerifyOptions, print: Say): Promise<Outcome> {
  const project = await openProject();
  const interrupted = hearInterruption();
  try {
    return await Promise.race([verify(project, options, print), interrupted]);
  } finally {
    print("removing it all");
    await removeProject(project);
  }
}

async function verify(project: Project, options: VerifyOptions, print: Say): Promise<Outcome> {
  const since = createClock(print);
  await project.compose("build");
  since("the images are built");
  const images = await readImages(project.version);
  for (const image of images) print(`  ${describeImage(image)}`);

  await project.compose("up", "--detach");
  const graphqlUrl = await readDoorUrl(project, "gateway");
  const restUrl = await readDoorUrl(project, "rest-proxy");
  const token = await fetchWriterToken(project);
  const jobs = await waitForJobs(project);
  since(`docker-compose.yml is up; the jobs ended with ${jobs.exitCodes.join(", ")}`);
  const walked = await walk({ graphqlUrl, restUrl, token, run: "walk" });
  since(`${walked.count} steps of the journey through both published doors, ${walked.faults.length} wrong`);

  await project.compose("up", "--detach", "seed");
  const again = await waitForJobs(project);
  const isSeedKept = again.seedLog.includes("already");
  since(`brought up again, the seed job ${isSeedKept ? "leaves the data alone" : "SEEDED AGAIN"}`);
  await scale(project);
  const replicas = await listParts(project, services);
  const entries = await listParts(project, doors);
  since("there are two of each part, and three of posts");

  const balancers = await Promise.all(doors.map((door) => balance(door, entries.get(door) ?? [])));
  const [gateway, proxy] = balancers as [Balancer, Balancer];
  try {
    const urls = { gateway: gateway.url, "rest-proxy": proxy.url };
    const shares = await measureShares({ doors: urls, services: replicas, token, perSecond: options.perSecond });
    print(`\n${"door".padEnd(12)}${"service".padEnd(12)} each replica's share`);
    for (const share of shares) print(describeShare(share));
    const traffic = startTraffic({
      graphqlUrl: gateway.url,
      restUrl: proxy.url,
      token,
      run: `compose-${process.pid}`,
      perSecond: options.perSecond,
      timeoutMs: answerTimeoutMs,
    });
    const steps = await roll({ project, replicas, entries, balancers, traffic, print, ...options });
    await traffic.stop();
    since("\nrolled");
    return { images, walked, jobs: again, isSeedKept, shares, steps, audit: await traffic.audit() };
  } finally {
    await Promise.all(balancers.map((balancer) => balancer.stop()));
  }
}

interface Rolling extends VerifyOptions {
  readonly project: Project;
  readonly replicas: ReadonlyMap<string, readonly Container[]>;
  readonly entries: ReadonlyMap<string, readonly Container[]>;
  /** In the order of the doors. */
  readonly balancers: readonly Balancer[];
  readonly traffic: Traffic;
  readonly print: Say;
}

async function roll(o: Rolling): Promise<readonly Step[]> {
  const { traffic, replicas, entries, balancers, control, print } = o;
  const steps: Step[] = [];
  const tell = (step: Step) => {
    steps.push(step);
    print(describeStep(step));
  };
  print(`\n${stepsHead}`);
  await sleep(rampMs);
  await traffic.next();
  tell(await awaitCalm(traffic, print));
  for (const container of inTurn(replicas)) tell(await restart(container, undefined, o));
  for (const [index, door] of doors.entries()) {
    for (const container of entries.get(door) ?? []) tell(await restart(container, balancers[index], o));
  }
  const [posts, another] = replicas.get("posts") ?? [];
  if (!control && posts) tell(await kill(posts, traffic));
  if (!control && another) tell(await freeze(another, traffic));
  if (!control && another) tell(await takeAway(o));
  return steps;
}

/** Before anything is restarted nothing may fail; a machine that has just started all of it, or does something else, is given time. */
async function awaitCalm(traffic: Traffic, print: Say): Promise<Step> {
  for (let tries = 1; ; tries++) {
    await sleep(calmMs);
    const step: Step = { kind: "calm", name: "none", report: await traffic.next(), exitCode: null, writesHeld: 0 };
    if (countFailures(step.report) === 0 || tries >= calmTriesMax) return step;
    print(describeStep(step));
  }
}

/**
 * The first of each service, then the second of each: the doors look names up every five seconds, and know a replica's new address before the
 * last one goes that had an old one.
 */
function inTurn(replicas: Rolling["replicas"]): readonly Container[] {
  const all = [...replicas.values()];
  const most = Math.max(...all.map(({ length }) => length));
  return Array.from({ length: most }, (_, index) => all.flatMap((containers) => containers[index] ?? [])).flat();
}

/** As a roll-out does: a container is told to end, started anew, awaited, and then comes the next. */
async function restart(container: Container, balancer: Balancer | undefined, o: Rolling): Promise<Step> {
  if (o.control) await killContainer(container);
  const exitCode = o.control ? null : await stopContainer(container);
  await startContainer(container);
  if (balancer) await waitUntilIn(container, balancer);
  await sleep(settleMs);
  const report = await o.traffic.next();
  return { kind: "restarted", name: container.name, report, exitCode, writesHeld: 0 };
}

async function kill(container: Container, traffic: Traffic): Promise<Step> {
  const writesHeld = traffic.inFlight("graphql writes") + traffic.inFlight("rest writes");
  await killContainer(container);
  await sleep(deadMs);
  await startContainer(container);
  await sleep(lookUpMs);
  return { kind: "killed", name: container.name, report: await traffic.next(), exitCode: null, writesHeld };
}

/** The process stays alive and silent until its health check ends it, and Docker's restart policy starts it again. */
async function freeze(container: Container, traffic: Traffic): Promise<Step> {
  const restarts = await countRestarts(container);
  const startMs = performance.now();
  await freezeProcess(container);
  await waitUntilRestarted(container, restarts, frozenTimeoutMs);
  const recoveredMs = performance.now() - startMs;
  await sleep(lookUpMs);
  const report = await traffic.next();
  return { kind: "frozen", name: container.name, report, exitCode: null, writesHeld: 0, recoveredMs };
}

/** As whoever scales down does. */
async function takeAway({ project, traffic }: Rolling): Promise<Step> {
  await scale(project, { posts: 2 });
  await sleep(lookUpMs);
  const left = await listContainers(project.name, "posts");
  if (left.length !== 2) throw new Error(`There are ${left.length} replicas of posts, and not two.`);
  return { kind: "restarted", name: "posts 3 to 2", report: await traffic.next(), exitCode: 0, writesHeld: 0 };
}

async function waitUntilIn(container: Container, balancer: Balancer): Promise<void> {
  const port = container.name.startsWith("gateway") ? 4000 : 4010;
  const url = await readUrl(container, port);
  const deadline = performance.now() + seenInTimeoutMs;
  while (!balancer.isInRotation(url)) {
    if (performance.now() > deadline) throw new Error(`The balancer does not see ${container.name} at ${url} again.`);
    await sleep(seenInMs);
  }
}

const jobNames = [
  "secrets",
  "databases",
  "migrate-users",
  "migrate-posts",
  "migrate-comments",
  "migrate-orders",
  "seed",
];

async function waitForJobs({ name }: Project) {
  const jobs = (await Promise.all(jobNames.map((job) => listContainers(name, job)))).flat();
  const ids = jobs.map(({ id }) => id);
  const { out } = await tryCommand(["docker", "wait", ...ids]);
  const seed = await tryCommand(["docker", "logs", "--tail", "1", ids.at(-1) ?? ""]);
  return { exitCodes: out.trim().split("\n").map(Number), seedLog: seed.out };
}

function createClock(print: Say): (what: string) => void {
  let beganMs = performance.now();
  return (what) => {
    print(`${what} (${((performance.now() - beganMs) / 1_000).toFixed(0)} s)`);
    beganMs = performance.now();
  };
}

/** So that nothing is left behind when somebody wants an end. */
function hearInterruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(`Ended by ${signal}.`)));
  });
  interrupted.catch(() => {});
  return interrupted;
}
