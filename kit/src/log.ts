import { pino } from "pino";
import { describeError } from "./telemetry/describe-error.ts";
import { scrubFields } from "./telemetry/scrub.ts";

/** What our rooms need of a logger. Fields first, then the sentence. */
export type Log = Pick<ReturnType<typeof pino>, "debug" | "info" | "warn" | "error" | "fatal">;

export interface LogOptions {
  /** The process's name, on every line. */
  readonly name: string;
  /** pino's levels: `fatal error warn info debug trace silent`. */
  readonly level: string;
  /** What runs here, on every line. */
  readonly version?: string;
  /** Fields of the request under way where a line is written, such as `requestId` and `trace_id`. */
  readonly context?: () => object;
  /** Told the level of each line of level warn and above. */
  readonly onTrouble?: (level: string) => void;
  readonly destination?: NodeJS.WritableStream;
}

const warnLevel = 40;

/**
 * JSON lines with ISO times on standard output (or `destination`). What could hold a secret is redacted: names that say so, tokens and mail
 * addresses wherever they stand, and of errors everything that is not known to be harmless.
 */
export function createLog({ name, level, version, context, onTrouble, destination }: LogOptions): Log {
  const options = {
    name,
    level,
    base: { name, ...(version === undefined ? {} : { version }), pid: process.pid },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }), log: scrubFields },
    serializers: { err: (error: unknown) => describeError(error) },
    redact: ["authorization", "headers.authorization", "headers.cookie", "token", "databaseUrl"],
    mixin: (_: object, number: number) => {
      if (number >= warnLevel) onTrouble?.(pino.levels.labels[number] ?? "other");
      return context?.() ?? {};
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

export const silentLog: Log = pino({ level: "silent" });
