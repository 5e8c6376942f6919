import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readRules } from "./rule-files.ts";
import { observabilityFolder } from "./settings.ts";
import { shorten, shortenQuery } from "./shorten.ts";
import type { Watchers } from "./watchers.ts";

/** A query, and whether Prometheus had anything to say to it. */
export interface Answered {
  readonly where: string;
  readonly expr: string;
  /** On the healthy platform under load; while there were faults; never. */
  readonly found: "healthy" | "faults" | "never";
  /** What Prometheus said against it. */
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

/** Asks Prometheus each query of each dashboard, with "All" chosen, and for each recorded series. */
export async function askAll(watchers: Watchers, times: Times): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  for (const { where, expr } of [...ofDashboards(), ...ofRecordings()]) {
    answered.push({ where, expr, ...(await askOne(watchers, expr, times)) });
  }
  return answered;
}

async function askOne(watchers: Watchers, expr: string, { beginSeconds, faultsSeconds, endSeconds }: Times) {
  try {
    const series = await watchers.query(expr, beginSeconds, endSeconds);
    // 0/0 is no number, and no panel shows it.
    const times = series.flatMap(({ values }) => values.filter(([, value]) => value !== "NaN").map(([time]) => time));
    const first = Math.min(...times);
    const found = first < faultsSeconds ? "healthy" : first <= endSeconds ? "faults" : "never";
    return { found, error: undefined } as const;
  } catch (error) {
    return { found: "never", error: String(error) } as const;
  }
}

/** As Grafana works it out: four times the scrape interval, which is 15 s. */
const rateInterval = "1m";

function ofDashboards() {
  return globSync(join(observabilityFolder, "grafana/dashboards/*.json")).flatMap((file) => {
    const { templating, panels } = JSON.parse(readFileSync(file, "utf8")) as Dashboard;
    const fill = (expr: string) =>
      templating.list
        .reduce((text, { name, allValue = "" }) => text.replaceAll(`$${name}`, allValue), shortenQuery(expr))
        .replaceAll("$__rate_interval", shorten(rateInterval));
    return panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ where: `${basename(file, ".json")}, ${title}`, expr: fill(expr) })),
    );
  });
}

function ofRecordings() {
  return readRules().flatMap(({ record, labels = {} }) => {
    if (record === undefined) return [];
    const matchers = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const expr = `${record}{${matchers.join()}}`;
    return [{ where: "recorded", expr }];
  });
}
