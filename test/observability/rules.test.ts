import { basename } from "node:path";
import { expect, test } from "vitest";
import { alerts, groupNames, listFiles, promqlBlocks, queries, readText, readYaml, recordings } from "./files.ts";

test("the names of alerts and groups are unique", () => {
  expect(alerts.length).toBeGreaterThan(20);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  expect(new Set(groupNames).size).toBe(groupNames.length);
});

test("no two recording rules record the same series", () => {
  const series = recordings.map(({ record, labels }) => `${record} ${JSON.stringify(labels)}`);
  expect(new Set(series).size).toBe(series.length);
});

test.each(alerts.map((rule) => [rule.alert, rule] as const))("%s has a severity, a unit and a runbook", (_, rule) => {
  expect(["page", "ticket"]).toContain(rule.labels?.["severity"]);
  expect(rule.labels?.["unit"]).toMatch(
    /^\{\{.*(job|endpoint|subgraph|service|persistentvolumeclaim)|^(gateway|rest-proxy)$/,
  );
  expect(rule.for).toMatch(/^\d+[mh]$/);
  expect(rule.annotations?.["summary"]).toMatch(/^[A-Z{]/);
  expect(pageOf(rule.annotations)).toBeDefined();
});

const pages = listFiles("docs/runbooks/*.md").filter((path) => !path.endsWith("/README.md"));
/** Runbooks of symptoms without an alert; other runbooks link to them. */
const pagesWithoutAlert = ["docs/runbooks/frozen-replica.md"];

test("every alert has a runbook, and every runbook has an alert", () => {
  const linked = new Set(alerts.map(({ annotations }) => `docs/runbooks/${pageOf(annotations)}`));
  expect([...linked, ...pagesWithoutAlert].toSorted()).toEqual(pages);
});

test("the runbooks without an alert are linked from the list and from another runbook", () => {
  for (const path of pagesWithoutAlert) {
    const linking = listFiles("docs/runbooks/*.md").filter((page) => readText(page).includes(`](${basename(path)})`));
    expect(linking).toContain("docs/runbooks/README.md");
    expect(linking.length).toBeGreaterThan(1);
  }
});

const sections = [
  "What fires and why",
  "Impact on clients",
  "First three things to do",
  "Check",
  "Mitigate",
  "How do I know it is over",
  "Background",
];

test.each(pages)("%s has every section, three first steps, and PromQL queries", (path) => {
  const parts = readText(path).split(/^## /m).slice(1);
  expect(parts.map((part) => part.split("\n", 1)[0])).toEqual(sections);
  const [, , first = "", check = "", , over = ""] = parts;
  expect(first.match(/^\d\. /gm)).toEqual(["1. ", "2. ", "3. "]);
  for (const part of [check, over]) expect(part).toContain("```promql\n");
});

test("every query of a runbook is in a PromQL block, so that it is checked", () => {
  expect(promqlBlocks.length).toBeGreaterThan(2 * pages.length);
  for (const path of [...pages, "docs/runbooks/README.md"]) {
    const others = readText(path).replaceAll(/```promql\n[^]*?```/g, "");
    expect(others, path).not.toMatch(/\b(tributary_\w+|process_\w+_seconds\w*|nodejs_\w+)[{[]/);
  }
});

test("every runbook names its alerts, and the list links to it", () => {
  const list = readText("docs/runbooks/README.md");
  for (const { alert, annotations } of alerts) {
    const page = pageOf(annotations) ?? "";
    expect(readText(`docs/runbooks/${page}`), page).toContain(`\`${alert}\``);
    expect(list).toContain(`](${page})`);
  }
});

test("the runbooks name existing alerts only", () => {
  const names = new Set(alerts.map(({ alert }) => alert));
  for (const path of listFiles("docs/runbooks/*.md")) {
    const [, heading = ""] = /^Alerts?: (.+)$/m.exec(readText(path)) ?? [];
    for (const [, name = ""] of heading.matchAll(/`(\w+)`/g)) expect(names, path).toContain(name);
  }
});

const errorRatio = "tributary:service_level_error:ratio_rate";
const windows = ["5m", "30m", "1h", "2h", "6h", "1d", "3d"];
const levels = recordings
  .filter(({ record }) => record === "tributary:service_level_budget:ratio")
  .map(({ labels }) => `${labels?.["endpoint"]} ${labels?.["level"]}`);

test("the gateway and the REST proxy each have a service level for availability and one for latency", () => {
  expect(levels).toEqual(
    expect.arrayContaining([
      "gateway availability",
      "gateway latency",
      "rest-proxy availability",
      "rest-proxy latency",
    ]),
  );
});

test.each(levels)("%s is recorded for every window with the same expression", (level) => {
  const rules = recordings.filter(
    ({ record, labels }) => record.startsWith(errorRatio) && `${labels?.["endpoint"]} ${labels?.["level"]}` === level,
  );
  expect(rules.map(({ record }) => record.slice(errorRatio.length))).toEqual(windows);
  const inWindow = ({ record, expr }: (typeof rules)[number]) =>
    expr.replaceAll(`[${record.slice(errorRatio.length)}]`, "[…]");
  expect(new Set(rules.map(inWindow)).size).toBe(1);
  expect(rules.map(inWindow).join()).not.toMatch(/\[\d/);
});

/** Long window, short window and burn rate: Site Reliability Workbook, chapter 5, table 5-8. */
test.each([
  ["ServiceLevelBurnsFast", "1h", "5m", "14.4"],
  ["ServiceLevelBurnsFast", "6h", "30m", "6"],
  ["ServiceLevelBurnsSlowly", "1d", "2h", "3"],
  ["ServiceLevelBurnsSlowly", "3d", "6h", "1"],
])("%s fires if the error ratios of %s and %s exceed %s times the budget", (name, long, short, burnRate) => {
  const expr = alerts.find(({ alert }) => alert === name)?.expr.replaceAll(/\s+/g, " ");
  const above = (window: string) =>
    `(${errorRatio}${window} > on (endpoint, level) ${burnRate} * tributary:service_level_budget:ratio)`;
  expect(expr).toContain(`(${above(long)} and on (endpoint, level) ${above(short)})`);
});

test.each(["prometheus.yml", "prometheus-kubernetes.yml"])(
  "%s reads the rules, takes the runbooks' URL from a variable, and sends alerts to Alertmanager",
  (name) => {
    expect(readYaml(`infra/observability/${name}`)).toMatchObject({
      global: { external_labels: { runbooks: "${RUNBOOKS_URL}" } },
      rule_files: ["rules/*.yml"],
      alerting: {
        alertmanagers: [{ static_configs: [{ targets: [expect.stringMatching(/^alertmanager\b.*:9093$/)] }] }],
      },
    });
  },
);

test("queries select histogram buckets by limits that Prometheus 2 and 3 format alike", () => {
  // Version 3 formats 1 as 1.0.
  const limits = queries.flatMap(({ expr }) => [...expr.matchAll(/\ble="([^"]*)"/g)].map(([, limit]) => limit));
  expect(limits).toContain("0.5");
  for (const limit of limits) expect(limit).toMatch(/^\d+\.\d+$|^\+Inf$/);
});

/** The file name at the end of an alert's runbook URL. */
function pageOf(annotations: Readonly<Record<string, string>> = {}): string | undefined {
  return /^\{\{ \$externalLabels\.runbooks \}\}\/([\w-]+\.md)$/.exec(annotations["runbook_url"] ?? "")?.[1];
}
