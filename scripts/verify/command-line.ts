// The command line of `npm run verify -- NAME`, for runner.ts: parses the options of one verification, and formats the text of `--help`.
import { createUsageError, parseCommandLine } from "../command-line.ts";
import type { Options, OptionValues, Verification } from "./verification.ts";

type Value = Options[string]["fallback"];

const integerPattern = /^\d{1,15}$/;
const placeholders: Readonly<Record<string, string>> = { number: "N", string: "TEXT", object: "A,B" };

/** @throws CommandError with the usage: for `--help`, an unknown option, a missing or invalid value, or an argument that is no option. */
export function readCommandLine(options: Options, args: readonly string[], usage = "") {
  const optionTexts = Object.keys(options).map((name) => [name, { type: "string" }] as const);
  const flags = { quick: { type: "boolean" }, control: { type: "boolean" }, help: { type: "boolean" } } as const;
  const config = { ...Object.fromEntries(optionTexts), ...flags };
  const given: Readonly<Record<string, unknown>> = parseCommandLine({ args: [...args], options: config }, usage).values;
  const isQuick = given["quick"] === true;
  const values = Object.entries(options).map(([name, { fallback, quick }]): [string, Value] => {
    const text = given[name];
    if (typeof text === "string") return [name, parseValue(name, text, fallback, usage)];
    return [name, isQuick ? (quick ?? fallback) : fallback];
  });
  return {
    options: Object.fromEntries(values) as OptionValues<Options>,
    isControl: given["control"] === true,
    isQuick,
  };
}

function parseValue(name: string, text: string, fallback: Value, usage: string): Value {
  if (typeof fallback === "string") return text;
  if (typeof fallback === "number") {
    if (!integerPattern.test(text)) throw createUsageError(`--${name} is a whole number.`, usage);
    return Number(text);
  }
  const names = text.split(",");
  if (names.every((one) => fallback.includes(one))) return names;
  throw createUsageError(`--${name} is one or more of ${fallback.join(", ")}, separated by commas.`, usage);
}

/** The text of `npm run verify -- NAME --help`. */
export function describeVerification({ name, description, options, control }: Verification): string {
  const rows = Object.entries(options).map(([key, { fallback, quick, why }]) => {
    const quickText = quick === undefined ? "" : ` (${String(quick)} with --quick)`;
    const byDefault = fallback === "" ? "" : `; ${String(fallback)} by default${quickText}`;
    return [`--${key} ${placeholders[typeof fallback]}`, `${why}${byDefault}`] as const;
  });
  const allRows = [
    ...rows,
    ["--quick", "a short run, as in .ci/run, if it can be shorter"],
    ["--control", `${control}: passes only if the claims show it`],
  ] as const;
  const width = Math.max(...allRows.map(([flag]) => flag.length)) + 2;
  const lines = allRows.map(([flag, why]) => `  ${flag.padEnd(width)}${why}`);
  return `Usage: npm run verify -- ${name} [options]\n\n${description}\n\n${lines.join("\n")}\n`;
}
