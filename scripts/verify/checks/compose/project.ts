// Starts, scales and removes the Compose project under test, for compose.ts.
import { pickFreePort } from "@tributary/kit/process/free-port";
import { serviceNames } from "../../platform/part-process.ts";
import { fetchToken } from "../../../token.ts";
import { type Environment, runCommand, tryCommand } from "./command.ts";
import { type Container, listContainers, readUrl, waitUntilHealthy } from "./containers.ts";
import { findCompose } from "./requirements.ts";

const publicParts = ["gateway", "rest-proxy"] as const;
/** A part with published ports. */
export type PublicPart = (typeof publicParts)[number];

/** The ports in the containers. `readUrl` reads the port of this machine at which Docker publishes each. */
export const containerPortOf = { gateway: 4000, "rest-proxy": 4010, issuer: 4020 } as const;
const replicasOf = {
  ...Object.fromEntries(serviceNames.map((name) => [name, 2])),
  gateway: 2,
  "rest-proxy": 2,
  posts: 3,
};
const removalsMax = 3;

/** A Compose project with a unique name, from the unchanged `docker-compose.yml`. */
export interface Project {
  readonly name: string;
  readonly version: string;
  /** Runs Compose with these arguments. @returns its standard output. */
  compose(...args: readonly string[]): Promise<string>;
  /** Runs a Bash script, in which `dc` is Compose with this project. */
  run(script: string): Promise<string>;
}

/** Chooses the name, version and ports of a new project. Builds and starts nothing. */
export async function openProject(): Promise<Project> {
  const program = await findCompose();
  if (program === undefined) throw new Error("Compose is not installed.");
  const name = `tributary-verify-${process.pid}`;
  const version = `verify-${process.pid}`;
  const environment: Environment = {
    VERSION: version,
    DOCKER_BUILDKIT: "1",
    COMPOSE_DOCKER_CLI_BUILD: "1",
    // A range with one port for each replica; Docker assigns them.
    GATEWAY_PORT: await pickPortRange(replicasOf.gateway),
    REST_PROXY_PORT: await pickPortRange(replicasOf["rest-proxy"]),
    ISSUER_PORT: String(await pickFreePort()),
    LOG_LEVEL: "warn",
    ENDPOINT_DRAIN_DELAY_MS: "2000",
  };
  const command = [...program, "--env-file", "infra/compose/development.env", "--project-name", name];
  // The scripts may change the folder, and Compose needs that of this repository.
  const dc = `root=$PWD\ndc() { (cd "$root" && ${command.join(" ")} "$@"); }\n`;
  return {
    name,
    version,
    compose: (...args) => runCommand([...command, ...args], environment),
    run: (script) => runCommand(["bash", "-eu", "-c", dc + script], environment),
  };
}

/** Removes containers, networks, volumes and images. Tries again, because a container that starts when SIGINT arrives may appear late. */
export async function removeProject({ name, compose, version }: Project): Promise<void> {
  const label = `label=com.docker.compose.project=${name}`;
  for (let removals = 0; removals < removalsMax; removals++) {
    try {
      await compose("down", "--volumes", "--remove-orphans", "--timeout", "5");
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
    }
    const remainingIds = await runCommand(["docker", "ps", "--all", "--quiet", "--filter", label]);
    if (remainingIds === "") break;
  }
  // Removes only the tags; the layers remain in the build cache for the next run.
  await tryCommand(["docker", "image", "rm", ...imageNames.map((image) => `tributary/${image}:${version}`)]);
}

const imageNames = [...serviceNames, ...publicParts, "issuer", "seed"];

export async function fetchUserToken(project: Project, user: string, scopes: readonly string[]): Promise<string> {
  return fetchToken(await readPublicUrl(project, "issuer"), { user, scope: scopes.join(" "), ttlSeconds: 3_600 });
}

/** The URL of a part's first container, once the container is healthy. */
export async function readPublicUrl({ name }: Project, part: keyof typeof containerPortOf): Promise<string> {
  const [first] = await listContainers(name, part);
  if (first === undefined) throw new Error(`${part} does not run.`);
  await waitUntilHealthy(first);
  return readUrl(first, containerPortOf[part]);
}

/** Scales parts to these numbers of replicas, by default each part to two and posts to three. The jobs do not run again. */
export async function scale(project: Project, replicas: Readonly<Record<string, number>> = replicasOf): Promise<void> {
  const scales = Object.entries(replicas).flatMap(([part, count]) => ["--scale", `${part}=${count}`]);
  await project.compose("up", "--detach", "--no-deps", "--no-recreate", ...scales, ...Object.keys(replicas));
}

export async function waitForContainers(
  { name }: Project,
  parts: readonly string[],
): Promise<ReadonlyMap<string, readonly Container[]>> {
  const listed = await Promise.all(parts.map(async (part) => [part, await listContainers(name, part)] as const));
  const allContainers = listed.flatMap(([, containers]) => containers);
  await Promise.all(allContainers.map(waitUntilHealthy));
  return new Map(listed);
}

/** A range of `count` ports in Compose's notation. Only the first one is known to be free. */
async function pickPortRange(count: number): Promise<string> {
  const first = await pickFreePort();
  return `${first}-${first + count - 1}`;
}
