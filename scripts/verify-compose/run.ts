// Builds and starts the Compose project, checks it, and restarts, kills and freezes its containers under load.
import { setTimeout as sleep } from "node:timers/promises";
import { startTraffic, type Traffic } from "../journey/traffic.ts";
import type { Balancer } from "../processes/balancer.ts";
import { countFailures, describeStep, type RestartStep, stepsHead } from "../verify-rolling/steps.ts";
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
import type { ComposeCheckOptions } from "./options.ts";
import {
  balance,
  publicParts,
  fetchWriterToken,
  listParts,
  openProject,
  type Project,
  readPublicUrl,
  removeProject,
  scale,
  services,
} from "./platform.ts";
import type { ComposeOutcome } from "./report.ts";
import { describeShare, measureShares } from "./traffic-shares.ts";
import { checkJourney } from "./journey-check.ts";

type Print = (line: string) => void;

/** The pause between a container that is healthy again and the next restart. */
const settleMs = 1_000;
/** Gateway and REST proxy look names up every five seconds. */
const dnsRefreshMs = 6_000;
/** How long a killed container remains stopped. */
const downMs = 3_000;
/** A frozen container that is not restarted within this time counts as never restarted. */
const frozenTimeoutMs = 120_000;
const rampMs = 3_000;
const baselineMs = 3_000;
const baselineTriesMax = 10;
const rotationTimeoutMs = 10_000;
const rotationPollMs = 50;
/** Longer than any deadline of the platform. */
const requestTimeoutMs = 35_000;

/** Runs all checks in a separate Compose project, and removes the project. */
export async function runCompose(options: ComposeCheckOptions, print: Print): Promise<ComposeOutcome> {
  const project = await openProject();
  const interrupted = waitForInterruption();
  try {
    return await Promise.race([verifyProject(project, options, print), interrupted]);
  } finally {
    print("removing containers, volumes and images");
    await removeProject(project);
  }
}

async function verifyProject(project: Project, options: ComposeCheckOptions, print: Print): Promise<ComposeOutcome> {
  const printWithDuration = createDurationPrinter(print);
  await project.compose("build");
  printWithDuration("the images are built");
  const images = await readImages(project.version);
  for (const image of images) print(`  ${describeImage(image)}`);

  await project.compose("up", "--detach");
  const graphqlUrl = await readPublicUrl(project, "gateway");
  const restUrl = await readPublicUrl(project, "rest-proxy");
  const token = await fetchWriterToken(project);
  const jobs = await waitForJobs(project);
  printWithDuration(`docker-compose.yml is up; the jobs ended with ${jobs.exitCodes.join(", ")}`);
  const journey = await checkJourney({ graphqlUrl, restUrl, token, run: "journey" });
  printWithDuration(
    `${journey.requestCount} requests of the journey through the published ports, ${journey.faults.length} failed`,
  );

  await project.compose("up", "--detach", "seed");
  const again = await waitForJobs(project);
  const isDataKept = again.seedLog.includes("nothing to seed");
  printWithDuration(`started again, the seed job ${isDataKept ? "left the data unchanged" : "SEEDED AGAIN"}`);
  await scale(project);
  const replicas = await listParts(project, services);
  const publicContainers = await listParts(project, publicParts);
  printWithDuration("two replicas of each part and three of posts run");

  const balancers = await Promise.all(publicParts.map((via) => balance(via, publicContainers.get(via) ?? [])));
  const [gateway, proxy] = balancers as [Balancer, Balancer];
  try {
    const urls = { gateway: gateway.url, "rest-proxy": proxy.url };
    const shares = await measureShares({ urls: urls, services: replicas, token, perSecond: options.perSecond });
    print(`\n${"through".padEnd(12)}${"service".padEnd(12)} each replica's share`);
    for (const share of shares) print(describeShare(share));
    const traffic = startTraffic({
      graphqlUrl: gateway.url,
      restUrl: proxy.url,
      token,
      run: `compose-${process.pid}`,
      perSecond: options.perSecond,
      timeoutMs: requestTimeoutMs,
    });
    const steps = await restartAll({ project, replicas, publicContainers, balancers, traffic, print, ...options });
    await traffic.stop();
    printWithDuration("\nall containers were restarted");
    return { images, journey, jobs: again, isDataKept, shares, steps, audit: await traffic.audit() };
  } finally {
    await Promise.all(balancers.map((balancer) => balancer.stop()));
  }
}

interface RestartContext extends ComposeCheckOptions {
  readonly project: Project;
  readonly replicas: ReadonlyMap<string, readonly Container[]>;
  readonly publicContainers: ReadonlyMap<string, readonly Container[]>;
  /** In the order of `publicParts`. */
  readonly balancers: readonly Balancer[];
  readonly traffic: Traffic;
  readonly print: Print;
}

