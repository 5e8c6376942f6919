// The repository's Prometheus rules and settings, and Alertmanager's, changed for the check: local addresses and shortened intervals.
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
export const docsFolder = join(root, "docs");
export const observabilityFolder = join(root, "infra/observability");

/** All intervals of Prometheus and Alertmanager are divided by this, so that a fault takes seconds instead of minutes. */
export const shorteningFactor = 30;

const msOfUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const durationPattern = /^(\d+)(ms|[smhd])$/;
const windowOrOffset = /(\[|\boffset\s+)(\d+(?:ms|[smhd]))\b/g;
const fileFlag = /^--(config\.file|storage\.tsdb\.path|web\.user-assets)=/;
/** The settings with durations, in Prometheus' global settings and rules and in Alertmanager's routes. */
const durationNames = new Set([
  "scrape_interval",
  "evaluation_interval",
  "for",
  "group_wait",
  "group_interval",
  "repeat_interval",
]);
/** The value of `$__rate_interval` in Grafana: four times the scrape interval of 15 s. */
const rateInterval = "1m";

/** A recording rule or an alerting rule of Prometheus. */
export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly path: string;
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

export const readObservabilityFile = (name: string) => readFileSync(join(observabilityFolder, name), "utf8");
const readYaml = (path: string): unknown => parse(readFileSync(path, "utf8"), { merge: true });

/** Reads all rule files of `infra/observability/rules`, sorted by name. */
export function readRuleFiles(): readonly RuleFile[] {
  const paths = globSync(join(observabilityFolder, "rules/*.yml")).toSorted();
  return paths.map((path) => ({ path, groups: (readYaml(path) as RuleFile).groups }));
}

export function readRules(): readonly Rule[] {
  return readRuleFiles().flatMap(({ groups }) => groups.flatMap(({ rules }) => rules));
}

/** Joins routes and receivers into one text, as infra/observability/alertmanager/start.sh does. */
export function joinAlertmanagerSettings(receivers: string): string {
  return readObservabilityFile("alertmanager/routes.yml") + receivers;
}

/** Writes Alertmanager's settings, whose receivers are webhooks. @returns the file. */
export function writeAlertmanagerSettings(folder: string, receiverUrl: string): string {
  const receivers = ["page", "ticket"].map((name) => ({ name, webhook_configs: [{ url: receiverUrl }] }));
  const file = join(folder, "alertmanager.yml");
  writeFileSync(file, stringify(shortenAll(parse(joinAlertmanagerSettings(stringify({ receivers }))))));
  return file;
}

interface PrometheusSettings {
  readonly global: { readonly scrape_interval: string };
  readonly alerting: object;
  readonly scrape_configs: readonly { readonly job_name: string }[];
}

interface PrometheusAddresses {
  /** Hosts and ports of each unit's metrics. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
  readonly alertmanager: string;
}

/**
 * Writes Prometheus' settings and rules. The scrape timeout is the shortened interval: a thirtieth of the regular timeout would test the speed
 * of this machine.
 * @returns the settings file, and Prometheus' flags in docker-compose.observability.yml without the flags that name files.
 */
export function writePrometheusSettings(folder: string, { targets, alertmanager }: PrometheusAddresses) {
  const original = readYaml(join(observabilityFolder, "prometheus.yml")) as PrometheusSettings;
  const settings = {
    ...original,
    global: { ...original.global, scrape_timeout: shorten(original.global.scrape_interval) },
    alerting: { ...original.alerting, alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: original.scrape_configs.map(({ job_name: name }) => ({
      job_name: name,
      static_configs: [{ targets: targets[name] ?? [] }],
    })),
  };
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, stringify(shortenAll(settings)));
  mkdirSync(join(folder, "rules"));
  for (const { path, groups } of readRuleFiles()) {
    writeFileSync(join(folder, "rules", basename(path)), stringify(shortenAll({ groups })));
  }
  const { services } = readYaml(join(root, "docker-compose.observability.yml")) as {
    readonly services: { readonly prometheus: { readonly command: readonly string[] } };
  };
  return { file, flags: services.prometheus.command.filter((flag) => !fileFlag.test(flag)) };
}

/** Shortens the durations and queries of settings or rules, at any depth. */
function shortenAll(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => shortenAll(item));
  if (typeof value === "string") {
    if (name === "expr") return shortenQuery(value);
    return durationNames.has(name) ? shorten(value) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortenAll(item, key)]));
}

/** "5m" becomes "10000ms". @throws Error for a text that is not a Prometheus duration with one unit. */
export function shorten(duration: string): string {
  const [, number, unit = ""] = durationPattern.exec(duration) ?? [];
  const unitMs = msOfUnit[unit];
  if (number === undefined || unitMs === undefined) throw new Error(`not a duration: ${duration}`);
  return `${Math.round((Number(number) * unitMs) / shorteningFactor)}ms`;
}

/** Shortens the windows and offsets of a query. */
export function shortenQuery(query: string): string {
  return query.replaceAll(windowOrOffset, (_, before: string, duration: string) => before + shorten(duration));
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

/** The shortened queries of the dashboards, with the variables set to "All", and one query for each recorded series. */
export function listQueries(): readonly string[] {
  const ofDashboards = globSync(join(observabilityFolder, "grafana/dashboards/*.json")).flatMap((file) => {
    const { panels, templating } = JSON.parse(readFileSync(file, "utf8")) as Dashboard;
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => shortenQuery(expr)));
    return queries.map((query) =>
      templating.list
        .reduce((replaced, { name }) => replaced.replaceAll(`$${name}`, ".+"), query)
        .replaceAll("$__rate_interval", shorten(rateInterval)),
    );
  });
  const recorded = readRules().flatMap(({ record, labels = {} }) => {
    const matchers = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    return record === undefined ? [] : [`${record}{${matchers.join()}}`];
  });
  return [...ofDashboards, ...recorded];
}
