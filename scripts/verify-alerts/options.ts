import { parseArgs } from "node:util";
import { faultNames } from "./faults.ts";

/** A check besides the faults: a short outage on newly started processes. */
export const outageName = "short-outage";
const partNames: readonly string[] = [outageName, ...faultNames];

export interface AlertCheckOptions {
  /** The request rate through gateway and REST proxy together. */
  readonly perSecond: number;
  /** Names of faults, or `short-outage`. */
  readonly only: readonly string[];
  /** A folder with the programs to use, instead of those in PATH. */
  readonly programs: string | undefined;
  /** A folder for the output of each program, one file each. */
  readonly logs: string | undefined;
  /** Injects no fault, to prove that a missing alert is found. */
  readonly control: boolean;
}

const perSecondDefault = 16;
const perSecondMax = 200;

export const usage = `Usage: npm run verify:alerts -- [options]

Checks the rules and settings with promtool and amtool, starts the platform, Prometheus and Alertmanager as processes, and injects one fault
after the other. Each fault's alerts must be notified, link to their runbook, and resolve after the fault is undone. A healthy platform must
cause no notification. Every query of every dashboard must return data. Before that, on a separate platform, a subgraph fails for 4 s
(short-outage): the recorded error ratios must match what clients observed. Prometheus and Alertmanager are those in PATH, otherwise Debian's
packages, which are installed (as root) and not started as services. It takes a quarter of an hour. Use an idle machine: on a busy one the
platform is slow, and alerts report it.

  --per-second N     8 to ${perSecondMax}, ${perSecondDefault} by default
  --only A,B         checks to run, of: ${partNames.join(", ")}
  --programs FOLDER  folder with prometheus, promtool, alertmanager (or prometheus-alertmanager) and amtool
  --logs FOLDER      writes the output of each program into this folder, one file each
  --control          injects no fault: passes only if each alert is missed
`;

/** @returns undefined for an invalid command line. */
export function readOptions(args: readonly string[]): AlertCheckOptions | undefined {
  try {
    const text = { type: "string" } as const;
    const { values } = parseArgs({
      args: [...args],
      options: {
        "per-second": text,
        only: text,
        programs: text,
        logs: text,
        control: { type: "boolean", default: false },
      },
    });
    const { "per-second": number = String(perSecondDefault), programs, logs, control } = values;
    const perSecond = /^\d{1,3}$/.test(number) ? Number(number) : Number.NaN;
    const only = values.only?.split(",") ?? partNames;
    if (!(perSecond >= 8 && perSecond <= perSecondMax)) return undefined;
    return only.every((name) => partNames.includes(name)) ? { perSecond, only, programs, logs, control } : undefined;
  } catch {
    return undefined;
  }
}
