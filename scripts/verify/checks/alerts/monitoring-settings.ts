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
  w: 604_800_000,
};
const durationPattern = /^(\d+)(ms|[smhdw])$/;
const windowOrOffset = /(\[|\boffset\s+)(\d+(?:ms|[smhdw]))\b/g;
const fileFlag = /^--(config\.file|storage\.tsdb\.path|web\.user-assets)=/;

const readYaml = (file: string): unknown => parse(readFileSync(file, "utf8"), { merge: true });

/** A recording rule or an alerting rule of Prometheus. */
export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RuleFile {
  readonly path: string;
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** Reads all rule files of `infra/observability/rules`, sorted by name. */
export function readRuleFiles(): readonly RuleFile[] {
  const paths = globSync(join(observabilityFolder, "rules/*.yml")).toSorted();
  return paths.map((path) => ({ path, groups: (readYaml(path) as RuleFile).groups }));
}

export function readRules(): readonly Rule[] {
  return readRuleFiles().flatMap(({ groups }) => groups.flatMap(({ rules }) => rules));
}

interface PrometheusSettings {
  readonly global: Readonly<Record<string, unknown>> & { readonly scrape_interval: string };
  readonly scrape_configs: readonly { readonly job_name: string }[];
}

const readObservabilityFile = (name: string) => readFileSync(join(observabilityFolder, name), "utf8");

/** Joins routes and receivers into one text, as infra/observability/alertmanager/start.sh does. */
export function joinAlertmanagerSettings(receivers: string): string {
  return readObservabilityFile("alertmanager/routes.yml") + receivers;
}

export const defaultReceivers = () => readObservabilityFile("alertmanager/receivers/receivers.yml");

/** Writes Alertmanager's settings with local webhook URLs, and with intervals divided by `shorteningFactor`. @returns the file. */
export function writeAlertmanagerSettings(folder: string, receiverUrl: (receiver: string) => string): string {
  const receivers = ["page", "ticket"].map((name) => ({ name, webhook_configs: [{ url: receiverUrl(name) }] }));
  const settings = parse(joinAlertmanagerSettings(stringify({ receivers }))) as unknown;
  const file = join(folder, "alertmanager.yml");
  writeFileSync(file, stringify(shortenSettings(settings, ["group_wait", "group_interval", "repeat_interval"])));
  return file;
}

export interface PrometheusAddresses {
  /** Hosts and ports of each unit's metrics. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
  readonly alertmanager: string;
  /** All intervals of Prometheus are divided by it; 1 leaves them unchanged. */
  readonly factor: number;
}

/**
 * Writes Prometheus' settings and rules with local addresses and shortened intervals. The scrape timeout is the shortened interval: a
 * thirtieth of the regular timeout would test the speed of this machine.
 * @returns the settings file, and Prometheus' flags in docker-compose.observability.yml without the flags that name files.
 */
export function writePrometheusSettings(folder: string, { targets, alertmanager, factor }: PrometheusAddresses) {
  const original = readYaml(join(observabilityFolder, "prometheus.yml")) as PrometheusSettings;
  const globalIntervals = ["scrape_interval", "evaluation_interval"];
  const shortenedGlobal = shortenSettings(original.global, globalIntervals, factor) as object;
  const settings = {
    ...original,
    global: { ...shortenedGlobal, scrape_timeout: shorten(original.global.scrape_interval, factor) },
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: original.scrape_configs.map(({ job_name: name }) => ({
      job_name: name,
      static_configs: [{ targets: targets[name] ?? [] }],
    })),
  };
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, stringify(settings));
  mkdirSync(join(folder, "rules"));
  for (const { path, groups } of readRuleFiles()) {
    const shortenedGroups = groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => shortenRule(rule, factor)),
    }));
    writeFileSync(join(folder, "rules", basename(path)), stringify({ groups: shortenedGroups }));
  }
  return { file, flags: readComposeFlags() };
}

function shortenRule(rule: Rule, factor: number): Rule {
  const shortened: Rule = { ...rule, expr: shortenQuery(rule.expr, factor) };
  if (rule.for === undefined) return shortened;
  return { ...shortened, for: shorten(rule.for, factor) };
}

function readComposeFlags(): readonly string[] {
  const { services } = readYaml(join(root, "docker-compose.observability.yml")) as {
    readonly services: { readonly prometheus: { readonly command: readonly string[] } };
  };
  return services.prometheus.command.filter((flag) => !fileFlag.test(flag));
}

/** @throws Error for a text that is not a Prometheus duration with one unit. */
export function toMs(duration: string): number {
  const [, number, unit = ""] = durationPattern.exec(duration) ?? [];
  const unitMs = msOfUnit[unit];
  if (number === undefined || unitMs === undefined) throw new Error(`not a duration: ${duration}`);
  return Number(number) * unitMs;
}

/** "5m" becomes "10000ms". */
export function shorten(duration: string, factor: number = shorteningFactor): string {
  return `${Math.round(toMs(duration) / factor)}ms`;
}

/** Shortens the windows and offsets of a query. */
export function shortenQuery(query: string, factor?: number): string {
  return query.replaceAll(windowOrOffset, (_, before: string, duration: string) => before + shorten(duration, factor));
}

/** Shortens the durations with these names, at any depth. */
function shortenSettings(settings: unknown, durationNames: readonly string[], factor?: number): unknown {
  if (Array.isArray(settings)) return settings.map((item) => shortenSettings(item, durationNames, factor));
  if (typeof settings !== "object" || settings === null) return settings;
  const shortened = Object.entries(settings).map(([name, value]) => {
    const isDuration = durationNames.includes(name) && typeof value === "string";
    return [name, isDuration ? shorten(value, factor) : shortenSettings(value, durationNames, factor)];
  });
  return Object.fromEntries(shortened);
}
