import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The gateway runs on the first core, clients and subgraphs on the second, so that they do not slow each other. */
const gatewayCore = "0";
const clientCore = "1";

export interface Cores {
  /** Text for the report. */
  readonly description: string;
  /** The command prefix that pins a gateway to its core. */
  readonly gatewayPrefix: readonly string[];
}

/** Pins this process to its core if possible. @returns the prefix that pins a gateway. */
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
