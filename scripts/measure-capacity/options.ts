import { parseArgs } from "node:util";
import { workloadNames } from "./workloads.ts";

export interface CapacityOptions {
  /** What 99 of 100 requests have to be answered within. */
  readonly p99MsMax: number;
  /** How long each rate is held. */
  readonly seconds: number;
  /** Names of workloads. */
  readonly only: readonly string[];
  /** Into docs/capacity.md. */
  readonly write: boolean;
}

export const usage = `Usage: npm run measure:capacity -- [options]

Starts PostgreSQL and one process of each part, and asks for each workload at a rate that grows until one request in a hundred takes
longer than is promised, or one fails. Best on a machine that does nothing else, with eight cores or more.

  --p99-ms N     1 to 10,000; 100 by default
  --seconds N    1 to 600 for each rate, after one to warm up; 5 by default
  --only A,B     of: ${workloadNames.join(", ")}
  --write        puts the tables into docs/capacity.md
`;

/** @returns undefined for a command line that it does not know. */
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
