// `npm run ledger`: the deprecated elements of both APIs, and who still uses them.
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { listDeprecatedElements } from "@tributary/kit/federation/deprecated-elements";
import { buildSchema } from "graphql";
import { writeStaleFiles } from "../composition/generated-files.ts";
import { readOwnership } from "../composition/ownership.ts";
import type { Route } from "../routes/routes.ts";
import { readServices } from "../services.ts";
import { formerSubgraph, type Subgraph } from "../subgraphs.ts";
import { createPrometheusQuery, type QueryPrometheus, UsageError } from "./prometheus.ts";
import { type CountedElement, graphqlCounts, readUsage, restCounts } from "./read-usage.ts";
import { printClient, unusedDaysOf, type UsageEvidence, type UsedElement } from "./usage.ts";

export interface LedgerRun {
  readonly root: string;
  readonly prometheusUrl: string;
  readonly days: number;
  readonly jsonFile: string | undefined;
  readonly nowMs: number;
  readonly subgraphs?: readonly Subgraph[];
  print(text: string): void;
}

/** @throws UsageError */
export async function runLedger(run: LedgerRun): Promise<void> {
  const { root, days, nowMs, jsonFile } = run;
  const query = createPrometheusQuery(run.prometheusUrl);
  const ownerOf = createOwnerFinder(run.subgraphs ?? readServices(root));
  const retirements = await readRetirements(query, nowMs);
  const elements = [...listGraphqlElements(root, ownerOf), ...listRestElements(root, ownerOf, retirements)];
  const evidence = await readUsage({ query, elements, days, nowMs });
  run.print(printLedger(evidence));
  if (jsonFile !== undefined) writeEvidence(jsonFile, evidence);
}

/** Whole, or not at all: a check may read the file of a nightly job while it is written. */
function writeEvidence(file: string, evidence: UsageEvidence): void {
  try {
    writeStaleFiles(dirname(file), [{ path: basename(file), content: `${JSON.stringify(evidence, undefined, 2)}\n` }]);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

type OwnerOf = (subgraph: string) => string;

function createOwnerFinder(subgraphs: readonly Subgraph[]): OwnerOf {
  const owners = new Map(subgraphs.map(({ name, owner }) => [name, owner]));
  return (subgraph) => owners.get(subgraph) ?? formerSubgraph(subgraph).owner;
}

function listGraphqlElements(root: string, ownerOf: OwnerOf): readonly CountedElement[] {
  const api = buildSchema(readFileSync(join(root, "supergraph/api.graphql"), "utf8"));
  const ownership = readOwnership(readFileSync(join(root, "supergraph/supergraph.graphql"), "utf8"));
  return [...listDeprecatedElements(api).values()].map(({ coordinate, reason }) => ({
    element: coordinate,
    owners: [...new Set(ownership.findOwners(coordinate).map(ownerOf))],
    deprecation: reason,
    source: graphqlCounts,
    labels: { element: coordinate },
  }));
}

/** Each route in each version for which a REST proxy has a date. */
function listRestElements(
  root: string,
  ownerOf: OwnerOf,
  retirements: ReadonlyMap<number, string>,
): readonly CountedElement[] {
  const { routes } = JSON.parse(readFileSync(join(root, "supergraph/routes.json"), "utf8")) as {
    readonly routes: readonly Route[];
  };
  return routes.flatMap(({ method, path, versions, service }) =>
    versions.flatMap((version) => {
      const deprecation = retirements.get(version);
      if (deprecation === undefined) return [];
      return {
        element: `${method} ${path} v${version}`,
        owners: [ownerOf(service)],
        deprecation,
        source: restCounts,
        labels: { version: String(version), method, route: path },
      };
    }),
  );
}

/** By version: DEPRECATED_VERSIONS and SUNSET_VERSIONS of the REST proxies. */
async function readRetirements(query: QueryPrometheus, nowMs: number): Promise<ReadonlyMap<number, string>> {
  const end = Math.floor(nowMs / 1_000);
  const metric = "tributary_rest_version_retirement_timestamp_seconds";
  const dates = await query(`max by (version, step) (last_over_time(${metric}[1h]))`, { start: end, end, step: 1 });
  const byVersion = Map.groupBy(dates, ({ labels }) => Number(labels["version"]));
  return new Map(
    [...byVersion].map(([version, steps]) => {
      const texts = steps.map(
        ({ labels, values }) => `${labels["step"]} ${toDay(Math.max(...values.values()) * 1_000)}`,
      );
      return [version, texts.toSorted().join(", ")];
    }),
  );
}

const columns = ["ELEMENT", "OWNER", "USED BY", "UNUSED FOR", "DEPRECATED"] as const;

function printLedger({ until, days, elements }: UsageEvidence): string {
  const rows = elements.map((element) => [
    element.element,
    element.owners.join(", "),
    printUses(element),
    printUnused(element, Date.parse(until)),
    element.deprecation.replaceAll(/\s+/g, " "),
  ]);
  const table = [columns, ...rows];
  const widths = columns.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${[...lines, `Requests of the ${days} days up to ${until}.`].join("\n")}\n`;
}

function printUses({ wholeDays, uses }: UsedElement): string {
  if (uses.length === 0) return wholeDays === 0 ? "unknown" : "no client";
  return uses.map((use) => `${printClient(use)} ${use.requests}`).join(", ");
}

/** Nothing is known of the time before the first of the whole days. */
function printUnused(element: UsedElement, untilMs: number): string {
  const days = unusedDaysOf(element);
  const count = `${days} ${days === 1 ? "day" : "days"}`;
  if (days === 0) return count;
  return days === element.wholeDays ? `${count} or more` : `${count}, since ${toDay(untilMs - days * 86_400_000)}`;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
