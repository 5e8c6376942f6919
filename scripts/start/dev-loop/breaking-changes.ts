// Warns of saved schema changes that `npm run check` would reject. They are applied all the same.
import { setImmediate as nextMacrotask } from "node:timers/promises";
import type { GraphState } from "../../../supergraph/changes/change-places.ts";
import type { PlatformState } from "../../../supergraph/changes/platform-state.ts";
import type { GitBase } from "../../../supergraph/changes/git-base.ts";
import type { Subgraph } from "../../../supergraph/subgraphs.ts";

const changesMax = 3;

/** Warns once for each set of changes, and once when all of them are reverted. Without git it does nothing. */
export function createBreakingChangeWarner(
  root: string,
  services: readonly Subgraph[],
  print: (name: string, line: string) => void,
): (graph: GraphState) => Promise<void> {
  let cachedBase: { readonly commit: string; readonly state: PlatformState | undefined } | undefined;
  /** Of the last warning or failure, which is not printed again at once. Empty while no change breaks clients. */
  let lastWarningId = "";

  async function compare(now: GraphState): Promise<void> {
    const { findBase } = await import("../../../supergraph/changes/git-base.ts");
    const base = findBase(root);
    if (base === undefined) return;
    const { readBaseState } = await import("../../../supergraph/changes/platform-state.ts");
    if (cachedBase?.commit !== base.commit) cachedBase = { commit: base.commit, state: readBaseState(base, services) };
    if (cachedBase.state === undefined) return; // That commit has no supergraph/api.graphql.
    const { id, lines } = await describeBreakingChanges(root, base, cachedBase.state.graph, now);
    if (id === lastWarningId) return;
    lastWarningId = id;
    if (lines.length === 0) print("start", `no change breaks clients of ${base.name} any more`);
    for (const line of lines) print("start", line);
  }

  return async (graph) => {
    await nextMacrotask(); // Publishing the supergraph has priority over this comparison.
    try {
      await compare(graph);
    } catch (error) {
      const problem = `cannot compare with main: ${error instanceof Error ? error.message : String(error)}`;
      if (problem !== lastWarningId) print("start", problem);
      lastWarningId = problem;
    }
  };
}

/** `id` does not depend on line numbers. Both are empty without breaking changes. */
async function describeBreakingChanges(
  root: string,
  base: GitBase,
  before: GraphState,
  now: GraphState,
): Promise<{ id: string; lines: string[] }> {
  const { findSchemaChanges } = await import("../../../supergraph/changes/schema-changes.ts");
  const { acceptedChangesFile, applyAcceptedChanges, readAcceptedChanges } =
    await import("../../../supergraph/changes/accepted-changes.ts");
  const { changeId, printChange } = await import("../../../supergraph/changes/changes.ts");
  const accepted = readAcceptedChanges(root);
  const acceptedEntries = accepted.ok ? accepted.entries : [];
  const fileErrors = accepted.ok ? [] : accepted.errors;
  const today = new Date().toISOString().slice(0, 10);
  const changes = await findSchemaChanges(before, now);
  const { breaking, errors: entryErrors, unlisted } = applyAcceptedChanges(changes, acceptedEntries, today);
  if (breaking.length === 0) return { id: "", lines: [] };
  const problems = [...entryErrors, ...fileErrors];
  const body = breaking.slice(0, changesMax).flatMap((change) => printChange(change, base.name).split("\n"));
  const omittedCount = breaking.length - changesMax;
  if (omittedCount > 0) body.push(`and ${omittedCount} more: npm run check`);
  body.push(...problems);
  if (unlisted.length > 0) body.push(`npm run check prints the entry for ${acceptedChangesFile} that would accept it`);
  const headline = `this change breaks clients of ${base.name}; it runs here, but npm run check rejects it:`;
  const id = JSON.stringify([breaking.map(changeId).toSorted(), problems]);
  return { id, lines: [headline, ...body.map((line) => `  ${line}`)] };
}
