// The command line of `npm run verify -- NAME`, for runner.ts: parses the options of one verification, and formats the text of `--help`.
import { parseArgs } from "node:util";
import type { Options, OptionValues, Verification } from "./verification.ts";

export interface CommandLine {
  readonly options: OptionValues<Options>;
  readonly isControl: boolean;
  readonly isHelp: boolean;
}

/** @throws Error that names every invalid value, or the first unknown option. */
export function readCommandLine(options: Options, args: readonly string[]): CommandLine {
  const { quick, control, help, ...texts } = parse(options, args);
  const problems: string[] = [];
  const values = Object.entries(options).map(([name, option]) => {
    const text = texts[toFlag(name)];
    const value = readValue(option, typeof text === "string" ? text : undefined, quick === true);
    if (value === invalid) problems.push(`--${toFlag(name)} is ${describeValidValues(option)}.`);
    return [name, value] as const;
  });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return {
    options: Object.fromEntries(values) as CommandLine["options"],
    isControl: control === true,
    isHelp: help === true,
  };
}

/** @throws Error for an unknown option, a missing value, or an argument that is no option. */
function parse(options: Options, args: readonly string[]): Readonly<Record<string, unknown>> {
  const flags = ["quick", "control", "help"].map((name) => [name, { type: "boolean" }] as const);
  const texts = Object.keys(options).map((name) => [toFlag(name), { type: "string" }] as const);
  return parseArgs({ args: [...args], options: Object.fromEntries([...flags, ...texts]) }).values;
}

const invalid = Symbol("invalid");

function readValue(option: Options[string], text: string | undefined, isQuick: boolean) {
  if (option.kind === "text") return text === "" ? invalid : text;
  if (option.kind === "names") {
    const names = text?.split(",") ?? (isQuick ? option.quick : undefined) ?? option.of;
    return names.every((name) => option.of.includes(name)) ? names : invalid;
  }
  const number = text === undefined ? ((isQuick ? option.quick : undefined) ?? option.fallback) : readInteger(text);
  return number >= option.min && number <= option.max ? number : invalid;
}

function readInteger(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

function describeValidValues(option: Options[string]): string {
  if (option.kind === "text") return `a ${option.placeholder}, not empty`;
  if (option.kind === "names") return `one or more of ${option.of.join(", ")}, separated by commas`;
  return `a whole number from ${toText(option.min)} to ${toText(option.max)}`;
}

/** The text of `npm run verify -- NAME --help`. */
export function describeVerification({ name, description, options, control }: Verification): string {
  const rows: [flag: string, why: string][] = Object.entries(options).map(([key, option]) => [
    `--${toFlag(key)} ${placeholderOf(option)}`,
    describeOption(option),
  ]);
  if (Object.values(options).some((option) => "quick" in option)) rows.push(["--quick", "a short run, as in .ci/run"]);
  rows.push(["--control", `${control}: passes only if the claims show it`]);
  const width = Math.max(...rows.map(([flag]) => flag.length)) + 2;
  const lines = rows.map(([flag, why]) => `  ${flag.padEnd(width)}${why}`);
  return `Usage: npm run verify -- ${name} [options]\n\n${description}\n\n${lines.join("\n")}\n`;
}

function placeholderOf(option: Options[string]): string {
  if (option.kind === "text") return option.placeholder;
  return option.kind === "names" ? "A,B" : "N";
}

function describeOption(option: Options[string]): string {
  if (option.kind === "text") return option.why;
  if (option.kind === "names") {
    const quickNames = option.quick === undefined ? "" : ` (${option.quick.join(",")} with --quick)`;
    return `${option.why}, of: ${option.of.join(", ")}${quickNames}`;
  }
  const quick = option.quick === undefined ? "" : ` (${toText(option.quick)} with --quick)`;
  return `${option.why}, ${toText(option.min)} to ${toText(option.max)}; ${toText(option.fallback)} by default${quick}`;
}

/** `perSecond` to `per-second`. */
function toFlag(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function toText(number: number): string {
  return number.toLocaleString("en");
}
