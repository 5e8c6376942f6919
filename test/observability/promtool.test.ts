// Prometheus' and Alertmanager's own programs accept the files of infra/observability.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { alerts, readText, readYaml } from "./files.ts";

const folder = fileURLToPath(new URL("../../infra/observability", import.meta.url));
const areInstalled = ["promtool", "amtool"].every((program) => spawnSync(program, ["--version"]).status === 0);
const copies = mkdtempSync(join(tmpdir(), "tributary-promtool-"));
afterAll(() => rmSync(copies, { recursive: true }));

// promtool runs them every night: that takes half a minute.
test("every alert has a unit test in which it fires, and one in which it does not", () => {
  const { tests } = readYaml("infra/observability/rules/tests/alerts.yml") as UnitTests;
  const cases = tests.flatMap(({ alert_rule_test: ofTest = [] }) => ofTest);
  const namesOf = (fires: boolean) =>
    new Set(cases.filter((one) => (one.exp_alerts !== undefined) === fires).map(({ alertname }) => alertname));
  expect(namesOf(true)).toEqual(new Set(alerts.map(({ alert }) => alert)));
  expect(namesOf(false)).toEqual(namesOf(true));
});

test.runIf(!areInstalled)(
  "skipped: install Debian's prometheus and prometheus-alertmanager to run these tests",
  () => {},
);

describe.skipIf(!areInstalled)("promtool and amtool", () => {
  test("Prometheus accepts its settings and rules", () => {
    run("promtool", "check", "config", join(folder, "prometheus.yml"));
  });

  // Debian 12 builds Prometheus without the discovery of Kubernetes.
  test("Prometheus accepts its settings in Kubernetes, apart from the discovery of pods", () => {
    const settings = readText("infra/observability/prometheus-kubernetes.yml");
    const discovery = /kubernetes_sd_configs: .+/g;
    expect(settings).toMatch(discovery);
    const file = join(copies, "prometheus.yml");
    const withRules = settings.replace('"rules/*.yml"', JSON.stringify(join(folder, "rules/*.yml")));
    writeFileSync(file, withRules.replaceAll(discovery, 'file_sd_configs: [{ files: ["pods.yml"] }]'));
    writeFileSync(join(copies, "pods.yml"), "[]");
    run("promtool", "check", "config", file);
  });

  test("Alertmanager accepts the routes with the default receivers", () => {
    const file = join(copies, "alertmanager.yml");
    const parts = ["routes.yml", "receivers/receivers.yml"];
    writeFileSync(file, parts.map((part) => readText(`infra/observability/alertmanager/${part}`)).join(""));
    run("amtool", "check-config", file);
  });
});

interface UnitTests {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts?: readonly unknown[] }[];
  }[];
}

function run(program: string, ...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
}
