import { pickFreePort } from "@tributary/kit/process/free-port";
import { journeyScopes } from "../journey/journey.ts";
import { writerId } from "../journey/seeded.ts";
import { type Balancer, startBalancer } from "../processes/balancer.ts";
import { fetchToken } from "../token.ts";
import { type Environment, runCommand, tryCommand } from "./command.ts";
import { type Container, listContainers, readUrl, waitUntilHealthy } from "./containers.ts";
import { findCompose } from "./obstacle.ts";

export const services = ["users", "posts", "comments", "orders"] as const;
export const doors = ["gateway", "rest-proxy"] as const;
type Part = (typeof services)[number] | (typeof doors)[number];

const portOf: Readonly<Record<string, number>> = { gateway: 4000, "rest-proxy": 4010, issuer: 4020 };
const replicasOf: Readonly<Record<Part, number>> = {
  users: 2,
  posts: 3,
  comments: 2,
  orders: 2,
  gateway: 2,
  "rest-proxy": 2,
};
const probeEveryMs = 200;
const removalsMax = 3;

/** A project of Compose under a name of its own, from `docker-compose.yml` as it is. */
export interface Project {
  readonly name: string;
  readonly version: string;
  /** Runs Compose with these words. @returns its standard output. */
  compose(...words: readonly string[]): Promise<string>;
}

export async function openProject(): Promise<Project> {
  const program = await findCompose();
  if (program === undefined) throw new Error("There is no Compose.");
  const name = `tributary-verify-${process.pid}`;
  const version = `verify-${process.pid}`;
  const environment: Environment = {
    VERSION: version,
    DOCKER_BUILDKIT: "1",
    COMPOSE_DOCKER_CLI_BUILD: "1",
    // As many ports as there are to be doors: Docker gives each of them one.
    GATEWAY_PORT: await pickPortRange(replicasOf.gateway),
    REST_PROXY_PORT: await pickPortRange(replicasOf["rest-proxy"]),
    ISSUER_PORT: String(await pickFreePort()),
    LOG_LEVEL: "warn",
    DOOR_DRAIN_DELAY_MS: "2000",
  };
  const words = [...program, "--env-file", "infra/compose/development.env", "--project-name", name];
  return { name, version, compose: (...more) => runCommand([...words, ...more], environment) };
}

/** Removes containers, networks, volumes and images. What was just being started when somebody wanted an end is there a moment later. */
export async function removeProject({ name, compose, version }: Project): Promise<void> {
  for (let tries = 0; tries < removalsMax; tries++) {
    await compose("down", "--volumes", "--remove-orphans", "--timeout", "5").catch((error: unknown) =>
      process.stderr.write(`${String(error)}\n`),
    );
    const label = `label=com.docker.compose.project=${name}`;
    if ((await runCommand(["docker", "ps", "--all", "--quiet", "--filter", label])) === "") break;
  }
  // By their names: the layers stay for the next build.
  await tryCommand(["docker", "image", "rm", ...imageNames.map((image) => `tributary/${image}:${version}`)]);
}

const imageNames = [...services, ...doors, "issuer", "seed"];

export async function fetchWriterToken({ name }: Project): Promise<string> {
  const [issuer] = await listContainers(name, "issuer");
  if (issuer === undefined) throw new Error("The issuer does not run.");
  await waitUntilHealthy(issuer);
  const url = await readUrl(issuer, portOf["issuer"] ?? 0);
  return fetchToken(url, { user: writerId, scope: journeyScopes.join(" "), ttlSeconds: 3_600 });
}

/** The address of a part's first container. */
export async function readDoorUrl({ name }: Project, part: (typeof doors)[number]): Promise<string> {
  const [first] = await listContainers(name, part);
  if (first === undefined) throw new Error(`There is no ${part}.`);
  await waitUntilHealthy(first);
  return readUrl(first, portOf[part] ?? 0);
}

/** Brings a part, or all, to so many replicas. The jobs are not run again. */
export async function scale(
  project: Project,
  replicas: Readonly<Partial<Record<Part, number>>> = replicasOf,
): Promise<void> {
  const scales = Object.entries(replicas).flatMap(([part, count]) => ["--scale", `${part}=${count}`]);
  await project.compose("up", "--detach", "--no-deps", "--no-recreate", ...scales, ...Object.keys(replicas));
}

export async function listParts(
  { name }: Project,
  parts: readonly Part[],
): Promise<ReadonlyMap<string, readonly Container[]>> {
  const listed = await Promise.all(parts.map(async (part) => [part, await listContainers(name, part)] as const));
  await Promise.all(listed.flatMap(([, containers]) => containers.map(waitUntilHealthy)));
  return new Map(listed);
}

/** A plain balancer before the containers of one door. */
export async function balance(part: (typeof doors)[number], containers: readonly Container[]): Promise<Balancer> {
  const urls = await Promise.all(containers.map((container) => readUrl(container, portOf[part] ?? 0)));
  return startBalancer(urls, probeEveryMs);
}

/** Ports in a row that nobody listens on, as Compose writes them. */
async function pickPortRange(count: number): Promise<string> {
  const first = await pickFreePort();
  return `${first}-${first + count - 1}`;
}
