// Commands to one container: stop, kill, freeze, start and read.
import { pollUntil } from "@tributary/kit/testing/poll-until";
import { runCommand, tryCommand } from "./command.ts";

/** One container of a part (a service, the gateway, the REST proxy or a job). */
export interface Container {
  readonly id: string;
  /** Such as "posts 2". */
  readonly name: string;
}

const pollMs = 500;
const healthyTimeoutMs = 180_000;
const restartTimeoutMs = 120_000;
/** Longer than the platform's shutdown timeouts. Docker kills a process that takes longer, and its exit code shows the kill. */
const stopTimeoutSeconds = 30;

/** The containers of one part, by number. They are found by labels, because Compose 1 and 2 name containers differently. */
export async function listContainers(project: string, part: string): Promise<readonly Container[]> {
  const projectFilter = ["--filter", `label=com.docker.compose.project=${project}`];
  const partFilter = ["--filter", `label=com.docker.compose.service=${part}`];
  const format = '{{.Label "com.docker.compose.container-number"}} {{.ID}}';
  const out = await runCommand(["docker", "ps", "--all", "--format", format, ...projectFilter, ...partFilter]);
  const lines = out.split("\n").filter((line) => line !== "");
  const numbered = lines.map((line) => line.split(" ")).toSorted(([a], [b]) => Number(a) - Number(b));
  return numbered.map(([number, id = ""]) => ({ id, name: `${part} ${number}` }));
}

/** @returns the process's exit code. */
export async function stopContainer({ id }: Container): Promise<number> {
  await runCommand(["docker", "stop", "--time", String(stopTimeoutSeconds), id]);
  return Number(await runCommand(["docker", "inspect", "--format", "{{.State.ExitCode}}", id]));
}

/** Sends SIGKILL. */
export async function killContainer({ id }: Container): Promise<void> {
  await runCommand(["docker", "kill", "--signal", "KILL", id]);
}

/**
 * Stops the process with SIGSTOP, like a hung event loop: its connections remain open and new ones are accepted, but it sends nothing. Resolves when
 * its health check has ended it, Docker's restart policy has started it again, and it is ready. @throws Error if it is not restarted in two minutes.
 */
export async function freezeUntilRestarted(container: Container): Promise<void> {
  const { id, name } = container;
  const countRestarts = () => runCommand(["docker", "inspect", "--format", "{{.RestartCount}}", id]);
  const restartsBefore = await countRestarts();
  // The images contain no `kill` program, so the shell's builtin is used. -1 means all processes except the shell and process 1 (kill(2)):
  // process 1 is Docker's init, not Node.
  await runCommand(["docker", "exec", id, "bash", "-c", "kill -STOP -1"]);
  const isRestarted = async () => (await countRestarts()) !== restartsBefore;
  if (!(await pollUntil(isRestarted, { everyMs: pollMs, withinMs: restartTimeoutMs })))
    throw new Error(`${name} was not restarted within ${restartTimeoutMs} ms.`);
  await waitUntilHealthy(container);
}

/** Resolves when the container is healthy. @throws Error with its last log lines if it is not within three minutes. */
export async function startContainer(container: Container): Promise<void> {
  await runCommand(["docker", "start", container.id]);
  await waitUntilHealthy(container);
}

/** Runs the image's health check directly, because Docker runs it only every few seconds. */
export async function waitUntilHealthy({ id, name }: Container): Promise<void> {
  const isHealthy = async () => (await tryCommand(["docker", "exec", id, "/app/infra/images/healthy"])).hasSucceeded;
  if (await pollUntil(isHealthy, { everyMs: pollMs, withinMs: healthyTimeoutMs })) return;
  const { outputEnd } = await tryCommand(["docker", "logs", "--tail", "20", id]);
  throw new Error(`${name} does not become healthy:\n${outputEnd}`);
}

/** The URL of a container's published port on this machine. */
export async function readUrl({ id }: Container, port: number): Promise<string> {
  const addresses = await runCommand(["docker", "port", id, String(port)]);
  const [firstAddress = ""] = addresses.split("\n");
  return `http://${firstAddress.trim()}`;
}
