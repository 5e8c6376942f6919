import { pino } from "pino";

/** What our rooms need of a logger. Fields first, then the sentence. */
export type Log = Pick<ReturnType<typeof pino>, "debug" | "info" | "warn" | "error" | "fatal">;

export interface LogOptions {
  /** The process's name, on every line. */
  readonly name: string;
  /** pino's levels: `fatal error warn info debug trace silent`. */
  readonly level: string;
  readonly destination?: NodeJS.WritableStream;
}

/** JSON lines with ISO times on standard output (or `destination`). What could hold a secret is redacted. */
export function createLog({ name, level, destination }: LogOptions): Log {
  const options = {
    name,
    level,
    base: { name, pid: process.pid },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: ["authorization", "headers.authorization", "headers.cookie", "token", "databaseUrl"],
  };
  return destination ? pino(options, destination) : pino(options);
}

export const silentLog: Log = pino({ level: "silent" });
