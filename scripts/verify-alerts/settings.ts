// The repository's Prometheus and Alertmanager settings, changed for the test: local addresses and shortened intervals.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { readRuleFiles, type Rule } from "./rule-files.ts";
import { shorten, shortenQuery, shortenSettings } from "./shorten.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const docsFolder = join(root, "docs");
export const observabilityFolder = join(root, "infra/observability");

interface PrometheusSettings {
  readonly global: Readonly<Record<string, unknown>> & { readonly scrape_interval: string };
  readonly scrape_configs: readonly { readonly job_name: string }[];
}

const readYaml = (file: string): unknown => parse(readFileSync(file, "utf8"), { merge: true });
const readObservabilityFile = (name: string) => readFileSync(join(observabilityFolder, name), "utf8");

/** Joins routes and receivers into one file, as `start.sh` does. */
export function joinAlertmanagerSettings(receivers: string): string {
  return readObservabilityFile("alertmanager/routes.yml") + receivers;
}

export const defaultReceivers = () => readObservabilityFile("alertmanager/receivers/receivers.yml");

/** Writes Alertmanager's settings with local webhook URLs, and with intervals shortened like those of the rules. @returns the file. */
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
  /** All intervals are divided by it. Default: `shorteningFactor`. */
  readonly factor?: number | undefined;
}

/**
 * Writes Prometheus' settings and rules with local addresses and shortened intervals. The scrape timeout is the shortened interval: a
 * thirtieth of the regular timeout would test the speed of this machine.
 * @returns the file, and compose's flags without those for files.
 */
export function writePrometheusSettings(folder: string, { targets, alertmanager, factor }: PrometheusAddresses) {
  const original = readYaml(join(observabilityFolder, "prometheus.yml")) as PrometheusSettings;
  const settings = {
    ...original,
    global: {
      ...(shortenSettings(original.global, ["scrape_interval", "evaluation_interval"], factor) as object),
      scrape_timeout: shorten(original.global.scrape_interval, factor),
    },
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
    const shortened = groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => shortenRule(rule, factor)),
    }));
    writeFileSync(join(folder, "rules", basename(path)), stringify({ groups: shortened }));
  }
  return { file, flags: flagsOfCompose() };
}

function shortenRule(rule: Rule, factor: number | undefined): Rule {
  const { for: duration } = rule;
  return {
    ...rule,
    expr: shortenQuery(rule.expr, factor),
    ...(duration === undefined ? {} : { for: shorten(duration, factor) }),
  };
}

function flagsOfCompose(): readonly string[] {
  const { services } = readYaml(join(root, "docker-compose.observability.yml")) as {
    readonly services: { readonly prometheus: { readonly command: readonly string[] } };
  };
  const localFlags = /^--(config\.file|storage\.tsdb\.path|web\.user-assets)=/;
  return services.prometheus.command.filter((flag) => !localFlags.test(flag));
}
