import { type LogFn, type Logger, pino } from "pino";
import { describeError } from "../errors/describe-error.ts";
import { scrubFields } from "../errors/scrub.ts";

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
 * JSON lines with ISO times on standard output (or `destination`), there a quarter of a second later at most, and from warn on at once. What
 * could hold a secret is redacted: names that say so, tokens and mail addresses wherever they stand, and of errors everything that is not known
 * to be harmless.
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
  if (destination) return pino(options, destination);
  const output = openOutput();
  return pino({ ...options, hooks: { logMethod: output.logMethod } }, output.stream);
}

/** Lines wait for one another, so that a request that is logged does not pay for a system call of its own. */
const bytesMin = 4_096;
const waitMs = 250;

interface Output {
  readonly stream: ReturnType<typeof pino.destination>;
  /** In the place of pino's own: writes the line, and sees to it that it does not wait for ever. */
  logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void;
}

let processOutput: Output | undefined;

/** Standard output, one for the process. Lines that wait are written as the process ends, in whatever way but by `kill -9`. */
function openOutput(): Output {
  if (processOutput) return processOutput;
  const stream = pino.destination({ minLength: bytesMin, sync: true });
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    clearTimeout(timer);
    timer = undefined;
    stream.flushSync();
  };
  process.on("exit", write);
  processOutput = {
    stream,
    logMethod(args, method, level) {
      method.apply(this, args);
      // The process may be about to die of what it tells.
      if (level >= warnLevel) write();
      else timer ??= setTimeout(write, waitMs).unref();
    },
  };
  return processOutput;
}

export const silentLog: Log = pino({ level: "silent" });
