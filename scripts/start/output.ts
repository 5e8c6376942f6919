import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

export interface OutputOptions {
  write(text: string): void;
  readonly isColoured: boolean;
  /** Names that will speak, for the width of the first column and a colour each. */
  readonly names: readonly string[];
}

export interface Output {
  /** One line of one part, as it said it; a JSON line of its log becomes a sentence. */
  line(name: string, text: string): void;
  /** Text of our own, as it is. */
  raw(text: string): void;
}

const colours: readonly Style[] = [
  "cyan",
  "green",
  "yellow",
  "magenta",
  "blue",
  "cyanBright",
  "greenBright",
  "yellowBright",
];
const levelStyles: Readonly<Record<string, Style>> = {
  fatal: ["red", "bold"],
  error: "red",
  warn: "yellow",
  info: "green",
  debug: "gray",
  trace: "gray",
};

/** What everybody says, in one stream: name in front, colours on a terminal. */
export function createOutput({ write, isColoured, names }: OutputOptions): Output {
  const width = Math.max(...names.map((name) => name.length));
  const paint = (style: Style, text: string) => (isColoured ? styleText(style, text, { validateStream: false }) : text);
  const prefixes = new Map(
    names.map((name, index) => [name, paint(colours[index % colours.length] ?? "white", `${name.padEnd(width)} |`)]),
  );
  return {
    line(name, text) {
      const prefix = prefixes.get(name) ?? `${name.padEnd(width)} |`;
      for (const part of renderLine(text, paint)) write(`${prefix} ${part}\n`);
    },
    raw: write,
  };
}

/** A line of output in lines for people: a log record as "12:34:56 warn sentence field=value", and its stack below. */
function renderLine(text: string, paint: (style: Style, text: string) => string): string[] {
  const record = readRecord(text);
  if (record === undefined) return [text];
  const { level, time, msg, name: _name, pid: _pid, hostname: _hostname, err, ...fields } = record;
  const error = isRecord(err) ? err : undefined;
  const sentence = [
    paint("gray", readClock(time)),
    paint(levelStyles[String(level)] ?? "white", String(level).padEnd(5)),
    renderText(msg ?? error?.["message"]),
    ...Object.entries(fields).map(([key, value]) => paint("gray", `${key}=`) + renderValue(value)),
  ];
  const below = err === undefined ? [] : renderText(error?.["stack"] ?? err).split("\n");
  return [sentence.filter((word) => word !== "").join(" "), ...below.map((line) => paint("gray", `  ${line}`))];
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

// The local time of day; the record itself has UTC.
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
