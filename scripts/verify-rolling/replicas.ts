import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { type Service, type ServiceFolder, startProcess } from "../processes/service.ts";
import { hasLoopbackNetwork, type Names } from "./names.ts";

export type Environment = Readonly<Record<string, string>>;

/** All processes of one part, one for each host. */
export type StartReplicas = (
  folder: ServiceFolder,
  environment: Environment,
  hosts: readonly string[],
  port?: number,
) => Promise<readonly Service[]>;

export interface StarterOptions {
  /** What has to be ended, to be called last one first. */
  readonly ends: (() => unknown)[];
  /** The folder for what the processes log. */
  readonly logs: string | undefined;
}

export function createStarter({ ends, logs }: StarterOptions): StartReplicas {
  if (logs !== undefined) mkdirSync(logs, { recursive: true });
  let count = 0;

  async function start(folder: ServiceFolder, environment: Environment, host: string, port: number) {
    const file = logs === undefined ? undefined : join(logs, `${basename(folder)}-${++count}.log`);
    const url = `http://${host}:${port}`;
    const process = await startProcess(folder, url, { ...environment, HOST: host, PORT: String(port) }, keepIn(file));
    // All is over by then: nobody has to be let go.
    ends.push(() => process.end("SIGKILL"));
    return process;
  }

  return (folder, environment, hosts, port) =>
    Promise.all(hosts.map(async (host) => start(folder, environment, host, port ?? (await pickFreePort(host)))));
}

/** The processes of a service, and what the doors know them by. */
export interface Placed {
  readonly processes: readonly Service[];
  /** URLs of this path at them, for a variable of a door. */
  address(path: string): string;
  /** Puts two others in their place, at other addresses, at once. @returns the exit codes of those that went. */
  move?(): Promise<readonly (number | null)[]>;
}

const loopback = "127.0.0.1";
const hostsAtFirst = ["127.0.0.2", "127.0.0.3"];
const hostsAfterwards = ["127.0.0.4", "127.0.0.5"];

/** At addresses that are written down. */
export async function placeByAddress(start: StartReplicas, folder: ServiceFolder, o: Environment): Promise<Placed> {
  const processes = await start(folder, o, [loopback, loopback]);
  return { processes, address: (path) => processes.map(({ url }) => `${url}${path}`).join(",") };
}

/** Behind a name whose addresses change, as in compose and Kubernetes; where there are no such addresses, at ones that are written down. */
export async function placeByName(
  start: StartReplicas,
  folder: ServiceFolder,
  environment: Environment,
  names: Names,
): Promise<Placed> {
  if (!hasLoopbackNetwork) return placeByAddress(start, folder, environment);
  const name = `${basename(folder)}.test`;
  const port = await pickFreePort(hostsAtFirst[0]);
  const processes = await start(folder, environment, hostsAtFirst, port);
  names.publish(name, hostsAtFirst);
  return {
    processes,
    address: (path) => `http://${name}:${port}${path}`,
    async move() {
      await start(folder, environment, hostsAfterwards, port);
      names.publish(name, hostsAfterwards);
      return Promise.all(processes.map((process) => process.end("SIGTERM")));
    },
  };
}

function keepIn(file: string | undefined): ((text: string) => void) | undefined {
  if (file === undefined) return undefined;
  writeFileSync(file, "");
  return (text) => appendFileSync(file, text);
}
