import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { serviceNames } from "../../platform/platform.ts";
import { claimOutcome } from "./fault-run.ts";
import { type Fault, faults } from "./faults.ts";
import {
  docsFolder,
  observabilityFolder,
  readRules,
  shorten,
  shortenQuery,
  shorteningFactor,
  toMs,
  writeAlertmanagerSettings,
  writePrometheusSettings,
} from "./monitoring-settings.ts";
import { type Notification, type NotificationReceiver, startNotificationReceiver } from "./notification-receiver.ts";

const fault: Fault = {
  name: "unit-down",
  description: "posts is killed",
  notified: [["UnitDown", "posts"]],
  inhibited: [["ServiceFails", "posts"]],
  possible: ["RequestsShed"],
  inject: () => Promise.reject(new Error("not called")),
};

/** Serves docs/runbooks, as Prometheus does. */
const pages = createServer(({ url }, response) => {
  if (url === "/missing.md") response.writeHead(404);
  response.end(url === "/missing.md" ? "" : readFileSync(join(docsFolder, "runbooks", url ?? "")));
});
let runbooks: string;
beforeAll(async () => {
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  runbooks = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
});
afterAll(() => void pages.close());

test("an outcome as expected passes every claim", async () => {
  expect(await failedClaims({})).toEqual([]);
  expect(await failedClaims({ others: [{ alert: "RequestsShed" }] })).toEqual([]);
});

test("the slow burn alert, whose windows are hours, need not resolve", async () => {
  expect(await failedClaims({ others: [{ alert: "ServiceLevelBurnsSlowly", resolvedMs: undefined }] })).toEqual([]);
});

test.each<[string, Planted]>([
  ["UnitDown of posts is notified", { unitDown: { unit: "users" } }],
  ["ServiceFails of posts is inhibited", { inhibited: [] }],
  ["no unexpected alert is notified", { others: [{ alert: "ReplicaDown" }] }],
  ["each alert goes to its receiver, and links to its runbook", { unitDown: { receiver: "ticket" } }],
  ["each alert goes to its receiver, and links to its runbook", { page: "/missing.md" }],
  ["each alert goes to its receiver, and links to its runbook", { page: "/service-level.md" }],
  ["each alert resolves after the fault is undone", { unitDown: { resolvedMs: undefined } }],
])("the claim that %s fails for %j", async (claim, planted) => {
  expect(await failedClaims(planted)).toContain(`unit-down: ${claim}`);
});

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

test("repeated notifications of an alert are one entry, which ends when the alert is resolved", async () => {
  const receiver = await startNotificationReceiver();
  onTestFinished(() => receiver.stop());
  await notify(receiver, "page", "firing");
  await notify(receiver, "page", "firing");
  const notification = { alert: "UnitDown", unit: "posts", receiver: "page", resolvedMs: undefined };
  expect(receiver.since(0)).toMatchObject([notification]);
  await notify(receiver, "page", "resolved");
  expect(receiver.since(0)).toMatchObject([{ ...notification, resolvedMs: expect.any(Number) }]);
  const laterMs = performance.now();
  expect(receiver.since(laterMs)).toEqual([]);
  await notify(receiver, "page", "firing");
  expect(receiver.since(0)).toHaveLength(2);
  await notify(receiver, "page", "resolved");
  expect(receiver.since(laterMs)).toHaveLength(1);
  expect(receiver.since(performance.now())).toEqual([]);
});

interface Planted {
  readonly unitDown?: Partial<Notification>;
  readonly others?: readonly Partial<Notification>[];
  readonly inhibited?: readonly [];
  readonly page?: string;
}

/** The README of the runbooks names every alert. */
async function failedClaims({ unitDown, others = [], inhibited, page = "/README.md" }: Planted) {
  const good: Notification = {
    alert: "UnitDown",
    unit: "posts",
    labels: { severity: "page" },
    annotations: { runbook_url: `${runbooks}${page}` },
    receiver: "page",
    notifiedMs: 4_000,
    resolvedMs: 9_000,
  };
  const failed: string[] = [];
  const notifications = [{ ...good, ...unitDown }, ...others.map((other) => ({ ...good, ...other }))];
  const inhibitedMs = new Map(inhibited ?? [["ServiceFails of posts", 5_000]]);
  await claimOutcome(
    fault,
    { notifications, inhibitedMs, injectedMs: 1_000, undoneMs: 8_000 },
    { isControl: false, print: () => {}, claim: (text, holds) => void (holds || failed.push(text)) },
  );
  return failed;
}

async function notify(receiver: NotificationReceiver, name: string, status: "firing" | "resolved"): Promise<void> {
  const alert = { status, labels: { alertname: "UnitDown", unit: "posts" }, annotations: {}, fingerprint: "a1" };
  await fetch(receiver.url(name), { method: "POST", body: JSON.stringify({ receiver: name, alerts: [alert] }) });
}
