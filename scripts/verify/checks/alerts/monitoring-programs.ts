// Finds or installs the programs of Prometheus, Alertmanager and the rate limit store, and checks the unchanged configuration files with them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findStoreProgram } from "@tributary/kit/testing/store-server";
import { installDebianPackages, isProgram } from "../../debian-packages.ts";
import { MissingToolError } from "../../verification.ts";
import { defaultReceivers, joinAlertmanagerSettings, observabilityFolder } from "./monitoring-settings.ts";

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

/**
 * Finds the programs in `folder` (the store also in PATH), or without `folder` in PATH. If one is missing in PATH, Debian's packages are installed.
 * @throws MissingToolError if `folder` does not contain all programs, or the packages cannot be installed.
 */
export function findOrInstallPrograms(folder: string | undefined, print: (line: string) => void): MonitoringPrograms {
  const folders = folder === undefined ? (process.env["PATH"] ?? "").split(delimiter) : [folder];
  const installed = findIn(folders);
  if (installed) return installed;
  if (folder !== undefined) throw new MissingToolError(`${folder} does not contain all programs.`);
  const hint = `install ${debianPackages.join(", ")}, or use --programs FOLDER.`;
  installDebianPackages(debianPackages, { hint, print });
  const programs = findIn(folders);
  if (!programs) throw new MissingToolError("Debian's packages do not contain all programs.");
  return programs;
}

function findIn(folders: readonly string[]): MonitoringPrograms | undefined {
  const find = (...names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
  const prometheus = find("prometheus");
  const promtool = find("promtool");
  const amtool = find("amtool");
  const alertmanager = find("alertmanager", "prometheus-alertmanager");
  const store = findStoreProgram(folders.join(delimiter)) ?? findStoreProgram();
  if (!prometheus || !promtool || !alertmanager || !amtool || !store) return undefined;
  return { prometheus, promtool, alertmanager, amtool, store };
}

interface FileCheck {
  readonly claim: string;
  readonly holds: boolean;
  /** What the program printed. */
  readonly output: string;
}

/** Checks the configuration files with promtool and amtool: as they are in production, apart from the service discovery of Kubernetes. */
export function checkFiles({ promtool, amtool }: MonitoringPrograms): readonly FileCheck[] {
  const folder = mkdtempSync(join(tmpdir(), "tributary-check-alerts-"));
  try {
    const settings = join(folder, "alertmanager.yml");
    writeFileSync(settings, joinAlertmanagerSettings(defaultReceivers()));
    const prometheusSettings = join(observabilityFolder, "prometheus.yml");
    const unitTests = join(observabilityFolder, "rules/tests/alerts.yml");
    return [
      check("promtool accepts prometheus.yml and the rules", promtool, ["check", "config", prometheusSettings]),
      check("promtool accepts prometheus-kubernetes.yml", promtool, ["check", "config", kubernetesSettings(folder)]),
      check("promtool's unit tests of the rules pass", promtool, ["test", "rules", unitTests]),
      check("amtool accepts routes.yml with receivers.yml", amtool, ["check-config", settings]),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Writes prometheus-kubernetes.yml for promtool, with file-based instead of Kubernetes service discovery: Debian 12 builds Prometheus without the
 * latter. @returns the file.
 */
function kubernetesSettings(folder: string): string {
  const file = join(folder, "prometheus-kubernetes.yml");
  const text = readFileSync(join(observabilityFolder, "prometheus-kubernetes.yml"), "utf8");
  const discovery = /kubernetes_sd_configs: .+/g;
  if (!discovery.test(text)) throw new Error("prometheus-kubernetes.yml does not contain kubernetes_sd_configs.");
  const withRules = text.replace('"rules/*.yml"', JSON.stringify(join(observabilityFolder, "rules/*.yml")));
  writeFileSync(file, withRules.replaceAll(discovery, 'file_sd_configs: [{ files: ["pods.yml"] }]'));
  writeFileSync(join(folder, "pods.yml"), "[]");
  return file;
}

function check(claim: string, program: string, args: readonly string[]): FileCheck {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  return { claim, holds: status === 0, output: error?.message ?? stdout + stderr };
}
