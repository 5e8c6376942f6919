import { type LogFn, type Logger, pino } from "pino";
import { describeError } from "../errors/describe-error.ts";
import { scrubFields } from "../errors/scrub.ts";

/** The logger's interface: fields first, then the message. */
export type Log = Pick<ReturnType<typeof pino>, "debug" | "info" | "warn" | "error" | "fatal">;

export interface LogOptions {
  /** The process's name, on every line. */
  readonly name: string;
  /** pino's levels: `fatal error warn info debug trace silent`. */
  readonly level: string;
  /** The version that runs, on every line. */
  readonly version?: string;
  /** Fields of the current request, such as `requestId` and `trace_id`, added to every line. */
  readonly context?: () => object;
  /** Called with the level of each line of level warn and above, before it is written. */
  readonly onTrouble?: (level: string) => void;
  readonly destination?: NodeJS.WritableStream;
}

/** pino's number of the level warn; error and fatal have higher ones. */
const warnLevel = 40;
/** Lines are buffered, so that not every logged request costs a system call. */
const bufferedBytesMin = 4_096;
/** Lines are dropped while this many bytes cannot be written, for example because the disk is full. */
const bufferedBytesMax = 1_000_000;
const flushDelayMs = 250;

/**
 * Writes JSON lines with ISO times to standard output, within 250 ms, from level warn on immediately; to `destination`, which tests set, without
 * a buffer. Fields with secret names, tokens and email addresses are redacted, and of errors only properties without client data are logged.
 */
export function createLog({ name, level, version, context, onTrouble, destination }: LogOptions): Log {
  const options = {
    name,
    level,
    // pino omits an undefined version.
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
  /** Replaces pino's method: writes the line and schedules the flush of the buffer. */
  logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void;
}

let processOutput: BufferedOutput | undefined;

/** Standard output, one per process. Buffered lines are written when the process exits, unless by SIGKILL. */
function openOutput(): BufferedOutput {
  if (processOutput) return processOutput;
  const stream = pino.destination({ minLength: bufferedBytesMin, maxLength: bufferedBytesMax, sync: true });
  let flushTimer: NodeJS.Timeout | undefined;
  // Logging must not end the process: after a failure the next line is tried again. Pino stops writing to a pipe without a reader.
  let hasFailed = false;
  stream.on("error", () => {
    hasFailed = true;
  });
  const flush = () => {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    hasFailed = false;
    stream.flush();
    // `flush` writes once and emits an error, which sets `hasFailed`; `flushSync` writes the rest, but would retry an error for ever.
    if (!hasFailed) stream.flushSync();
  };
  process.on("exit", flush);
  processOutput = {
    stream,
    logMethod(args, method, level) {
      method.apply(this, args);
      if (level >= warnLevel) {
        // The process may be about to end because of this problem.
        flush();
      } else {
        flushTimer ??= setTimeout(flush, flushDelayMs).unref();
      }
    },
  };
  return processOutput;
}

/** Logs nothing. */
export const silentLog: Log = pino({ level: "silent" });
