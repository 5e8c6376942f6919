import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { composeRepository } from "../../supergraph/compose.ts";
import type { GeneratorRun } from "../../supergraph/composition/generator-command.ts";
import { writeStaleFiles } from "../../supergraph/composition/generated-files.ts";
import { type Files, writeRepository } from "./repository-fixture.ts";

/** Writes the files to a temporary folder, with the composed supergraph, and commits them to main. Returns the folder. */
export async function commitRepository(files: Files): Promise<string> {
  const root = writeRepository(files);
  await commitAll(root);
  return root;
}

/** Composes the supergraph and commits all files; without a repository it creates one with the branch main. */
export async function commitAll(root: string, generate: GeneratorRun["generate"] = composeRepository): Promise<void> {
  const generation = await generate(root);
  if (!generation.ok) throw new Error(JSON.stringify(generation.errors));
  writeStaleFiles(root, generation.files);
  if (!existsSync(join(root, ".git"))) git(root, "init", "-q", "-b", "main");
  git(root, "add", "services", "supergraph");
  git(root, "commit", "-q", "-m", "Change the sample");
}

export function git(root: string, ...args: readonly string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
  execFileSync("git", ["-C", root, ...identity, ...args], { stdio: "pipe" });
}
