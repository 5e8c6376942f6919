// Starts the replicas of one part, at fixed addresses or behind a host name whose addresses change.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { type PlatformProcess, type PartFolder, startProcess } from "../processes/service.ts";
import { hasLoopbackNetwork, type TestDns } from "./test-dns.ts";

export type Environment = Readonly<Record<string, string>>;

/** Starts the processes of one part, one for each host. */
export type StartReplicas = (
  folder: PartFolder,
  environment: Environment,
  hosts: readonly string[],
  port?: number,
) => Promise<readonly PlatformProcess[]>;

export interface StarterOptions {
  /** Receives functions that stop what was started; call them in reverse order. */
  readonly cleanups: (() => unknown)[];
  /** The folder for the processes' output. */
  readonly logs: string | undefined;
}

export function createReplicaStarter({ cleanups, logs }: StarterOptions): StartReplicas {
  if (logs !== undefined) mkdirSync(logs, { recursive: true });
  let count = 0;

  async function start(folder: PartFolder, environment: Environment, host: string, port: number) {
    const file = logs === undefined ? undefined : join(logs, `${basename(folder)}-${++count}.log`);
    const url = `http://${host}:${port}`;
    const process = await startProcess(folder, url, { ...environment, HOST: host, PORT: String(port) }, appendTo(file));
    // No traffic runs any more, so no draining is needed.
    cleanups.push(() => process.end("SIGKILL"));
    return process;
  }

  return (folder, environment, hosts, port) =>
    Promise.all(hosts.map(async (host) => start(folder, environment, host, port ?? (await pickFreePort(host)))));
}

/** The processes of a part, and the addresses under which gateway and REST proxy reach them. */
export interface StartedService {
  readonly processes: readonly PlatformProcess[];
  /** The URLs with this path, for a variable of the gateway or the REST proxy. */
  urls(path: string): string;
  /** Replaces the processes by two others with other addresses. @returns the exit codes of the replaced processes. */
  moveAddresses?(): Promise<readonly (number | null)[]>;
}

const loopback = "127.0.0.1";
const initialHosts = ["127.0.0.2", "127.0.0.3"];
const movedHosts = ["127.0.0.4", "127.0.0.5"];

/** Starts the processes with fixed addresses. */
export async function startAtAddresses(
  start: StartReplicas,
  folder: PartFolder,
  o: Environment,
): Promise<StartedService> {
  const processes = await start(folder, o, [loopback, loopback]);
  return { processes, urls: (path) => processes.map(({ url }) => `${url}${path}`).join(",") };
}

/** Starts the processes behind a name whose addresses change, as in compose and Kubernetes; with fixed addresses if the machine has no others. */
export async function startBehindName(
  start: StartReplicas,
  folder: PartFolder,
  environment: Environment,
  names: TestDns,
): Promise<StartedService> {
  if (!hasLoopbackNetwork) return startAtAddresses(start, folder, environment);
  const name = `${basename(folder)}.test`;
  const port = await pickFreePort(initialHosts[0]);
  const processes = await start(folder, environment, initialHosts, port);
  names.publish(name, initialHosts);
  return {
    processes,
    urls: (path) => `http://${name}:${port}${path}`,
    async moveAddresses() {
      await start(folder, environment, movedHosts, port);
      names.publish(name, movedHosts);
      return Promise.all(processes.map((process) => process.end("SIGTERM")));
    },
  };
}

function appendTo(file: string | undefined): ((text: string) => void) | undefined {
  if (file === undefined) return undefined;
  writeFileSync(file, "");
  return (text) => appendFileSync(file, text);
}
