// The command line of `npm start`.
import { parseArgs } from "node:util";
import { type PartName, partNames, parts, postgresPort } from "./parts.ts";
import { StartError } from "./start-error.ts";

export interface StartOptions {
  readonly help: boolean;
  /** Delete all databases before the start, if a part that starts has one. */
  readonly fresh: boolean;
  /** How much data to seed, 1 to 100. Replaces seeded databases of another scale. Undefined replaces nothing. */
  readonly scale: number | undefined;
  /** The parts to start, in the order of the parts list. */
  readonly only: readonly PartName[];
}

const scaleMax = 100;
const usageExitCode = 2;

export const usage = `Usage: npm start -- [options]

Starts the whole platform on this machine: PostgreSQL, the local issuer, the services, the gateway, the REST proxy.
A service whose tables are empty and were never seeded is seeded. Existing data remains unless an option deletes it:

  --fresh              delete all databases, then seed every service; deletes nothing if no part that starts has one
  --scale N            seed N times the default amount, 1 to ${scaleMax}. Replaces every database that was seeded at another
                       scale: edits in it are lost. With --only it replaces only databases of these parts. A database
                       whose rows are not seed data is not replaced: --fresh deletes it.
  --only a,b           start only these parts: ${partNames.join(", ")}
  --help               print this text

Environment variables for ports: ${[...parts.map(({ portVariable }) => portVariable), postgresPort.variable].join(", ")}.
The change feed of a service listens on the service's port plus 100.
Data folder: DATA_DIR (default: .data).
`;

/**
 * Reads the command line.
 * @throws StartError with exit code 2 and the usage for an unknown option or value.
 */
export function readOptions(args: readonly string[]): StartOptions {
  const { help, fresh, scale, only } = parse(args);
  return { help, fresh, scale: scale === undefined ? undefined : readScale(scale), only: readOnly(only) };
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", short: "h", default: false },
        fresh: { type: "boolean", default: false },
        scale: { type: "string" },
        only: { type: "string" },
      },
    });
    return values;
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
}

function readScale(text: string): number {
  const scale = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (scale < 1 || scale > scaleMax)
    throw usageError(`--scale takes a whole number from 1 to ${scaleMax}, not "${text}".`);
  return scale;
}

function readOnly(text: string | undefined): readonly PartName[] {
  if (text === undefined) return partNames;
  const requested = text.split(",").map((name) => name.trim());
  const unknown = requested.filter((name) => !partNames.some((known) => known === name));
  if (unknown.length > 0)
    throw usageError(`--only does not know "${unknown.join(", ")}". The parts are ${partNames.join(", ")}.`);
  return partNames.filter((name) => requested.includes(name));
}

function usageError(message: string): StartError {
  return new StartError(`${message}\n\n${usage}`, { exitCode: usageExitCode });
}
