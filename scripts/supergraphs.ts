// `npm run supergraphs -- FOLDER`: loads each supergraph of a folder as a planner worker does, and counts which load and why the others do not.
// For folders of other graphs, before and after a change of what the gateway accepts.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTaskRunner } from "../gateway/src/engine/plan/planner/task-runner.ts";
import { CommandError, readOnlyArgument, runCommand } from "./command-line.ts";

/** @returns lines: the counts, and each reason with its files. @throws CommandError for a folder without supergraphs. */
export async function loadSupergraphs(folder: string): Promise<string[]> {
  const files = globSync("**/*.{graphql,graphqls}", { cwd: folder }).toSorted();
  if (files.length === 0) throw new CommandError(`${folder} has no files with the extension graphql or graphqls.`);
  const runner = createTaskRunner({ log: () => {} });
  const refused: { readonly file: string; readonly reason: string }[] = [];
  for (const [id, file] of files.entries()) {
    const supergraphSdl = readFileSync(join(folder, file), "utf8");
    const result = await runner.run({ kind: "load", id, supergraphSdl, isKnown: false });
    await runner.run({ kind: "drop", id });
    if (result.kind === "failed") refused.push({ file, reason: reasonOf(result.message) });
  }
  const byReason = [...Map.groupBy(refused, ({ reason }) => reason)].toSorted(([, a], [, b]) => b.length - a.length);
  return [
    `${files.length} files: ${files.length - refused.length} load, ${refused.length} are refused`,
    ...byReason.flatMap(([reason, ones]) => [
      `${ones.length} refused: ${reason}`,
      ...ones.map(({ file }) => `  ${file}`),
    ]),
  ];
}

/** Apollo's messages begin with a heading, and name what is wrong in quotes. */
function reasonOf(message: string): string {
  const [heading = "", cause] = message.split(/Caused by:\s*/);
  const [line = ""] = (cause ?? heading).split("\n");
  return line.replaceAll(/"[^"]+"/g, '"…"');
}

if (import.meta.main) {
  await runCommand(async () => {
    const folder = readOnlyArgument(process.argv.slice(2), "folder", "Usage: npm run supergraphs -- FOLDER");
    const lines = await loadSupergraphs(folder);
    process.stdout.write(`${lines.join("\n")}\n`);
  });
}
