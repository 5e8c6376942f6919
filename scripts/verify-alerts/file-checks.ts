import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MonitoringPrograms } from "./programs.ts";
import type { VerifiedAlerts } from "./report.ts";
import { defaultReceivers, joinAlertmanagerSettings, observabilityFolder } from "./settings.ts";

/** Checks the unchanged configuration files with promtool and amtool. */
export function checkFiles({ promtool, amtool }: MonitoringPrograms): VerifiedAlerts["checks"] {
  const folder = mkdtempSync(join(tmpdir(), "tributary-check-alerts-"));
  try {
    const settings = join(folder, "alertmanager.yml");
    writeFileSync(settings, joinAlertmanagerSettings(defaultReceivers()));
    const unitTests = join(observabilityFolder, "rules/tests/alerts.yml");
    return [
      check("promtool accepts prometheus.yml and the rules", promtool, "check", "config", inFolder("prometheus.yml")),
      check("promtool accepts prometheus-kubernetes.yml", promtool, "check", "config", kubernetesSettings(folder)),
      check("promtool's unit tests of the rules pass", promtool, "test", "rules", unitTests),
      check("amtool accepts routes.yml with receivers.yml", amtool, "check-config", settings),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const inFolder = (name: string) => join(observabilityFolder, name);

/** Debian 12 builds Prometheus without Kubernetes service discovery, so it is replaced by file-based discovery for promtool. */
function kubernetesSettings(folder: string): string {
  const file = join(folder, "prometheus-kubernetes.yml");
  const text = readFileSync(inFolder("prometheus-kubernetes.yml"), "utf8");
  const discovery = /kubernetes_sd_configs: .+/g;
  if (!discovery.test(text)) throw new Error("prometheus-kubernetes.yml does not contain kubernetes_sd_configs.");
  const withRules = text.replace('"rules/*.yml"', JSON.stringify(join(observabilityFolder, "rules/*.yml")));
  writeFileSync(file, withRules.replaceAll(discovery, 'file_sd_configs: [{ files: ["pods.yml"] }]'));
  writeFileSync(join(folder, "pods.yml"), "[]");
  return file;
}

function check(name: string, program: string, ...args: readonly string[]): VerifiedAlerts["checks"][number] {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  return { name, passed: status === 0, output: `${name}:\n${error?.message ?? stdout + stderr}` };
}
