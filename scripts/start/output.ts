import { styleText } from "node:util";

/** Not printed, because the supervisor prints why it ends a process. */
const omittedMessages: ReadonlySet<unknown> = new Set(["stopping", "draining", "stopped"]);
/** Warnings or errors of one kind. */
const perSecondMax = 3;
/** When there are more, all counts are reset. */
const kindsMax = 1_000;
const windowMs = 1_000;

/** Node's types do not export it. */
type Style = Parameters<typeof styleText>[0];

export interface OutputOptions {
  write(text: string): void;
  readonly isColoured: boolean;
  /** The first column. */
  readonly names: readonly string[];
}

export interface StartOutput {
  readonly line: (name: string, text: string) => void;
  readonly raw: (text: string) => void;
}

const colours: readonly Style[] = ["cyan", "green", "yellow", "magenta", "blue", "cyanBright", "greenBright"];
const levelStyles: Readonly<Record<string, Style>> = {
  fatal: ["red", "bold"],
  error: "red",
  warn: "yellow",
  info: "green",
  debug: "gray",
  trace: "gray",
};

export function createOutput({ write, isColoured, names }: OutputOptions): StartOutput {
  const width = Math.max(...names.map((name) => name.length));
  const paint = (style: Style, text: string) => (isColoured ? styleText(style, text, { validateStream: false }) : text);
  const prefixes = new Map(
    names.map((name, index) => [name, paint(colours[index % colours.length] ?? "white", `${name.padEnd(width)} |`)]),
  );
  const countLine = createLineCounter();
  return {
    line(name, text) {
      const prefix = prefixes.get(name) ?? `${name.padEnd(width)} |`;
      const record = readRecord(text);
      if (record?.["level"] === "info" && omittedMessages.has(record["msg"])) return;
      const isLimited = record !== undefined && isWarningOrError(record);
      const lineNumber = isLimited ? countLine(kindOf(name, record)) : 1;
      if (lineNumber > perSecondMax + 1) return;
      if (lineNumber > perSecondMax) {
        const notice = `  (more lines "${renderText(record?.["msg"])}": at most ${perSecondMax} a second are shown)`;
        write(`${prefix} ${paint("gray", notice)}\n`);
        return;
      }
      for (const rendered of renderLine(record ?? text, paint)) write(`${prefix} ${rendered}\n`);
    },
    raw: write,
  };
}

/** "12:34:56 warn message field=value", with its error on the next lines. */
function renderLine(
  content: string | Record<string, unknown>,
  paint: (style: Style, text: string) => string,
): string[] {
  if (typeof content === "string") return [content];
  const { level, time, msg, name: _name, pid: _pid, hostname: _hostname, version: _version, err, ...fields } = content;
  const words = [
    paint("gray", readClock(time)),
    paint(levelStyles[String(level)] ?? "white", String(level).padEnd(5)),
    renderText(msg),
    ...Object.entries(fields).map(([key, value]) => paint("gray", `${key}=`) + renderValue(value)),
  ];
  const headline = words.filter((word) => word !== "").join(" ");
  const errorLines = err === undefined ? [] : renderError(err);
  return [headline, ...errorLines.map((line) => `  ${isFrame(line) ? paint("gray", line) : line}`)];
}

/** As kit/src/telemetry/describe-error.ts logs it: type and message, then the frames, then its causes. */
function renderError(error: unknown, label = ""): string[] {
  if (!isRecord(error)) return `${label}${renderText(error)}`.split("\n");
  const { type, message, stack, cause, errors, ...others } = error;
  const properties = Object.entries(others).map(([key, value]) => ` ${key}=${renderValue(value)}`);
  const lines = `${label}${renderText(type)}: ${renderText(message)}${properties.join("")}`.split("\n");
  if (stack !== undefined) lines.push(...renderText(stack).split("\n"));
  if (cause !== undefined) lines.push(...renderError(cause, "cause: "));
  if (Array.isArray(errors)) for (const inner of errors) lines.push(...renderError(inner, "one of its errors: "));
  return lines;
}

function isFrame(line: string): boolean {
  return /^\s+at /.test(line);
}

/** Returns how many lines of the kind the current second has. */
function createLineCounter(): (kind: string) => number {
  const windows = new Map<string, { readonly sinceMs: number; lines: number }>();
  return (kind) => {
    const nowMs = performance.now();
    const current = windows.get(kind);
    if (current !== undefined && nowMs - current.sinceMs < windowMs) {
      current.lines++;
      return current.lines;
    }
    if (windows.size >= kindsMax) windows.clear();
    windows.set(kind, { sinceMs: nowMs, lines: 1 });
    return 1;
  };
}

/** Only warnings and errors are limited: one can be logged for every failed request. */
function isWarningOrError({ level }: Record<string, unknown>): boolean {
  return level === "warn" || level === "error";
}

/** Records of one kind differ only in details of the request. Errors of one kind were thrown at the same line of code. */
function kindOf(name: string, { level, msg, service, code, err }: Record<string, unknown>): string {
  const { type, stack } = isRecord(err) ? err : {};
  const frame = typeof stack === "string" ? stack.split("\n", 1)[0] : undefined;
  return JSON.stringify([name, level, msg, service, code, type, frame]);
}

function readRecord(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const record: unknown = JSON.parse(text);
    return isRecord(record) && "level" in record ? record : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

// The local time of day, because records contain UTC; empty for a record without a valid time.
function readClock(time: unknown): string {
  const date = typeof time === "string" || typeof time === "number" ? new Date(time) : undefined;
  return date === undefined || Number.isNaN(date.getTime()) ? "" : date.toTimeString().slice(0, 8);
}

function renderText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : renderValue(value);
}

function renderValue(value: unknown): string {
  const isPlain = typeof value === "string" && /^[^\s"=]+$/.test(value);
  return isPlain ? value : (JSON.stringify(value) ?? "undefined");
}
