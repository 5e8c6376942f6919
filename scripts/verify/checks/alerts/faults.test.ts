import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { faults } from "./faults.ts";
import { observabilityFolder, readRules } from "./monitoring-settings.ts";

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
