import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { readNginxVersion } from "../contenders/nginx.ts";
import { readPackageVersion } from "../contenders/peers.ts";
import type { BenchmarkRun } from "./summary.ts";

export interface DescribedRun extends BenchmarkRun {
  /** As typed, such as `npm run bench`. */
  readonly command: string;
  /** Contenders that could not be installed, with the reason. */
  readonly skipped: readonly string[];
}

/** A run is noisy if other processes used more than this share of the measured core in a window. */
const otherCpuShareMax = 0.05;
/** Above this load, throughput and latency are those of the load generator. */
const loadCoreShareMax = 0.95;

/** Before a heading of the first level. */
const sectionStart = /^(?=# )/m;

const root = join(import.meta.dirname, "../..");
const file = join(root, "bench/RESULTS.md");

/** Replaces one benchmark's section of RESULTS.md. Returns the path of the file. */
export function writeResults(run: DescribedRun, report: string): string {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  writeFileSync(file, replaceSection(before, run.title, describeRun(run, report)));
  return file;
}

/** Replaces the section under the first-level heading `title`, or appends it. */
export function replaceSection(markdown: string, title: string, text: string): string {
  const newSection = `# ${title}\n\n${text.trim()}\n`;
  const oldSections = markdown.split(sectionStart).filter((section) => section.trim() !== "");
  const index = oldSections.findIndex((section) => section.startsWith(`# ${title}\n`));
  const sections = index === -1 ? [...oldSections, newSection] : oldSections.with(index, newSection);
  return `${sections.map((section) => section.trim()).join("\n\n")}\n`;
}

/** Origin of the numbers, noise, and the report. */
function describeRun(run: DescribedRun, report: string): string {
  const { script, skipped } = run;
  const lines = [
    ...describeMethod(run),
    ...describeMachine(),
    ...describeNginx(run),
    ...listLimitedCells(run),
    ...skipped.map((line) => `**Skipped:** ${line}`),
  ];
  return [
    `Written by \`npm run ${script}\`; README.md beside this file describes the method and the tables.`,
    describeNoise(run),
    lines.map((line) => `- ${line}`).join("\n"),
    report,
  ].join("\n\n");
}

function describeMethod({ command, rounds, warmUpMs, windowMs, contenders }: DescribedRun): readonly string[] {
  const date = new Date().toISOString().slice(0, 10);
  const lengths = `${warmUpMs / 1_000} s to warm up and ${windowMs / 1_000} s measured`;
  const hasPairs = contenders.some(({ baseline }) => baseline);
  const pairs = hasPairs ? ", both processes of a pair at the same time on one core" : "";
  return [`${date}, \`${command}\``, `${rounds} rounds, each with ${lengths}${pairs}, medians of the rounds`];
}

function describeNginx({ contenders }: DescribedRun): readonly string[] {
  const hasNginx = contenders.some(({ requires }) => requires === "nginx");
  return hasNginx ? [`nginx ${readNginxVersion() ?? "not installed"}`] : [];
}

function describeNoise({ cells }: BenchmarkRun): string {
  const largestShare = Math.max(0, ...cells.map(({ otherCpuShare }) => otherCpuShare));
  const percent = `${(largestShare * 100).toFixed(0)} %`;
  return largestShare <= otherCpuShareMax
    ? `A quiet run: other processes took at most ${percent} of the contenders' core in any window.`
    : `**A noisy run:** other processes took up to ${percent} of the contenders' core in a window. Do not quote these numbers.`;
}

/** Describes the cells in which the load generator was the bottleneck. */
function listLimitedCells({ cells }: BenchmarkRun): readonly string[] {
  const limited = cells.filter(({ loadCoreShare }) => loadCoreShare > loadCoreShareMax);
  if (limited.length === 0) return [];
  const names = new Set(limited.map(({ contender, workload }) => `${contender} under ${workload}`));
  return [
    `The load's core was the bottleneck, so requests/s and latencies measure the load generator: ${[...names].join(", ")}`,
  ];
}

/** Machine, Node version, commit and package versions. */
function describeMachine(): readonly string[] {
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  const rootPackages = ["@apollo/gateway", "@apollo/server", "graphql", "undici"];
  const peerPackages = [
    "@graphql-hive/gateway",
    "@graphql-hive/router-runtime",
    "@mercuriusjs/gateway",
    "mercurius",
    "fastify",
    "@fastify/http-proxy",
  ];
  const versions = [
    ...rootPackages.map((name) => `${name} ${readPackageVersion(name, "root")}`),
    ...peerPackages.map((name) => `${name} ${readPackageVersion(name, "peers")}`),
    `graphql ${readPackageVersion("graphql", "peers")} (peers)`,
  ];
  return [
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${memory} GiB, Linux ${release()}`,
    `Node ${process.versions.node} for every contender; Tributary at ${readCommit()}`,
    versions.join(", "),
  ];
}

function readCommit(): string {
  const git = (...words: string[]) => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
  try {
    const changedFiles = git("status", "--porcelain", "--", "gateway", "rest-proxy", "services", "kit");
    const commit = `commit ${git("rev-parse", "--short", "HEAD")}`;
    return changedFiles === "" ? commit : `${commit} with uncommitted changes`;
  } catch {
    return "an unknown commit";
  }
}
