// The command line of `npm run verify -- NAME`, for runner.ts: parses the options of one verification, and formats the text of `--help`.
import { parseArgs } from "node:util";
import type { Options, OptionValues, Verification } from "./verification.ts";

export interface CommandLine {
  readonly options: OptionValues<Options>;
  readonly isControl: boolean;
  readonly isQuick: boolean;
  readonly isHelp: boolean;
}

const invalid = Symbol("invalid");
const integerPattern = /^\d{1,15}$/;

/** @throws Error that names every invalid value, or the first unknown option. */
export function readCommandLine(options: Options, args: readonly string[]): CommandLine {
  const { quick, control, help, ...optionTexts } = parse(options, args);
  const problems: string[] = [];
  const values = Object.entries(options).map(([name, option]) => {
    const parsed = optionTexts[toFlag(name)];
    const text = typeof parsed === "string" ? parsed : undefined;
    const value = readValue(option, text, quick === true);
    if (value === invalid) problems.push(`--${toFlag(name)} is ${describeValidValues(option)}.`);
    return [name, value] as const;
  });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return {
    options: Object.fromEntries(values) as CommandLine["options"],
    isControl: control === true,
    isQuick: quick === true,
    isHelp: help === true,
  };
}

/** @throws Error for an unknown option, a missing value, or an argument that is no option. */
function parse(options: Options, args: readonly string[]): Readonly<Record<string, unknown>> {
  const booleanOptions = ["quick", "control", "help"].map((flag) => [flag, { type: "boolean" }] as const);
  const textOptions = Object.keys(options).map((name) => [toFlag(name), { type: "string" }] as const);
  return parseArgs({ args: [...args], options: Object.fromEntries([...booleanOptions, ...textOptions]) }).values;
}

/** @param text undefined if the option is not on the command line. @returns `invalid` if the text is no value of the option. */
function readValue(option: Options[string], text: string | undefined, isQuick: boolean) {
  if (option.kind === "text") return text === "" ? invalid : text;
  if (option.kind === "names") {
    const quickNames = isQuick ? option.quick : undefined;
    const names = text?.split(",") ?? quickNames ?? option.of;
    return names.every((name) => option.of.includes(name)) ? names : invalid;
  }
  if (text !== undefined) return integerPattern.test(text) ? Number(text) : invalid;
  return (isQuick ? option.quick : undefined) ?? option.fallback;
}

function describeValidValues(option: Options[string]): string {
  if (option.kind === "text") return `a ${option.placeholder}, not empty`;
  if (option.kind === "names") return `one or more of ${option.of.join(", ")}, separated by commas`;
  return "a whole number";
}

/** The text of `npm run verify -- NAME --help`. */
export function describeVerification({ name, description, options, control }: Verification): string {
  const rows: [flag: string, why: string][] = Object.entries(options).map(([key, option]) => [
    `--${toFlag(key)} ${placeholderOf(option)}`,
    describeOption(option),
  ]);
  rows.push(["--quick", "a short run, as in .ci/run, if it can be shorter"]);
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
  return `${option.why}; ${toText(option.fallback)} by default${quick}`;
}

/** `perSecond` to `per-second`. */
function toFlag(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function toText(number: number): string {
  return number.toLocaleString("en");
}
