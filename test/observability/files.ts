import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const readText = (path: string) => readFileSync(`${root}/${path}`, "utf8");
/** Parses YAML with merge keys (`<<`), as Docker Compose does. */
export const readYaml = (path: string): unknown => parse(readText(path), { merge: true });
export const listFiles = (pattern: string) => globSync(pattern, { cwd: root }).toSorted();

/** A recording rule or an alerting rule of Prometheus. */
interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

const groups = listFiles("infra/observability/rules/*.yml").flatMap((path) => (readYaml(path) as RuleFile).groups);
const rules = groups.flatMap(({ rules: ofGroup }) => ofGroup);
export const groupNames = groups.map(({ name }) => name);
export const recordings = rules.filter((rule): rule is Rule & { readonly record: string } => rule.record !== undefined);
export const alerts = rules.filter((rule): rule is Rule & { readonly alert: string } => rule.alert !== undefined);

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  readonly panels: readonly Panel[];
}

export const dashboards: readonly (readonly [string, Dashboard])[] = listFiles(
  "infra/observability/grafana/dashboards/*.json",
).map((path) => [basename(path), JSON.parse(readText(path)) as Dashboard]);

/** A PromQL query, its source, and the labels that its annotations or legend use. */
export interface Query {
  readonly where: string;
  readonly expr: string;
  readonly labels: readonly string[];
}

/** The queries in the `promql` code blocks of the documentation. */
export const promqlBlocks: readonly { readonly path: string; readonly expr: string }[] = listFiles(
  "docs/**/*.md",
).flatMap((path) =>
  [...readText(path).matchAll(/^ *```promql\n([^]*?)^ *```$/gm)].map(([, expr = ""]) => ({ path, expr })),
);

/** The queries of the rules, the documentation and the dashboards. */
export const queries: readonly Query[] = [
  ...recordings.map(({ record, expr }) => ({ where: record, expr, labels: [] })),
  ...alerts.map(({ alert, expr, annotations = {} }) => ({
    where: alert,
    expr,
    labels: namesIn(Object.values(annotations).join(), /\$labels\.(\w+)/g),
  })),
  ...promqlBlocks.map(({ path, expr }) => ({ where: path, expr, labels: [] })),
  ...dashboards.flatMap(([file, { panels }]) =>
    panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({
        where: `${file}, ${title}`,
        expr,
        labels: namesIn(legendFormat, /\{\{(\w+)\}\}/g),
      })),
    ),
  ),
];

function namesIn(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name ?? "");
}
