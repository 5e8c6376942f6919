import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import {
  readRules,
  shorten,
  shortenQuery,
  shorteningFactor,
  toMs,
  writeAlertmanagerSettings,
  writePrometheusSettings,
} from "./monitoring-settings.ts";

const folder = mkdtempSync(join(tmpdir(), "tributary-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));
const read = (file: string) => parse(readFileSync(join(folder, file), "utf8"));

test("Prometheus' settings are those of the repository, except for addresses and times", () => {
  const addresses = {
    targets: { posts: ["127.0.0.1:1", "127.0.0.1:2"] },
    alertmanager: "127.0.0.1:3",
    factor: shorteningFactor,
  };
  const { flags } = writePrometheusSettings(folder, addresses);
  const settings = read("prometheus.yml");
  expect(settings).toMatchObject({
    global: { scrape_interval: "500ms", scrape_timeout: "500ms", external_labels: { runbooks: "${RUNBOOKS_URL}" } },
    rule_files: ["rules/*.yml"],
    alerting: { alertmanagers: [{ static_configs: [{ targets: ["127.0.0.1:3"] }] }] },
  });
  const posts = { job_name: "posts", static_configs: [{ targets: ["127.0.0.1:1", "127.0.0.1:2"] }] };
  expect(settings.scrape_configs).toHaveLength(6);
  expect(settings.scrape_configs).toContainEqual(posts);
  expect(flags).toContain("--enable-feature=expand-external-labels");
  expect(flags.join()).not.toMatch(/=\//);
});

test("every rule is included, with its `for` divided by 30", () => {
  const groups = ["rules/alerts.yml", "rules/databases.yml"].flatMap((file) => read(file).groups);
  const alerts = groups.flatMap(({ rules }: { rules: readonly { alert: string }[] }) => rules);
  expect(alerts).toHaveLength(readRules().filter(({ alert }) => alert !== undefined).length);
  expect(alerts.find(({ alert }: { alert: string }) => alert === "UnitDown")).toMatchObject({ for: "2000ms" });
});

test("Alertmanager's routes are those of the repository, and each receiver has a local URL", () => {
  writeAlertmanagerSettings(folder, (name) => `http://127.0.0.1:4/${name}`);
  expect(read("alertmanager.yml")).toMatchObject({
    route: {
      group_by: ["alertname", "unit"],
      group_wait: "1000ms",
      routes: [{ receiver: "page", group_wait: "500ms" }],
    },
    receivers: [
      { name: "page", webhook_configs: [{ url: "http://127.0.0.1:4/page" }] },
      { name: "ticket", webhook_configs: [{ url: "http://127.0.0.1:4/ticket" }] },
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
  expect(() => toMs("1h30m")).toThrow("not a duration");
});

test("only windows and offsets of a query are shortened", () => {
  expect(shortenQuery('a:rate5m < 0.5 * avg_over_time(a:rate15m[1d] offset 1h) > 5 and b{le="0.5"}[5m]')).toBe(
    'a:rate5m < 0.5 * avg_over_time(a:rate15m[2880000ms] offset 120000ms) > 5 and b{le="0.5"}[10000ms]',
  );
});
