import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Programs } from "./programs.ts";
import type { Verified } from "./report.ts";
import { defaultReceivers, joinAlertmanagerSettings, observabilityFolder } from "./settings.ts";

/** Our files as they are, judged by Prometheus' and Alertmanager's own tools. */
export function checkFiles({ promtool, amtool }: Programs): Verified["checks"] {
  const folder = mkdtempSync(join(tmpdir(), "tributary-check-alerts-"));
  try {
    const settings = join(folder, "alertmanager.yml");
    writeFileSync(settings, joinAlertmanagerSettings(defaultReceivers()));
    const unitTests = join(observabilityFolder, "rules/tests/alerts.yml");
    return [
      check("promtool takes prometheus.yml and our rules", promtool, "check", "config", inFolder("prometheus.yml")),
      check("promtool takes prometheus-kubernetes.yml", promtool, "check", "config", kubernetesSettings(folder)),
      check("promtool finds our rules to fire and end as their test says", promtool, "test", "rules", unitTests),
      check("amtool takes routes.yml with receivers.yml", amtool, "check-config", settings),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const inFolder = (name: string) => join(observabilityFolder, name);

/** Debian 12 builds Prometheus without Kubernetes: for its promtool the pods are found in a file. */
function kubernetesSettings(folder: string): string {
  const file = join(folder, "prometheus-kubernetes.yml");
  const text = readFileSync(inFolder("prometheus-kubernetes.yml"), "utf8");
  const places = /kubernetes_sd_configs: .+/g;
  if (!places.test(text))
    throw new Error("prometheus-kubernetes.yml finds its targets in another way than was thought.");
  const withRules = text.replace('"rules/*.yml"', JSON.stringify(join(observabilityFolder, "rules/*.yml")));
  writeFileSync(file, withRules.replaceAll(places, 'file_sd_configs: [{ files: ["pods.yml"] }]'));
  writeFileSync(join(folder, "pods.yml"), "[]");
  return file;
}

function check(what: string, program: string, ...args: readonly string[]): Verified["checks"][number] {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  return { what, isGood: status === 0, words: `${what}:\n${error?.message ?? stdout + stderr}` };
}
