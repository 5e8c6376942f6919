// For the verification resilience: pins the gateway under test to the first core, and this process, in which
// the clients and the subgraphs run, to the second core, so that the two processes do not slow each other.
import { availableParallelism } from "node:os";
import { pinThisProcess } from "@tributary/kit/testing/processes/launched-process";

const gatewayCore = "0";
const clientCore = 1;

export interface Cores {
  readonly description: string;
  /** The command that runs a gateway on its core; empty if nothing is pinned. */
  readonly gatewayPrefix: readonly string[];
}

/** Pins all threads of this process to the second core if possible. @returns how to start the gateway on the first core. */
export function pinOwnProcess(): Cores {
  try {
    if (availableParallelism() < 2) throw new Error("one core");
    pinThisProcess(clientCore);
    return {
      description: `gateway on core ${gatewayCore}, clients and subgraphs on core ${clientCore}`,
      gatewayPrefix: ["taskset", "-c", gatewayCore],
    };
  } catch {
    return { description: "no process is pinned to a core: taskset or a second core is missing", gatewayPrefix: [] };
  }
}
