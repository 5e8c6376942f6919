import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

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
  const folder = fileURLToPath(new URL("../../infra/observability/rules", import.meta.url));
  const paths = globSync(`${folder}/*.yml`).toSorted();
  return paths.map((path) => ({
    path,
    groups: (parse(readFileSync(path, "utf8"), { merge: true }) as RuleFile).groups,
  }));
}

export function readRules(): readonly Rule[] {
  return readRuleFiles().flatMap(({ groups }) => groups.flatMap(({ rules }) => rules));
}
