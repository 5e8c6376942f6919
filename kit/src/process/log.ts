import { type LogFn, type Logger, pino } from "pino";
import { describeError } from "../errors/describe-error.ts";
import { scrubFields } from "../errors/scrub.ts";

export type Log = Pick<ReturnType<typeof pino>, "debug" | "info" | "warn" | "error" | "fatal">;

/** @param level one of pino's. Of this log and of all who use it. */
export function setLogLevel(log: Log, level: string): void {
  (log as Logger).level = level;
}

export interface LogOptions {
  readonly name: string;
  /** pino's levels: `fatal error warn info debug trace silent`. */
  readonly level: string;
  readonly version?: string;
  readonly context?: () => object;
  /** Called with the level of each line from warn on, before it is written. */
  readonly onTrouble?: (level: string) => void;
  readonly destination?: NodeJS.WritableStream;
}

const warnLevel = 40;
/** So that not every line costs a system call. */
const bufferedBytesMin = 4_096;
/** Lines are dropped while so many bytes cannot be written, for example because the disk is full. */
const bufferedBytesMax = 1_000_000;
const flushDelayMs = 250;

/**
 * JSON lines within 250 ms, from level warn on immediately; to `destination`, which tests set, without a buffer. Secrets are redacted, and of errors
 * only properties without client data are logged.
 */
export function createLog({ name, level, version, context, onTrouble, destination }: LogOptions): Log {
  const options = {
    name,
    level,
    base: { name, version, pid: process.pid },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }), log: scrubFields },
    serializers: { err: (error: unknown) => describeError(error) },
    redact: ["authorization", "headers.authorization", "headers.cookie", "token", "databaseUrl"],
    mixin: (_: object, levelNumber: number) => {
      if (levelNumber >= warnLevel) onTrouble?.(pino.levels.labels[levelNumber] ?? "other");
      return context?.() ?? {};
    },
  };
  if (destination) return pino(options, destination);
  const output = openOutput();
  return pino({ ...options, hooks: { logMethod: output.logMethod } }, output.stream);
}

interface BufferedOutput {
  readonly stream: ReturnType<typeof pino.destination>;
  logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void;
}

let processOutput: BufferedOutput | undefined;

/** Buffered lines are written when the process exits, unless by SIGKILL. */
function openOutput(): BufferedOutput {
  if (processOutput) return processOutput;
  const stream = pino.destination({ minLength: bufferedBytesMin, maxLength: bufferedBytesMax, sync: true });
  let flushTimer: NodeJS.Timeout | undefined;
  // Logging must not end the process: after a failure the next line is tried again.
  let hasFailed = false;
  stream.on("error", () => {
    hasFailed = true;
  });
  const flush = () => {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    hasFailed = false;
    stream.flush();
    // `flush` writes once and emits an error; `flushSync` would retry an error for ever.
    if (!hasFailed) stream.flushSync();
  };
  process.on("exit", flush);
  processOutput = {
    stream,
    logMethod(args, method, level) {
      method.apply(this, args);
      if (level >= warnLevel) {
        flush();
      } else {
        flushTimer ??= setTimeout(flush, flushDelayMs).unref();
      }
    },
  };
  return processOutput;
}

export const silentLog: Log = pino({ level: "silent" });
