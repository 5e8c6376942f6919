import type { BackendUrls } from "../testbed/backend-process.ts";

/** A server to measure. */
export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Whether it is Tributary's; only then do the targets for memory and pauses apply. */
  readonly isOurs: boolean;
  readonly requires?: "peers" | "nginx" | "posts database";
  /** The names of the workloads that it takes part in; all that are not special if undefined. */
  readonly workloads?: readonly string[];
  /** A second contender, measured at the same time on the same core. The result is the contender's CPU per request divided by the baseline's. */
  readonly baseline?: Contender;
  /** The target of that ratio; undefined if it has none, as for a control. */
  readonly baselineRatioMax?: number;
  start(context: ContenderContext): ContenderCommand;
}

export interface ContenderContext extends BackendUrls {
  /** The posts service's database; empty if no contender requires it. */
  readonly databaseUrl: string;
  /** The port to listen on. */
  readonly port: number;
  /** An empty folder for this process only. */
  readonly folder: string;
}

export interface ContenderCommand {
  /** Defaults to the Node of this process. The program must stay in the foreground. */
  readonly program?: string;
  readonly args: readonly string[];
  /** The process gets these variables, `PATH`, `HOME` and `NODE_ENV=production`, and no others. */
  readonly environment?: Readonly<Record<string, string>>;
}
