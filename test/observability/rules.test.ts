import { basename } from "node:path";
import { expect, test } from "vitest";
import { alerts, groupNames, listFiles, promqlBlocks, queries, readText, readYaml, recordings } from "./files.ts";

test("no two alerts and no two groups have one name", () => {
  expect(alerts.length).toBeGreaterThan(20);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  expect(new Set(groupNames).size).toBe(groupNames.length);
});

test("no two recordings make the same series", () => {
  const made = recordings.map(({ record, labels }) => `${record} ${JSON.stringify(labels)}`);
  expect(new Set(made).size).toBe(made.length);
});

test.each(alerts.map((rule) => [rule.alert, rule] as const))(
  "%s says how urgent it is, which unit it is about, and what to read",
  (_, rule) => {
    expect(["page", "ticket"]).toContain(rule.labels?.["severity"]);
    expect(rule.labels?.["unit"]).toMatch(
      /^\{\{.*(job|door|subgraph|service|persistentvolumeclaim)|^(gateway|rest-proxy)$/,
    );
    expect(rule.for).toMatch(/^\d+[mh]$/);
    expect(rule.annotations?.["summary"]).toMatch(/^[A-Z{]/);
    expect(pageOf(rule.annotations)).toBeDefined();
  },
);

const pages = listFiles("docs/runbooks/*.md").filter((path) => !path.endsWith("/README.md"));
/** Symptoms that have no alert of their own: other pages lead to theirs. */
const pagesWithoutAlert = ["docs/runbooks/frozen-replica.md"];

test("every alert's page is there, and every page is some alert's", () => {
  const linked = new Set(alerts.map(({ annotations }) => `docs/runbooks/${pageOf(annotations)}`));
  expect([...linked, ...pagesWithoutAlert].toSorted()).toEqual(pages);
});

test("the pages without an alert are linked from the list and from an alert's page", () => {
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

test.each(pages)("%s has every section, three things to do first, and queries to paste", (path) => {
  const parts = readText(path).split(/^## /m).slice(1);
  expect(parts.map((part) => part.split("\n", 1)[0])).toEqual(sections);
  const [, , first = "", check = "", , over = ""] = parts;
  expect(first.match(/^\d\. /gm)).toEqual(["1. ", "2. ", "3. "]);
  for (const part of [check, over]) expect(part).toContain("```promql\n");
});

test("no page has a query that is no PromQL block, so that each is checked", () => {
  expect(promqlBlocks.length).toBeGreaterThan(2 * pages.length);
  for (const path of [...pages, "docs/runbooks/README.md"]) {
    const others = readText(path).replaceAll(/```promql\n[^]*?```/g, "");
    expect(others, path).not.toMatch(/\b(tributary_\w+|process_\w+_seconds\w*|nodejs_\w+)[{[]/);
  }
});

test("every page names the alerts that lead to it, and the list of pages has it", () => {
  const list = readText("docs/runbooks/README.md");
  for (const { alert, annotations } of alerts) {
    const page = pageOf(annotations) ?? "";
    expect(readText(`docs/runbooks/${page}`), page).toContain(`\`${alert}\``);
    expect(list).toContain(`](${page})`);
  }
});

test("the pages name no alert that there is not", () => {
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
  .map(({ labels }) => `${labels?.["door"]} ${labels?.["level"]}`);

test("each door has a level of availability and one of latency", () => {
  expect(levels).toEqual(
    expect.arrayContaining([
      "gateway availability",
      "gateway latency",
      "rest-proxy availability",
      "rest-proxy latency",
    ]),
  );
});

test.each(levels)("%s is recorded for every window, by one expression", (level) => {
  const ofLevel = recordings.filter(
    ({ record, labels }) => record.startsWith(errorRatio) && `${labels?.["door"]} ${labels?.["level"]}` === level,
  );
  expect(ofLevel.map(({ record }) => record.slice(errorRatio.length))).toEqual(windows);
  const inWindow = ({ record, expr }: (typeof ofLevel)[number]) =>
    expr.replaceAll(`[${record.slice(errorRatio.length)}]`, "[…]");
  expect(new Set(ofLevel.map(inWindow)).size).toBe(1);
  expect(ofLevel.map(inWindow).join()).not.toMatch(/\[\d/);
});

/** Long window, short one, and the pace, of the SRE Workbook's chapter 5, table 5-8. */
test.each([
  ["ServiceLevelBurnsFast", "1h", "5m", "14.4"],
  ["ServiceLevelBurnsFast", "6h", "30m", "6"],
  ["ServiceLevelBurnsSlowly", "1d", "2h", "3"],
  ["ServiceLevelBurnsSlowly", "3d", "6h", "1"],
])("%s fires at %s and %s above %s times the budget's pace", (name, long, short, pace) => {
  const expr = alerts.find(({ alert }) => alert === name)?.expr.replaceAll(/\s+/g, " ");
  const above = (window: string) =>
    `(${errorRatio}${window} > on (door, level) ${pace} * tributary:service_level_budget:ratio)`;
  expect(expr).toContain(`(${above(long)} and on (door, level) ${above(short)})`);
});

test.each(["prometheus.yml", "prometheus-kubernetes.yml"])(
  "%s reads the rules, says where the pages are by a variable, and has somebody to tell",
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

test("a bucket is asked for by a limit that Prometheus 2 and 3 write alike", () => {
  // Version 3 makes 1.0 of 1.
  const limits = queries.flatMap(({ expr }) => [...expr.matchAll(/\ble="([^"]*)"/g)].map(([, limit]) => limit));
  expect(limits).toContain("0.5");
  for (const limit of limits) expect(limit).toMatch(/^\d+\.\d+$|^\+Inf$/);
});

/** The file of a page, as an alert's address ends with it. */
function pageOf(annotations: Readonly<Record<string, string>> = {}): string | undefined {
  return /^\{\{ \$externalLabels\.runbooks \}\}\/([\w-]+\.md)$/.exec(annotations["runbook_url"] ?? "")?.[1];
}
