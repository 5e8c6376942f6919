// Checks that every query of the dashboards and every recorded series has data. Prometheus runs with shorter intervals here, so the windows of the
// queries are shorter by the same factor (`shorten`).
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { VerificationRun } from "../../verification.ts";
import { observabilityFolder, readRules, shorten, shortenQuery } from "./monitoring-settings.ts";
import type { Monitoring } from "./monitoring.ts";

/** In seconds since 1970: when the load starts, when the first fault starts, and when the last fault has ended. */
interface Times {
  readonly beginSeconds: number;
  readonly faultsSeconds: number;
  readonly endSeconds: number;
}

interface QueriesOptions {
  readonly times: Times;
  /** Whether every fault ran. Otherwise some queries have no data, and only their syntax is checked. */
  readonly isComplete: boolean;
}

interface QueryResult {
  /** When the query first had data: on the healthy platform under load, during the faults, or never. */
  readonly dataFrom: "healthy" | "faults" | "never";
  /** Prometheus' error message, if it rejected the query. */
  readonly error: string | undefined;
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

/** Runs each query of each dashboard, with the variables set to "All", and one query for each recorded series. */
export async function verifyQueries(
  { print, claim }: Pick<VerificationRun, "print" | "claim">,
  monitoring: Monitoring,
  { times, isComplete }: QueriesOptions,
): Promise<void> {
  const results: QueryResult[] = [];
  for (const { source, expr } of [...readDashboardQueries(), ...readRecordedQueries()]) {
    const result = await runQuery(monitoring, expr, times);
    results.push(result);
    if (result.dataFrom === "never") print(`no data: ${source}: ${expr} ${result.error ?? ""}`);
  }
  const countFrom = (dataFrom: QueryResult["dataFrom"]) =>
    results.filter((result) => result.dataFrom === dataFrom).length;
  const rejected = results.filter(({ error }) => error !== undefined).length;
  claim("Prometheus accepts every query", results.length > 0 && rejected === 0, {
    measured: `${rejected} of ${results.length} are rejected`,
  });
  const noData = `${countFrom("never")} of ${results.length} have none, ${countFrom("faults")} only during faults`;
  if (isComplete) claim("every query has data", countFrom("never") === 0, { measured: noData });
  else print(`Data is not required, because not all faults ran: ${noData}.`);
}

async function runQuery(monitoring: Monitoring, expr: string, times: Times): Promise<QueryResult> {
  try {
    const series = await monitoring.query(expr, times.beginSeconds, times.endSeconds);
    const samples = series.flatMap(({ values }) => values);
    // 0/0 gives NaN, which no panel shows.
    const shownSamples = samples.filter(([, value]) => value !== "NaN");
    const shownSeconds = shownSamples.map(([seconds]) => seconds);
    return { dataFrom: toDataFrom(shownSeconds, times), error: undefined };
  } catch (error) {
    return { dataFrom: "never", error: String(error) };
  }
}

function toDataFrom(sampleSeconds: readonly number[], { faultsSeconds, endSeconds }: Times): QueryResult["dataFrom"] {
  // Infinity without samples.
  const firstSeconds = Math.min(...sampleSeconds);
  if (firstSeconds < faultsSeconds) return "healthy";
  return firstSeconds <= endSeconds ? "faults" : "never";
}

/** The value of `$__rate_interval` in Grafana: four times the scrape interval of 15 s. */
const rateInterval = "1m";

interface SourceQuery {
  readonly source: string;
  readonly expr: string;
}

function readDashboardQueries(): readonly SourceQuery[] {
  return globSync(join(observabilityFolder, "grafana/dashboards/*.json")).flatMap((file) => {
    const dashboard = JSON.parse(readFileSync(file, "utf8")) as Dashboard;
    return dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({
        source: `${basename(file, ".json")}, ${title}`,
        expr: replaceVariables(shortenQuery(expr), dashboard),
      })),
    );
  });
}

/** Replaces each variable of the dashboard with the pattern that Grafana inserts for "All". */
function replaceVariables(query: string, { templating }: Dashboard): string {
  let replaced = query;
  for (const { name } of templating.list) replaced = replaced.replaceAll(`$${name}`, ".+");
  return replaced.replaceAll("$__rate_interval", shorten(rateInterval));
}

function readRecordedQueries(): readonly SourceQuery[] {
  return readRules().flatMap(({ record, labels = {} }) => {
    if (record === undefined) return [];
    const matchers = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const expr = `${record}{${matchers.join()}}`;
    return [{ source: "recorded", expr }];
  });
}
