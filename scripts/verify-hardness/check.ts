import type { GatewayProcess } from "./gateway-process.ts";
import type { VerifyOptions } from "./options.ts";

export interface Check {
  /** For `--only`. */
  readonly name: string;
  /** What holds when it passes. */
  readonly claim: string;
  /** Whether it finds something wrong with Apollo Gateway as it comes. */
  readonly stockFails: boolean;
  run(scene: Scene): Promise<void>;
}

export interface Finding {
  readonly claim: string;
  readonly holds: boolean;
  /** What was measured, in words. */
  readonly measured: string;
}

/** What a check may use. Everything that it starts is ended after it. */
export interface Scene {
  readonly options: VerifyOptions;
  /** Says what was measured beside, or how far a long check is. */
  readonly note: (line: string) => void;
  readonly find: (finding: Finding) => void;
  /** Resolves once the gateway serves this supergraph, found in `file`. */
  startGateway(supergraphSdl: string, environment?: Readonly<Record<string, string>>): Promise<StartedGateway>;
  /** Runs after the check, last one first. */
  onEnd(end: () => unknown): void;
}

export interface StartedGateway extends GatewayProcess {
  readonly file: string;
}
