import { parseArgs } from "node:util";
import { workloadNames } from "./workloads.ts";

export interface CapacityOptions {
  /** The limit for the 99th percentile of latencies, in milliseconds. */
  readonly p99MsMax: number;
  /** How long each rate is measured. */
  readonly seconds: number;
  /** Names of the workloads to measure. */
  readonly only: readonly string[];
  /** Whether to write the tables into docs/capacity.md. */
  readonly write: boolean;
}

export const usage = `Usage: npm run measure:capacity -- [options]

Starts PostgreSQL and one process of each service, the gateway and the REST proxy. For each workload it raises the request rate until
the 99th percentile of latencies exceeds the limit, or a request fails. Use an idle machine, with eight cores or more.

  --p99-ms N     limit for the 99th percentile, 1 to 10,000 ms; 100 by default
  --seconds N    duration of each rate, 1 to 600, after a warm-up of one second; 5 by default
  --only A,B     workloads to measure, of: ${workloadNames.join(", ")}
  --write        writes the tables into docs/capacity.md
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[]): CapacityOptions | undefined {
  try {
    const text = { type: "string" } as const;
    const { values } = parseArgs({
      args: [...args],
      options: { "p99-ms": text, seconds: text, only: text, write: { type: "boolean", default: false } },
    });
    const p99MsMax = readInteger(values["p99-ms"] ?? "100", 10_000);
    const seconds = readInteger(values.seconds ?? "5", 600);
    const only = values.only?.split(",") ?? workloadNames;
    if (p99MsMax === undefined || seconds === undefined) return undefined;
    return only.every((name) => workloadNames.includes(name))
      ? { p99MsMax, seconds, only, write: values.write }
      : undefined;
  } catch {
    return undefined;
  }
}

function readInteger(text: string, max: number): number | undefined {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= max ? number : undefined;
}
