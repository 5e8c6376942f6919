import type { VariableDescription } from "../process/env.ts";

/**
 * Compares a README's table of variables (`| Variable | Default | Range | Why |`) with the configuration. Backticks and thousands separators
 * are ignored. The default of a required variable is `required`, of an optional one without default `none`.
 * @param descriptions from `describeEnvironment(readConfig)`.
 * @returns the differences.
 */
export function expectReadmeTable(readme: string, descriptions: readonly VariableDescription[]): readonly string[] {
  const rows = readRows(readme);
  const differences = descriptions.flatMap((description) => differencesOf(description, rows.get(description.name)));
  const knownNames = new Set(descriptions.map(({ name }) => name));
  for (const name of rows.keys()) {
    if (!knownNames.has(name)) differences.push(`${name} is in the table, and nothing reads it`);
  }
  return differences;
}

const tableHeading = /^\| *variable *\|/i;
const thousandsSeparator = /(?<=\d),(?=\d{3})/g;

interface Row {
  readonly fallback: string;
  readonly range: string;
  readonly why: string;
}

/** The rows of the table with the heading `| Variable | …`, by name. */
function readRows(readme: string): ReadonlyMap<string, Row> {
  const lines = readme.split("\n").map((line) => line.trim());
  const rows = new Map<string, Row>();
  const headingIndex = lines.findIndex((line) => tableHeading.test(line));
  if (headingIndex < 0) return rows;
  const endIndex = lines.findIndex((line, index) => index > headingIndex && !line.startsWith("|"));
  // Between the heading and the first row is a line of dashes.
  for (const line of lines.slice(headingIndex + 2, endIndex < 0 ? undefined : endIndex)) {
    const [name = "", fallback = "", range = "", why = ""] = line.split("|").slice(1).map(plain);
    rows.set(name, { fallback, range, why });
  }
  return rows;
}

function differencesOf({ name, required, fallback, range, why }: VariableDescription, row: Row | undefined): string[] {
  const expectedDefault = required ? "required" : plain(fallback ?? "none");
  if (row === undefined) return [`${name} is missing: | ${name} | ${expectedDefault} | ${range ?? ""} | ${why} |`];
  const differences: string[] = [];
  if (row.fallback !== expectedDefault)
    differences.push(`${name}: the default is ${expectedDefault}, not ${row.fallback}`);
  if (row.range !== plain(range ?? "")) differences.push(`${name}: the range is ${range ?? "empty"}, not ${row.range}`);
  if (row.why === "") differences.push(`${name}: there is no reason, such as: ${why}`);
  return differences;
}

/** Removes backticks and thousands separators. */
function plain(cell: string): string {
  return cell.replaceAll("`", "").replaceAll(thousandsSeparator, "").trim();
}
