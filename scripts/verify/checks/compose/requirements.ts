// What `npm run verify -- compose` needs: Docker, Compose and the base images.
import { tryCommand } from "./command.ts";

/** The base image of the built images. docker-compose.yml has the same variables and defaults for both images. */
export const baseImage = process.env["NODE_IMAGE"] ?? "node:24-bookworm-slim";
const databaseImage = process.env["POSTGRES_IMAGE"] ?? "postgres:18-bookworm";

const succeeds = async (...command: readonly string[]) => (await tryCommand(command)).hasSucceeded;

/** Pulls the base images that are missing. @returns the first requirement that the machine does not meet; undefined if it meets all. */
export async function ensureRequirements(): Promise<string | undefined> {
  if (!(await succeeds("docker", "info"))) return "`docker info` fails";
  if ((await findCompose()) === undefined) return "neither docker compose nor docker-compose is installed";
  for (const image of [baseImage, databaseImage]) {
    const isPresent =
      (await succeeds("docker", "image", "inspect", image)) || (await succeeds("docker", "pull", "-q", image));
    if (!isPresent) return `the image ${image} cannot be pulled`;
  }
  return undefined;
}

/** The command that starts Compose: version 2, a Docker plugin, or the older standalone program. Undefined if neither is installed. */
export async function findCompose(): Promise<readonly string[] | undefined> {
  if (await succeeds("docker", "compose", "version")) return ["docker", "compose"];
  return (await succeeds("docker-compose", "version")) ? ["docker-compose"] : undefined;
}
