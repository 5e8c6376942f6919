import { execFileSync } from "node:child_process";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { readPackageVersion } from "../contenders/peers.ts";

/** Machine, Node version, commit and package versions, one per line. */
export function describeMachine(): readonly string[] {
  const [core] = cpus();
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  const root = ["@apollo/gateway", "@apollo/server", "graphql", "undici"];
  const peers = [
    "@graphql-hive/gateway",
    "@graphql-hive/router-runtime",
    "@mercuriusjs/gateway",
    "mercurius",
    "fastify",
  ];
  const versions = [
    ...root.map((name) => `${name} ${readPackageVersion(name, "root")}`),
    ...peers.map((name) => `${name} ${readPackageVersion(name, "peers")}`),
    `graphql ${readPackageVersion("graphql", "peers")} (peers)`,
  ];
  return [
    `${cpus().length} × ${core?.model.trim()}, ${memory} GiB, Linux ${release()}`,
    `Node ${process.versions.node} for every contender; Tributary at ${readCommit()}`,
    versions.join(", "),
  ];
}

function readCommit(): string {
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: join(import.meta.dirname, "../.."), encoding: "utf8" }).trim();
  try {
    const changed = git("status", "--porcelain", "--", "gateway", "kit") === "" ? "" : " with uncommitted changes";
    return `commit ${git("rev-parse", "--short", "HEAD")}${changed}`;
  } catch {
    return "an unknown commit";
  }
}
