import { type ErrorCode, statusOf } from "../../../errors/app-error.ts";

/** Names end in their unit, counters in `_total` (https://prometheus.io/docs/practices/naming/). Values that clients send are `other`. */
export interface MetricDeclaration {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Ascending, in the unit of the name. */
  readonly buckets?: readonly number[];
  /** Known before the first event: exported as 0, once the process knows a value of each other label. Other values are possible. */
  readonly expected?: Readonly<Record<string, readonly (string | number)[]>>;
}

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

export type Expected<D extends MetricDeclaration, Label extends keyof NonNullable<D["expected"]>> = NonNullable<
  D["expected"]
>[Label][number];

/** From the time of a cached response to the longest request deadline. */
export const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

export const okOrFailed = ["ok", "failed"] as const;

export const errorCodes = Object.keys(statusOf) as ErrorCode[];
