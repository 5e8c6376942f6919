import { parseArgs } from "node:util";
import { faultNames } from "./faults.ts";

/** Beside the faults: a short outage of fresh processes. */
export const outageName = "short-outage";
const partNames: readonly string[] = [outageName, ...faultNames];

export interface VerifyOptions {
  /** Requests through both doors together. */
  readonly perSecond: number;
  /** Names of faults, or `short-outage`. */
  readonly only: readonly string[];
  /** A folder with programs that are to be used instead of those that are found. */
  readonly programs: string | undefined;
  /** Where what each program says is written, in a file of its own. */
  readonly logs: string | undefined;
  /** Faults are not made, to see that a missing alert is found. */
  readonly control: boolean;
}

const perSecondUsual = 16;
const perSecondMax = 200;

export const usage = `Usage: npm run verify:alerts -- [options]

Checks our rules and settings by promtool and amtool, starts the platform, Prometheus and Alertmanager as processes, and makes one fault after
the other: its alert has to be told, lead to its page, and be over after the mend. Nothing may be told of a healthy platform. Every query of
every dashboard has to bring data. Before that, on a platform of its own, a subgraph fails for 4 s (short-outage): the recorded error ratios have
to be what clients saw. Prometheus and Alertmanager are those of PATH, otherwise Debian's, which are installed (as root) and not
started as services. Run it on a machine that has nothing else to do, for a quarter of an hour: one that makes the platform slow is told of.

  --per-second N     8 to ${perSecondMax}, ${perSecondUsual} by default
  --only A,B         of: ${partNames.join(", ")}
  --programs FOLDER  uses prometheus, promtool, alertmanager (or prometheus-alertmanager) and amtool from there
  --logs FOLDER      keeps what each program says, in a file of its own
  --control          makes no fault: passes only when each alert is missed
`;

/** @returns undefined for a command line that it does not know. */
export function readOptions(args: readonly string[]): VerifyOptions | undefined {
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
    const { "per-second": number = String(perSecondUsual), programs, logs, control } = values;
    const perSecond = /^\d{1,3}$/.test(number) ? Number(number) : Number.NaN;
    const only = values.only?.split(",") ?? partNames;
    if (!(perSecond >= 8 && perSecond <= perSecondMax)) return undefined;
    return only.every((name) => partNames.includes(name)) ? { perSecond, only, programs, logs, control } : undefined;
  } catch {
    return undefined;
  }
}
