// The cores of a measurement: the process under test runs on the first core, clients and upstreams on the second, so that they do not slow each other.
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

const gatewayCore = "0";
const clientCore = "1";

export interface Cores {
  readonly description: string;
  /** The command that runs a gateway on its core. */
  readonly gatewayPrefix: readonly string[];
}

/** Pins this process to the core of clients if possible. */
export function pinOwnProcess(): Cores {
  try {
    if (availableParallelism() < 2) throw new Error("one core");
    execFileSync("taskset", ["-a", "-c", "-p", clientCore, String(process.pid)], { stdio: "ignore" });
    return {
      description: `gateway on core ${gatewayCore}, clients and subgraphs on core ${clientCore}`,
      gatewayPrefix: ["taskset", "-c", gatewayCore],
    };
  } catch {
    return { description: "no process is pinned to a core: taskset or a second core is missing", gatewayPrefix: [] };
  }
}
