import { setImmediate as nextTurn } from "node:timers/promises";
import type { GraphState } from "../../supergraph/changes/change-places.ts";
import type { PlatformState } from "../../supergraph/changes/platform-state.ts";
import type { GitBase } from "../../supergraph/changes/git-base.ts";
import { subgraphs } from "../../supergraph/subgraphs.ts";

export interface ClientBreakOptions {
  readonly root: string;
  say(name: string, line: string): void;
}

const changesMax = 3;

/**
 * Compares each graph that composes with the one of main, as `npm run check` does, and warns of changes that break clients: once
 * for each set of changes, and once when there are none any more. Without git it does nothing.
 */
export function createClientBreakWarner({ root, say }: ClientBreakOptions): (graph: GraphState) => Promise<void> {
  let known: { readonly commit: string; readonly state: PlatformState | undefined } | undefined;
  let warnedOf = "";

  async function compare(now: GraphState): Promise<void> {
    const { findBase } = await import("../../supergraph/changes/git-base.ts");
    const base = findBase(root);
    if (base === undefined) return;
    const { readBaseState } = await import("../../supergraph/changes/platform-state.ts");
    if (known?.commit !== base.commit) known = { commit: base.commit, state: readBaseState(base, subgraphs) };
    if (known.state === undefined) return;
    const { id, lines } = await describeBreaks({ base, before: known.state.graph, now, root });
    if (id === warnedOf) return;
    warnedOf = id;
    if (lines.length === 0) say("start", `clients of ${base.name} are no longer broken`);
    for (const line of lines) say("start", line);
  }

  return async (graph) => {
    await nextTurn(); // The supergraph is published first.
    try {
      await compare(graph);
    } catch (error) {
      const problem = `cannot compare with main: ${error instanceof Error ? error.message : String(error)}`;
      if (problem !== warnedOf) say("start", problem);
      warnedOf = problem;
    }
  };
}

interface Comparison {
  readonly base: GitBase;
  readonly before: GraphState;
  readonly now: GraphState;
  readonly root: string;
}

/** The warning in lines, none without a break; `id` is the same for the same changes, wherever they are in the files. */
async function describeBreaks({ base, before, now, root }: Comparison): Promise<{ id: string; lines: string[] }> {
  const { findSchemaChanges } = await import("../../supergraph/changes/schema-changes.ts");
  const { acceptedChangesFile, judgeChanges, readAcceptedChanges } =
    await import("../../supergraph/changes/accepted-changes.ts");
  const { changeId, printChange } = await import("../../supergraph/changes/changes.ts");
  const entries = readAcceptedChanges(root);
  const today = new Date().toISOString().slice(0, 10);
  const changes = await findSchemaChanges(before, now);
  const { breaking, errors, unlisted } = judgeChanges(changes, entries.ok ? entries.entries : [], today);
  if (breaking.length === 0) return { id: "", lines: [] };
  const more = breaking.length - changesMax;
  const problems = [...errors, ...(entries.ok ? [] : entries.errors)];
  const body = [
    ...breaking.slice(0, changesMax).flatMap((change) => printChange(change, base.name).split("\n")),
    ...(more > 0 ? [`and ${more} more: npm run check`] : []),
    ...problems,
    ...(unlisted.length > 0 ? [`npm run check prints the entry for ${acceptedChangesFile} that would accept it`] : []),
  ];
  const headline = `this breaks clients of ${base.name}; it runs here, but npm run check refuses it:`;
  const id = JSON.stringify([breaking.map(changeId).toSorted(), problems]);
  return { id, lines: [headline, ...body.map((line) => `  ${line}`)] };
}
