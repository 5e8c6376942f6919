// Checks that every query of the dashboards and every recorded series has data.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readRules } from "./rule-files.ts";
import { observabilityFolder } from "./settings.ts";
import { shorten, shortenQuery } from "./shorten.ts";
import type { Monitoring } from "./monitoring.ts";

/** A query, and whether Prometheus returned data. */
export interface QueryResult {
  readonly source: string;
  readonly expr: string;
  /** When the query first had data: on the healthy platform under load, during the faults, or never. */
  readonly dataFrom: "healthy" | "faults" | "never";
  /** Prometheus' error message, if it rejected the query. */
  readonly error: string | undefined;
}

export interface Times {
  readonly beginSeconds: number;
  readonly faultsSeconds: number;
  readonly endSeconds: number;
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly allValue?: string }[] };
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

/** Runs each query of each dashboard, with the variables set to "All", and one query for each recorded series. */
export async function runQueries(monitoring: Monitoring, times: Times): Promise<readonly QueryResult[]> {
  const queryResults: QueryResult[] = [];
  for (const { source, expr } of [...dashboardQueries(), ...recordedSeriesQueries()]) {
    queryResults.push({ source, expr, ...(await runQuery(monitoring, expr, times)) });
  }
  return queryResults;
}

async function runQuery(monitoring: Monitoring, expr: string, { beginSeconds, faultsSeconds, endSeconds }: Times) {
  try {
    const series = await monitoring.query(expr, beginSeconds, endSeconds);
    // 0/0 gives NaN, which no panel shows.
    const times = series.flatMap(({ values }) => values.filter(([, value]) => value !== "NaN").map(([time]) => time));
    const first = Math.min(...times);
    const dataFrom = first < faultsSeconds ? "healthy" : first <= endSeconds ? "faults" : "never";
    return { dataFrom, error: undefined } as const;
  } catch (error) {
    return { dataFrom: "never", error: String(error) } as const;
  }
}

/** Grafana's $__rate_interval: four times the scrape interval of 15 s. */
const rateInterval = "1m";

function dashboardQueries() {
  return globSync(join(observabilityFolder, "grafana/dashboards/*.json")).flatMap((file) => {
    const { templating, panels } = JSON.parse(readFileSync(file, "utf8")) as Dashboard;
    const fill = (expr: string) =>
      templating.list
        .reduce((text, { name, allValue = "" }) => text.replaceAll(`$${name}`, allValue), shortenQuery(expr))
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
