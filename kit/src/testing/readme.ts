import type { VariableDescription } from "../process/env.ts";

/**
 * Compares a README's table of variables (`| Variable | Default | Range | Why |`) with the configuration. Backticks and thousands separators
 * are ignored. The default of a required variable is `required`, of an optional one without default `none`.
 * @param descriptions from `describeEnvironment(readConfig)`.
 * @returns the differences.
 */
export function expectReadmeTable(readme: string, descriptions: readonly VariableDescription[]): readonly string[] {
  const rows = readRows(readme);
  const known = new Set(descriptions.map(({ name }) => name));
  return [
    ...descriptions.flatMap((description) => differencesOf(description, rows.get(description.name))),
    ...[...rows.keys()]
      .filter((name) => !known.has(name))
      .map((name) => `${name} is in the table, and nothing reads it`),
  ];
}

interface Row {
  readonly fallback: string;
  readonly range: string;
  readonly why: string;
}

/** The rows of the table with the heading `| Variable | …`, by name. */
function readRows(readme: string): ReadonlyMap<string, Row> {
  const lines = readme.split("\n").map((line) => line.trim());
  const begin = lines.findIndex((line) => /^\| *variable *\|/i.test(line)) + 1;
  const end = lines.findIndex((line, index) => index >= begin && !line.startsWith("|"));
  const rows = begin === 0 ? [] : lines.slice(begin + 1, end < 0 ? undefined : end);
  return new Map(
    rows.map((line) => {
      const [name = "", fallback = "", range = "", why = ""] = line.split("|").slice(1).map(plain);
      return [name, { fallback, range, why }];
    }),
  );
}

function differencesOf({ name, required, fallback, range, why }: VariableDescription, row: Row | undefined): string[] {
  const expected = required ? "required" : plain(fallback ?? "none");
  if (row === undefined) return [`${name} is missing: | ${name} | ${expected} | ${range ?? ""} | ${why} |`];
  return [
    ...(row.fallback === expected ? [] : [`${name}: the default is ${expected}, not ${row.fallback}`]),
    ...(row.range === plain(range ?? "") ? [] : [`${name}: the range is ${range ?? "empty"}, not ${row.range}`]),
    ...(row.why === "" ? [`${name}: there is no reason, such as: ${why}`] : []),
  ];
}

/** Removes backticks and thousands separators. */
function plain(cell: string): string {
  return cell
    .replaceAll("`", "")
    .replaceAll(/(?<=\d),(?=\d{3})/g, "")
    .trim();
}
