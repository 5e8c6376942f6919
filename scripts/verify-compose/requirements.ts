// What the machine needs for verify:compose: Docker, Compose and the base images. Without them the check is skipped.
import { tryCommand } from "./command.ts";

/** The base images of docker-compose.yml and the Dockerfile. */
export const baseImage = "node:24-bookworm-slim";
const databaseImage = "postgres:18-bookworm";

/** Compose version 2, a Docker plugin, or the older standalone program. */
const composePrograms = [["docker", "compose"], ["docker-compose"]] as const;

/** Which requirement of this check the machine does not meet; undefined if it meets all. */
export async function findMissingRequirement(): Promise<string | undefined> {
  const docker = await tryCommand(["docker", "info"]);
  if (docker.code !== 0) return "Docker does not run";
  if ((await findCompose()) === undefined) return "neither docker compose nor docker-compose is installed";
  for (const image of [baseImage, databaseImage]) {
    if (!(await isAvailable(image))) return `the image ${image} cannot be pulled`;
  }
  return undefined;
}

/** The command with which Compose is called. */
export async function findCompose(): Promise<readonly string[] | undefined> {
  for (const program of composePrograms) {
    if ((await tryCommand([...program, "version"])).code === 0) return program;
  }
  return undefined;
}

async function isAvailable(image: string): Promise<boolean> {
  if ((await tryCommand(["docker", "image", "inspect", image])).code === 0) return true;
  return (await tryCommand(["docker", "pull", "--quiet", image])).code === 0;
}
