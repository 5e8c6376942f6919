import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import { serviceNames } from "../../platform/platform.ts";
import { faults } from "./faults.ts";
import {
  observabilityFolder,
  readRules,
  shorten,
  shortenQuery,
  writeAlertmanagerSettings,
  writePrometheusSettings,
} from "./monitoring-settings.ts";

interface UnitTests {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts?: readonly unknown[] }[];
  }[];
}

const unitTests = parse(readFileSync(join(observabilityFolder, "rules/tests/alerts.yml"), "utf8")) as UnitTests;
const ruleTests = unitTests.tests.flatMap(({ alert_rule_test: tests = [] }) => tests);
const alerts = readRules().flatMap(({ alert }) => alert ?? []);

test("every alert is expected of a fault, or fires in promtool's unit tests", () => {
  const expectedByFaults = faults.flatMap(({ notified }) => notified.map(([alert]) => alert));
  const firing = ruleTests.flatMap(({ alertname, exp_alerts: expected = [] }) =>
    expected.length > 0 ? [alertname] : [],
  );
  const covered = new Set([...expectedByFaults, ...firing]);
  expect(alerts.filter((alert) => !covered.has(alert))).toEqual([]);
});

test("promtool's unit tests also contain a case in which each tested alert does not fire", () => {
  const notFiring = ruleTests
    .filter(({ exp_alerts: expected = [] }) => expected.length === 0)
    .map(({ alertname }) => alertname);
  for (const { alertname } of ruleTests) expect(notFiring).toContain(alertname);
});

test("faults expect only existing alerts", () => {
  for (const { notified, inhibited = [], possible = [] } of faults) {
    expect(alerts).toEqual(
      expect.arrayContaining([...[...notified, ...inhibited].map(([alert]) => alert), ...possible]),
    );
  }
});

const folder = mkdtempSync(join(tmpdir(), "tributary-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));
const read = (file: string) => parse(readFileSync(join(folder, file), "utf8"));

test("Prometheus' settings are those of the repository, except for addresses and times", () => {
  const addresses = {
    targets: { posts: ["127.0.0.1:1", "127.0.0.1:2"] },
    alertmanager: "127.0.0.1:3",
  };
  const { flags } = writePrometheusSettings(folder, addresses);
  const settings = read("prometheus.yml");
  expect(settings).toMatchObject({
    global: { scrape_interval: "500ms", scrape_timeout: "500ms", external_labels: { runbooks: "${RUNBOOKS_URL}" } },
    rule_files: ["rules/*.yml"],
    alerting: { alertmanagers: [{ static_configs: [{ targets: ["127.0.0.1:3"] }] }] },
  });
  const posts = { job_name: "posts", static_configs: [{ targets: ["127.0.0.1:1", "127.0.0.1:2"] }] };
  expect(settings.scrape_configs).toHaveLength(serviceNames.length + 3);
  expect(settings.scrape_configs).toContainEqual(posts);
  expect(flags).toContain("--enable-feature=expand-external-labels");
  expect(flags.join()).not.toMatch(/=\//);
});

test("every rule is included, with its `for` divided by 30", () => {
  const groups = ["rules/alerts.yml", "rules/databases.yml", "rules/feeds.yml", "rules/overload.yml"].flatMap(
    (file) => read(file).groups,
  );
  const alerts = groups.flatMap(({ rules }: { rules: readonly { alert: string }[] }) => rules);
  expect(alerts).toHaveLength(readRules().filter(({ alert }) => alert !== undefined).length);
  expect(alerts.find(({ alert }: { alert: string }) => alert === "UnitDown")).toMatchObject({ for: "2000ms" });
});

test("Alertmanager's routes are those of the repository, and each receiver has the local URL", () => {
  writeAlertmanagerSettings(folder, "http://127.0.0.1:4");
  expect(read("alertmanager.yml")).toMatchObject({
    route: {
      group_by: ["alertname", "unit"],
      group_wait: "1000ms",
      routes: [{ receiver: "page", group_wait: "500ms" }],
    },
    receivers: [
      { name: "page", webhook_configs: [{ url: "http://127.0.0.1:4" }] },
      { name: "ticket", webhook_configs: [{ url: "http://127.0.0.1:4" }] },
    ],
  });
});

test("a duration is divided by 30", () => {
  expect(["500ms", "15s", "5m", "6h", "3d"].map((duration) => shorten(duration))).toEqual([
    "17ms",
    "500ms",
    "10000ms",
    "720000ms",
    "8640000ms",
  ]);
  expect(() => shorten("1h30m")).toThrow("not a duration");
});

test("only windows and offsets of a query are shortened", () => {
  expect(shortenQuery('a:rate5m < 0.5 * avg_over_time(a:rate15m[1d] offset 1h) > 5 and b{le="0.5"}[5m]')).toBe(
    'a:rate5m < 0.5 * avg_over_time(a:rate15m[2880000ms] offset 120000ms) > 5 and b{le="0.5"}[10000ms]',
  );
});
