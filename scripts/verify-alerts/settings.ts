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
const readObserved = (name: string) => readFileSync(join(observabilityFolder, name), "utf8");

/** Routes and receivers as one file, as `start.sh` makes it. */
export function joinAlertmanagerSettings(receivers: string): string {
  return readObserved("alertmanager/routes.yml") + receivers;
}

export const defaultReceivers = () => readObserved("alertmanager/receivers/receivers.yml");

/** @returns the file. Both receivers are told at an address of ours, and everything is waited for as much shorter as the rules wait. */
export function writeAlertmanagerSettings(folder: string, receiverUrl: (receiver: string) => string): string {
  const receivers = ["page", "ticket"].map((name) => ({ name, webhook_configs: [{ url: receiverUrl(name) }] }));
  const settings = parse(joinAlertmanagerSettings(stringify({ receivers }))) as unknown;
  const file = join(folder, "alertmanager.yml");
  writeFileSync(file, stringify(shortenSettings(settings, ["group_wait", "group_interval", "repeat_interval"])));
  return file;
}

export interface Addresses {
  /** Of each unit's metrics, without http://. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
  readonly alertmanager: string;
  /** By which all times are divided. Default: `shorteningFactor`. */
  readonly factor?: number | undefined;
}

/**
 * Our own settings and rules, with local addresses. A scrape may take as long as the shortened interval is: a thirtieth of its usual time would
 * judge this machine.
 * @returns the file, and the flags of compose that name no place.
 */
export function writePrometheusSettings(folder: string, { targets, alertmanager, factor }: Addresses) {
  const written = readYaml(join(observabilityFolder, "prometheus.yml")) as PrometheusSettings;
  const settings = {
    ...written,
    global: {
      ...(shortenSettings(written.global, ["scrape_interval", "evaluation_interval"], factor) as object),
      scrape_timeout: shorten(written.global.scrape_interval, factor),
    },
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
    scrape_configs: written.scrape_configs.map(({ job_name: name }) => ({
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
  const { for: waits } = rule;
  return {
    ...rule,
    expr: shortenQuery(rule.expr, factor),
    ...(waits === undefined ? {} : { for: shorten(waits, factor) }),
  };
}

function flagsOfCompose(): readonly string[] {
  const { services } = readYaml(join(root, "docker-compose.observability.yml")) as {
    readonly services: { readonly prometheus: { readonly command: readonly string[] } };
  };
  const places = /^--(config\.file|storage\.tsdb\.path|web\.user-assets)=/;
  return services.prometheus.command.filter((flag) => !places.test(flag));
}
