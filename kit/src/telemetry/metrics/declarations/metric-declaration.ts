import { type ErrorCode, statusOf } from "../../../errors/app-error.ts";

/**
 * The declaration of a metric. Names end in their unit, `_seconds` or `_bytes`, counters in `_total`
 * (https://prometheus.io/docs/practices/naming/). The values of a label come from the code, the schema, the routes or the configuration, so they
 * are few. Other values that a client sends are counted as `other`.
 */
export interface MetricDeclaration {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds, ascending, in the unit of the name. */
  readonly buckets?: readonly number[];
  /**
   * Values of a label that are known before the first event: each is exported as 0. For a metric with further labels this begins when the process
   * knows a value of these, from `Metrics.announce` or the first event with it. Other values are possible.
   */
  readonly expected?: Readonly<Record<string, readonly (string | number)[]>>;
}

export type MetricDeclarations = Readonly<Record<string, MetricDeclaration>>;

/** The expected values of a label, for the code that counts them. */
export type Expected<D extends MetricDeclaration, Label extends keyof NonNullable<D["expected"]>> = NonNullable<
  D["expected"]
>[Label][number];

/** In seconds, from the time of a cached response to the longest request deadline. */
export const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** The label `result` of something that succeeds or fails. */
export const okOrFailed = ["ok", "failed"] as const;

/** The label `code` of errors of this platform. */
export const errorCodes = Object.keys(statusOf) as ErrorCode[];