async function restartAll(o: RestartContext): Promise<readonly RestartStep[]> {
  const { traffic, replicas, publicContainers, balancers, control, print } = o;
  const steps: RestartStep[] = [];
  const record = (step: RestartStep) => {
    steps.push(step);
    print(describeStep(step));
  };
  print(`\n${stepsHead}`);
  await sleep(rampMs);
  await traffic.next();
  record(await measureBaseline(traffic, print));
  for (const container of inRestartOrder(replicas)) record(await restart(container, undefined, o));
  for (const [index, part] of publicParts.entries()) {
    for (const container of publicContainers.get(part) ?? []) record(await restart(container, balancers[index], o));
  }
  const [posts, another] = replicas.get("posts") ?? [];
  if (!control && posts) record(await kill(posts, traffic));
  if (!control && another) record(await freeze(another, traffic));
  if (!control && another) record(await scaleDown(o));
  return steps;
}

/** Before the restarts no request may fail. Repeated up to ten times, because the machine may still be busy with the start. */
async function measureBaseline(traffic: Traffic, print: Print): Promise<RestartStep> {
  for (let tries = 1; ; tries++) {
    await sleep(baselineMs);
    const step: RestartStep = {
      kind: "baseline",
      name: "none",
      report: await traffic.next(),
      exitCode: null,
      writesInFlight: 0,
    };
    if (countFailures(step.report) === 0 || tries >= baselineTriesMax) return step;
    print(describeStep(step));
  }
}

/**
 * The first replica of each service, then the second of each: gateway and REST proxy look names up every five seconds, so they know the new
 * address of a restarted replica before the last replica with an old address is restarted.
 */
function inRestartOrder(replicas: RestartContext["replicas"]): readonly Container[] {
  const containersByService = [...replicas.values()];
  const replicasMax = Math.max(...containersByService.map(({ length }) => length));
  return Array.from({ length: replicasMax }, (_, index) =>
    containersByService.flatMap((containers) => containers[index] ?? []),
  ).flat();
}

/** Like one step of a rollout: stops the container, starts it, and waits until it is healthy. */
async function restart(container: Container, balancer: Balancer | undefined, o: RestartContext): Promise<RestartStep> {
  if (o.control) await killContainer(container);
  const exitCode = o.control ? null : await stopContainer(container);
  await startContainer(container);
  if (balancer) await waitUntilInRotation(container, balancer);
  await sleep(settleMs);
  const report = await o.traffic.next();
  return { kind: "restarted", name: container.name, report, exitCode, writesInFlight: 0 };
}

async function kill(container: Container, traffic: Traffic): Promise<RestartStep> {
  const writesInFlight = traffic.inFlight("graphql writes") + traffic.inFlight("rest writes");
  await killContainer(container);
  await sleep(downMs);
  await startContainer(container);
  await sleep(dnsRefreshMs);
  return { kind: "killed", name: container.name, report: await traffic.next(), exitCode: null, writesInFlight };
}

/** The process is stopped (SIGSTOP) until its health check ends it, and Docker's restart policy starts it again. */
async function freeze(container: Container, traffic: Traffic): Promise<RestartStep> {
  const restarts = await countRestarts(container);
  const startMs = performance.now();
  await freezeProcess(container);
  await waitUntilRestarted(container, restarts, frozenTimeoutMs);
  const recoveredMs = performance.now() - startMs;
  await sleep(dnsRefreshMs);
  const report = await traffic.next();
  return { kind: "frozen", name: container.name, report, exitCode: null, writesInFlight: 0, recoveredMs };
}

/** Scales posts down by one replica. */
async function scaleDown({ project, traffic }: RestartContext): Promise<RestartStep> {
  await scale(project, { posts: 2 });
  await sleep(dnsRefreshMs);
  const remaining = await listContainers(project.name, "posts");
  if (remaining.length !== 2) throw new Error(`posts has ${remaining.length} replicas instead of two.`);
  return { kind: "restarted", name: "posts 3 to 2", report: await traffic.next(), exitCode: 0, writesInFlight: 0 };
}

async function waitUntilInRotation(container: Container, balancer: Balancer): Promise<void> {
  const port = container.name.startsWith("gateway") ? 4000 : 4010;
  const url = await readUrl(container, port);
  const deadline = performance.now() + rotationTimeoutMs;
  while (!balancer.isInRotation(url)) {
    if (performance.now() > deadline)
      throw new Error(`The balancer does not forward to ${container.name} at ${url} again.`);
    await sleep(rotationPollMs);
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

function createDurationPrinter(print: Print): (line: string) => void {
  let startedMs = performance.now();
  return (line) => {
    print(`${line} (${((performance.now() - startedMs) / 1_000).toFixed(0)} s)`);
    startedMs = performance.now();
  };
}

/** Rejects after SIGINT or SIGTERM, so that the project is removed before this process ends. */
function waitForInterruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => reject(new Error(`Ended by ${signal}.`)));
  });
  interrupted.catch(() => {});
  return interrupted;
}
