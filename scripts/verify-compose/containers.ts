import { setTimeout as sleep } from "node:timers/promises";
import { runCommand, tryCommand } from "./command.ts";

/** One container of a part. */
export interface Container {
  readonly id: string;
  /** Such as "posts 2". */
  readonly name: string;
}

const pollMs = 500;
const healthyTimeoutMs = 180_000;
/** Longer than the platform gives its parts: who ends later than that is killed by Docker, which is seen in the exit code. */
const stopTimeoutSeconds = 30;

/** The containers of one part, in their order, whichever Compose made them. */
export async function listContainers(project: string, part: string): Promise<readonly Container[]> {
  const labels = { project, service: part };
  const filters = Object.entries(labels).flatMap(([name, value]) => [
    "--filter",
    `label=com.docker.compose.${name}=${value}`,
  ]);
  const format = '{{.ID}} {{.Label "com.docker.compose.container-number"}}';
  const out = await runCommand(["docker", "ps", "--all", "--format", format, ...filters]);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "))
    .sort(([, a], [, b]) => Number(a) - Number(b))
    .map(([id = "", number = ""]) => ({ id, name: `${part} ${number}` }));
}

/** @returns the process's exit code. */
export async function stopContainer({ id }: Container): Promise<number> {
  await runCommand(["docker", "stop", "--time", String(stopTimeoutSeconds), id]);
  return Number(await runCommand(["docker", "inspect", "--format", "{{.State.ExitCode}}", id]));
}

/** kill -9. */
export async function killContainer({ id }: Container): Promise<void> {
  await runCommand(["docker", "kill", "--signal", "KILL", id]);
}

/** Stops the process as a debugger or a hung event loop does: it lives, keeps its connections and takes new ones, and sends nothing. */
export async function freezeProcess({ id }: Container): Promise<void> {
  // By the shell's own `kill`: the images have no other. Process 1 and the shell itself are left out (kill(2)).
  await runCommand(["docker", "exec", id, "bash", "-c", "kill -STOP -1"]);
}

/** Resolves when Docker has restarted the container and it is ready. @throws Error when it is not restarted within `timeoutMs`. */
export async function waitUntilRestarted(
  container: Container,
  restartsBefore: number,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while ((await countRestarts(container)) === restartsBefore) {
    if (performance.now() > deadline) throw new Error(`${container.name} was not restarted within ${timeoutMs} ms.`);
    await sleep(pollMs);
  }
  await waitUntilHealthy(container);
}

/** How often Docker has restarted the container by its restart policy. */
export async function countRestarts({ id }: Container): Promise<number> {
  return Number(await runCommand(["docker", "inspect", "--format", "{{.RestartCount}}", id]));
}

/** Resolves when it is well. @throws Error with what it logged last when it is not within three minutes. */
export async function startContainer(container: Container): Promise<void> {
  await runCommand(["docker", "start", container.id]);
  await waitUntilHealthy(container);
}

/** By the image's own check, called here: Docker calls it every few seconds only. */
export async function waitUntilHealthy({ id, name }: Container): Promise<void> {
  const deadline = performance.now() + healthyTimeoutMs;
  while (performance.now() < deadline) {
    if ((await tryCommand(["docker", "exec", id, "/app/infra/images/healthy"])).code === 0) return;
    await sleep(pollMs);
  }
  const { lastWords } = await tryCommand(["docker", "logs", "--tail", "20", id]);
  throw new Error(`${name} does not become healthy:\n${lastWords}`);
}

/** Where this machine reaches a port of a container that is published. */
export async function readUrl({ id }: Container, port: number): Promise<string> {
  const [first = ""] = (await runCommand(["docker", "port", id, String(port)])).split("\n");
  return `http://${first.trim()}`;
}

/** Packets that came over the network since the container started, the loopback left out. */
export async function readReceivedPackets({ id }: Container): Promise<number> {
  const table = await runCommand(["docker", "exec", id, "cat", "/proc/net/dev"]);
  const counts = table.split("\n").map((line) => /^\s*eth\d+:\s*\d+\s+(\d+)/.exec(line)?.[1]);
  return counts.reduce((total, count) => total + Number(count ?? 0), 0);
}
