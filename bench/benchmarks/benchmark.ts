import type { Contender } from "../contenders/contender.ts";
import type { Workload } from "../workloads/workload.ts";

export interface Benchmark {
  /** The script in package.json. */
  readonly script: string;
  /** The heading of its section in RESULTS.md. */
  readonly title: string;
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly ratioTargets: readonly CpuRatioTarget[];
  /** The contender whose memory our contenders must not exceed. */
  readonly memoryReference?: string;
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

/** CPU per request of the numerator divided by that of the denominator, with targets by workload. */
export interface CpuRatioTarget {
  readonly title: string;
  /** Names of contenders. */
  readonly numerator: string;
  readonly denominator: string;
  /** The denominator's workload, if it is not the numerator's. */
  readonly denominatorWorkload?: string;
  readonly min?: Readonly<Record<string, number>>;
  readonly max?: Readonly<Record<string, number>>;
}
