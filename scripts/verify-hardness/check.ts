// What a resilience check is: verify-hardness.ts lists the checks, run.ts runs each.
import type { MonitoredGateway } from "./platform/gateway-process.ts";
import type { ResilienceOptions } from "./options.ts";

export interface ResilienceCheck {
  /** The name for `--only`. */
  readonly name: string;
  /** What is proved if the check passes. */
  readonly purpose: string;
  /** Whether an unmodified Apollo Gateway cannot pass this check, so that `--control` requires a fault. */
  readonly apolloFails: boolean;
  /**
   * Reports faults of the gateway as findings. If it throws, the check has failed, also with `--control`; a thrown
   * `GatewayFault` is a finding.
   */
  run(context: CheckContext): Promise<void>;
}

export interface Finding {
  readonly claim: string;
  readonly passed: boolean;
  /** What was measured, as a text. */
  readonly measured: string;
}

/** What a check uses. Everything that it starts is stopped after the check. */
export interface CheckContext {
  readonly options: ResilienceOptions;
  /** Prints an additional measurement, or the progress of a long check. */
  readonly note: (line: string) => void;
  readonly report: (finding: Finding) => void;
  /**
   * Writes the supergraph to `file`, and starts a gateway that reads and watches this file: this repository's gateway, with `--control` Apollo's.
   * Resolves when it serves the supergraph.
   */
  startGateway(supergraphSdl: string, environment?: Readonly<Record<string, string>>): Promise<StartedGateway>;
  /** Registers a function that runs after the check. They run in reverse order, also after another one has thrown. */
  onCleanup(cleanUp: () => unknown): void;
}

export interface StartedGateway extends MonitoredGateway {
  /** The path of the supergraph file. A check publishes another supergraph by replacing it. */
  readonly file: string;
}
