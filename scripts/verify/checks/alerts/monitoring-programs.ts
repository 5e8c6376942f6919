// Finds or installs the programs of Prometheus, Alertmanager and the rate limit store, and checks the unchanged configuration files with them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findStoreProgram } from "@tributary/kit/testing/store-server";
import { installDebianPackages, isProgram } from "../../debian-packages.ts";
import { MissingToolError } from "../../verification.ts";
import { joinAlertmanagerSettings, observabilityFolder, readObservabilityFile } from "./monitoring-settings.ts";

const debianPackages = ["prometheus", "prometheus-alertmanager", "redis-server"];

/** Paths of the programs. */
export interface MonitoringPrograms {
  readonly prometheus: string;
  readonly promtool: string;
  readonly alertmanager: string;
  readonly amtool: string;
  /** Valkey or Redis. */
  readonly store: string;
}

/** Finds the programs in PATH; if one is missing, installs Debian's packages. @throws MissingToolError */
export function findOrInstallPrograms(print: (line: string) => void): MonitoringPrograms {
  const installed = findPrograms();
  if (installed) return installed;
  installDebianPackages(debianPackages, { hint: `install ${debianPackages.join(", ")}.`, print });
  const programs = findPrograms();
  if (!programs) throw new MissingToolError("Debian's packages do not contain all programs.");
  return programs;
}

function findPrograms(): MonitoringPrograms | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const find = (...names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
  const prometheus = find("prometheus");
  const promtool = find("promtool");
  const amtool = find("amtool");
  const alertmanager = find("alertmanager", "prometheus-alertmanager");
  const store = findStoreProgram();
  if (!prometheus || !promtool || !alertmanager || !amtool || !store) return undefined;
  return { prometheus, promtool, alertmanager, amtool, store };
}

interface FileCheck {
  readonly text: string;
  /** What the program printed; undefined if it accepts the file. */
  readonly problem: string | undefined;
}

/** Checks the configuration files with promtool and amtool: as they are in production, apart from the service discovery of Kubernetes. */
export function checkFiles({ promtool, amtool }: MonitoringPrograms): readonly FileCheck[] {
  const folder = mkdtempSync(join(tmpdir(), "tributary-check-alerts-"));
  try {
    const settings = join(folder, "alertmanager.yml");
    writeFileSync(settings, joinAlertmanagerSettings(readObservabilityFile("alertmanager/receivers/receivers.yml")));
    const prometheusSettings = join(observabilityFolder, "prometheus.yml");
    const unitTests = join(observabilityFolder, "rules/tests/alerts.yml");
    return [
      check("promtool accepts prometheus.yml and the rules", promtool, "check", "config", prometheusSettings),
      check("promtool accepts prometheus-kubernetes.yml", promtool, "check", "config", kubernetesSettings(folder)),
      check("promtool's unit tests of the rules pass", promtool, "test", "rules", unitTests),
      check("amtool accepts routes.yml with receivers.yml", amtool, "check-config", settings),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes prometheus-kubernetes.yml with file-based service discovery: Debian 12 builds Prometheus without that of Kubernetes. @returns the file. */
function kubernetesSettings(folder: string): string {
  const file = join(folder, "prometheus-kubernetes.yml");
  const settings = readObservabilityFile("prometheus-kubernetes.yml");
  const discovery = /kubernetes_sd_configs: .+/g;
  if (!discovery.test(settings)) throw new Error("prometheus-kubernetes.yml does not contain kubernetes_sd_configs.");
  const withRules = settings.replace('"rules/*.yml"', JSON.stringify(join(observabilityFolder, "rules/*.yml")));
  writeFileSync(file, withRules.replaceAll(discovery, 'file_sd_configs: [{ files: ["pods.yml"] }]'));
  writeFileSync(join(folder, "pods.yml"), "[]");
  return file;
}

function check(text: string, program: string, ...args: readonly string[]): FileCheck {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  return { text, problem: status === 0 ? undefined : (error?.message ?? stdout + stderr) };
}
