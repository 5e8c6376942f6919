// What `npm run verify -- compose` needs: Docker, Compose and the base images.
import { tryCommand } from "./command.ts";

/** The base image of the built images. docker-compose.yml has the same variables and defaults for both images. */
export const baseImage = process.env["NODE_IMAGE"] ?? "node:24-bookworm-slim";
const databaseImage = process.env["POSTGRES_IMAGE"] ?? "postgres:18-bookworm";

/** Compose version 2, a Docker plugin, or the older standalone program. */
const composePrograms = [["docker", "compose"], ["docker-compose"]] as const;

/** Pulls the base images that are missing. @returns the first requirement that the machine does not meet; undefined if it meets all. */
export async function ensureRequirements(): Promise<string | undefined> {
  const docker = await tryCommand(["docker", "info"]);
  if (docker.code !== 0) return "`docker info` fails";
  if ((await findCompose()) === undefined) return "neither docker compose nor docker-compose is installed";
  for (const image of [baseImage, databaseImage]) {
    if (!(await pullIfMissing(image))) return `the image ${image} cannot be pulled`;
  }
  return undefined;
}

/** The command that starts Compose. Undefined if neither program is installed. */
export async function findCompose(): Promise<readonly string[] | undefined> {
  for (const program of composePrograms) {
    if ((await tryCommand([...program, "version"])).code === 0) return program;
  }
  return undefined;
}

/** Pulls the image unless it is on the machine. @returns false if it cannot be pulled. */
async function pullIfMissing(image: string): Promise<boolean> {
  if ((await tryCommand(["docker", "image", "inspect", image])).code === 0) return true;
  return (await tryCommand(["docker", "pull", "--quiet", image])).code === 0;
}
