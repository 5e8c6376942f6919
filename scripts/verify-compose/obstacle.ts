import { tryCommand } from "./command.ts";

/** What docker-compose.yml and Dockerfile build on. */
export const baseImage = "node:24-bookworm-slim";
const databaseImage = "postgres:18-bookworm";

/** Compose of version 2, or the older program of its own. */
const composePrograms = [["docker", "compose"], ["docker-compose"]] as const;

/** Why nothing can be verified here, in words; undefined when it can. */
export async function findObstacle(): Promise<string | undefined> {
  const docker = await tryCommand(["docker", "info"]);
  if (docker.code !== 0) return "there is no Docker here that answers";
  if ((await findCompose()) === undefined) return "there is neither docker compose nor docker-compose here";
  for (const image of [baseImage, databaseImage]) {
    if (!(await isThere(image))) return `${image} is not here and cannot be pulled`;
  }
  return undefined;
}

/** The words that Compose is called by. */
export async function findCompose(): Promise<readonly string[] | undefined> {
  for (const program of composePrograms) {
    if ((await tryCommand([...program, "version"])).code === 0) return program;
  }
  return undefined;
}

async function isThere(image: string): Promise<boolean> {
  if ((await tryCommand(["docker", "image", "inspect", image])).code === 0) return true;
  return (await tryCommand(["docker", "pull", "--quiet", image])).code === 0;
}
