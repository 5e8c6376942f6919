import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The gateway has the first core to itself, we (clients and subgraphs) the second: so that neither measures the other. */
const gatewayCore = "0";
const ownCore = "1";

export interface Cores {
  /** For the report. */
  readonly description: string;
  /** What to put before a gateway's command. */
  readonly gatewayPrefix: readonly string[];
}

/** Pins this process where that can be done, and says how to pin a gateway. */
export function pinOwnProcess(): Cores {
  try {
    if (availableParallelism() < 2) throw new Error("one core");
    execFileSync("taskset", ["-a", "-c", "-p", ownCore, String(process.pid)], { stdio: "ignore" });
    return {
      description: `gateway on core ${gatewayCore}, clients and subgraphs on core ${ownCore}`,
      gatewayPrefix: ["taskset", "-c", gatewayCore],
    };
  } catch {
    return { description: "nothing is pinned to a core: taskset or a second core is missing", gatewayPrefix: [] };
  }
}
