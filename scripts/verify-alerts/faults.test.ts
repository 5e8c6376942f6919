import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { faults } from "./faults.ts";
import { readRules } from "./rule-files.ts";
import { observabilityFolder } from "./settings.ts";

interface UnitTests {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts?: readonly unknown[] }[];
  }[];
}

const unitTests = parse(readFileSync(join(observabilityFolder, "rules/tests/alerts.yml"), "utf8")) as UnitTests;
const asked = unitTests.tests.flatMap(({ alert_rule_test: tests = [] }) => tests);
const alerts = readRules().flatMap(({ alert }) => alert ?? []);

test("every alert is brought about by a fault, or made to fire in promtool's unit tests", () => {
  const played = faults.flatMap(({ told }) => told.map(([alert]) => alert));
  const fired = asked.flatMap(({ alertname, exp_alerts: expected = [] }) => (expected.length > 0 ? [alertname] : []));
  const held = new Set([...played, ...fired]);
  expect(alerts.filter((alert) => !held.has(alert))).toEqual([]);
});

test("whatever promtool's unit tests make fire is also seen not to fire", () => {
  const still = asked
    .filter(({ exp_alerts: expected = [] }) => expected.length === 0)
    .map(({ alertname }) => alertname);
  for (const { alertname } of asked) expect(still).toContain(alertname);
});

test("faults expect alerts that there are", () => {
  for (const { told, silenced = [], follow = [] } of faults) {
    expect(alerts).toEqual(expect.arrayContaining([...[...told, ...silenced].map(([alert]) => alert), ...follow]));
  }
});
