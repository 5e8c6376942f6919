// Checks that every query of the dashboards and every recorded series has data. Prometheus runs with shorter intervals here, so the windows of the
// queries are shorter by the same factor (`shorten`).
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { VerificationRun } from "../../verification.ts";
import { observabilityFolder, readRules, shorten, shortenQuery } from "./monitoring-settings.ts";
import type { Monitoring } from "./monitoring.ts";

/** In seconds since 1970: the load starts, the first fault starts, the last one has ended. */
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
  for (const { source, expr } of [...dashboardQueries(), ...recordedSeriesQueries()]) {
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

async function runQuery(
  monitoring: Monitoring,
  expr: string,
  { beginSeconds, faultsSeconds, endSeconds }: Times,
): Promise<QueryResult> {
  try {
    const series = await monitoring.query(expr, beginSeconds, endSeconds);
    // 0/0 gives NaN, which no panel shows.
    const seconds = series.flatMap(({ values }) => values.filter(([, value]) => value !== "NaN").map(([time]) => time));
    // Infinity without data: then both comparisons are false.
    const first = Math.min(...seconds);
    const dataFrom = first < faultsSeconds ? "healthy" : first <= endSeconds ? "faults" : "never";
    return { dataFrom, error: undefined };
  } catch (error) {
    return { dataFrom: "never", error: String(error) };
  }
}

/** Grafana's $__rate_interval: four times the scrape interval of 15 s. */
const rateInterval = "1m";

function dashboardQueries() {
  return globSync(join(observabilityFolder, "grafana/dashboards/*.json")).flatMap((file) => {
    const { templating, panels } = JSON.parse(readFileSync(file, "utf8")) as Dashboard;
    const fill = (expr: string) =>
      templating.list
        .reduce((text, { name }) => text.replaceAll(`$${name}`, ".+"), shortenQuery(expr))
        .replaceAll("$__rate_interval", shorten(rateInterval));
    return panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ source: `${basename(file, ".json")}, ${title}`, expr: fill(expr) })),
    );
  });
}

function recordedSeriesQueries() {
  return readRules().flatMap(({ record, labels = {} }) => {
    if (record === undefined) return [];
    const matchers = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const expr = `${record}{${matchers.join()}}`;
    return [{ source: "recorded", expr }];
  });
}
