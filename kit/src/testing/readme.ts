import { readFileSync } from "node:fs";
import type { VariableDescription } from "../process/env.ts";

const sharedPage = new URL("../../../docs/variables.md", import.meta.url);

/**
 * Compares a README's table of variables (`| variable | default | range | meaning |`) with the configuration. A variable that the README
 * leaves out is in docs/variables.md. The default of a required variable is `required`, of an optional one without default `none`.
 * @param descriptions from `describeEnvironment(readConfig)`.
 * @returns the differences.
 */
export function expectReadmeTable(readme: string, descriptions: readonly VariableDescription[]): readonly string[] {
  const rows = readRows(readme);
  const sharedRows = readRows(readFileSync(sharedPage, "utf8"));
  const differences = descriptions.flatMap((description) =>
    differencesOf(description, rows.get(description.name) ?? sharedRows.get(description.name)),
  );
  const knownNames = new Set(descriptions.map(({ name }) => name));
  for (const name of rows.keys()) {
    if (!knownNames.has(name)) differences.push(`${name} is in the table, and nothing reads it`);
  }
  return differences;
}

const tableHeading = /^\| *variable *\| *default *\|/;
const rangePrefix = /^(an integer from|a number from|one of) /;

interface Row {
  readonly fallback: string;
  readonly range: string;
  readonly why: string;
}

/** The rows of all tables with the heading `| variable | default | …`, by name. */
function readRows(page: string): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  let isInTable = false;
  for (const line of page.split("\n")) {
    if (tableHeading.test(line)) isInTable = true;
    else if (!line.startsWith("|")) isInTable = false;
    else if (isInTable && !line.startsWith("|---")) {
      const [name = "", fallback = "", range = "", why = ""] = line.split("|").slice(1).map(plain);
      rows.set(name, { fallback, range, why });
    }
  }
  return rows;
}

function differencesOf({ name, required, fallback, range, why }: VariableDescription, row: Row | undefined): string[] {
  const expectedDefault = required ? "required" : (fallback ?? "none");
  const expectedRange = range?.replace(rangePrefix, "") ?? "";
  if (row === undefined) return [`${name} is missing: | ${name} | ${expectedDefault} | ${expectedRange} | ${why} |`];
  const differences: string[] = [];
  if (row.fallback !== expectedDefault)
    differences.push(`${name}: the default is ${expectedDefault}, not ${row.fallback}`);
  if (row.range !== expectedRange)
    differences.push(`${name}: the range is ${expectedRange || "empty"}, not ${row.range}`);
  if (row.why === "") differences.push(`${name}: there is no reason, such as: ${why}`);
  return differences;
}

function plain(cell: string): string {
  return cell.replaceAll("`", "").trim();
}
