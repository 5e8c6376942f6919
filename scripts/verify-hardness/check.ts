import type { MonitoredGateway } from "./platform/gateway-process.ts";
import type { ResilienceOptions } from "./options.ts";

export interface ResilienceCheck {
  /** The name for `--only`. */
  readonly name: string;
  /** What is proved if the check passes. */
  readonly claim: string;
  /** Whether an unmodified Apollo Gateway fails this check. */
  readonly apolloFails: boolean;
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
  /** Starts a gateway that reads the supergraph from `file`. Resolves when it serves the supergraph. */
  startGateway(supergraphSdl: string, environment?: Readonly<Record<string, string>>): Promise<StartedGateway>;
  /** Registers a function that runs after the check. They run in reverse order. */
  onCleanup(cleanUp: () => unknown): void;
}

export interface StartedGateway extends MonitoredGateway {
  readonly file: string;
}
