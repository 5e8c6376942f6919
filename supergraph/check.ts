import { parseArgs } from "node:util";
import type { Judgement } from "./changes/accepted-changes.ts";
import { acceptedChangesFile, judgeChanges, printEntriesFor, readAcceptedChanges } from "./changes/accepted-changes.ts";
import type { Change } from "./changes/changes.ts";
import { printChange } from "./changes/changes.ts";
import type { PlatformState } from "./changes/platform-state.ts";
import { readBaseState, readPresentState } from "./changes/platform-state.ts";
import { reportCompositionErrors } from "./composition/composition-report.ts";
import type { GitBase } from "./changes/git-base.ts";
import { findBase } from "./changes/git-base.ts";
import { findDocumentChanges } from "./changes/openapi-changes.ts";
import { findRouteChanges, findRoutePlaces } from "./changes/route-changes.ts";
import { findSchemaBaseline } from "./composition/schema-baseline.ts";
import { findSchemaChanges } from "./changes/schema-changes.ts";
import type { Subgraph } from "./subgraphs.ts";
import { readSubgraphs, subgraphs } from "./subgraphs.ts";

export interface CheckCommand {
  readonly root: string;
  readonly args: readonly string[];
  /** The date, in UTC, as in the file of accepted changes: `2026-12-31`. */
  readonly today: string;
  readonly teams?: readonly Subgraph[];
  write(text: string): void;
}

/** The exit codes: 0 nothing breaks; 1 it does not compose, or breaks clients; 2 wrong usage, or the check itself failed. */
export type CheckResult = 0 | 1 | 2;

const howToAccept = `To accept what no client uses any more, add it to ${acceptedChangesFile} with a reason:`;

/** `npm run check`: composes what is on disk, and compares it with what clients were promised by a base. */
export async function runCheck({ root, args, today, teams = subgraphs, write }: CheckCommand): Promise<CheckResult> {
  const say = (code: CheckResult, ...lines: readonly string[]) => {
    write(lines.map((line) => `${line}\n`).join(""));
    return code;
  };
  try {
    const options = readOptions(args);
    if (!options) return say(2, "usage: npm run check [-- --against REF --all]");
    const base = findBase(root, options.against);
    if (!base && options.against !== undefined) return say(2, `There is no commit called ${options.against} here.`);
    const present = await readPresentState(root, teams);
    if (!present.ok) {
      const context = { sources: readSubgraphs(root, teams), baseline: findSchemaBaseline(root, options.against) };
      return say(1, ...reportCompositionErrors(present.errors, { ...context, all: options.all }));
    }
    const before = base && readBaseState(base, teams);
    const entries = readAcceptedChanges(root);
    if (!entries.ok) return say(1, ...entries.errors);
    if (!base || !before) return say(0, `It composes. ${nothingToCompare(base)}`);
    const changes = await findChanges(before, present.state);
    const judgement = judgeChanges(changes, entries.entries, today);
    return say(judgement.breaking.length > 0 ? 1 : 0, ...reportChanges(changes, judgement, base, today));
  } catch (error) {
    return say(
      2,
      `The check itself failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
}

async function findChanges(before: PlatformState, now: PlatformState): Promise<Change[]> {
  const schemaChanges = await findSchemaChanges(before.graph, now.graph);
  const routeChanges = findRouteChanges(before.routes, now.routes, before.teams);
  const placesOf = (id: string) => findRoutePlaces(id, before.routes, now.routes, before.teams);
  return [...schemaChanges, ...routeChanges, ...findDocumentChanges(before.documents, now.documents, placesOf)];
}

function reportChanges(
  changes: readonly Change[],
  { breaking, unlisted, accepted, errors, unused }: Judgement,
  base: GitBase,
  today: string,
): string[] {
  const listed = changes.filter((change) => change.level === "dangerous" || breaking.includes(change));
  return [
    ...listed.map((change) => printChange(change, base.name)),
    ...accepted.map(({ change, owner, until, reason }) => `ACCEPTED ${change} (${owner}) until ${until}: ${reason}`),
    ...errors,
    ...unused.map(
      ({ line, change }) =>
        `UNUSED ${acceptedChangesFile}:${line} ${change}: no breaking change matches it, compared with ${base.name}. Remove the entry.`,
    ),
    ...(unlisted.length > 0 ? [howToAccept, ...printEntriesFor(unlisted, today)] : []),
    summarize(breaking.length, accepted.length, base),
  ];
}

function summarize(breaking: number, accepted: number, { name, commit }: GitBase): string {
  const compared = `compared with ${name} (${commit.slice(0, 10)}).`;
  const also = accepted > 0 ? `, ${accepted} accepted` : "";
  if (breaking > 0) return `${breaking} breaking ${breaking === 1 ? "change" : "changes"}${also}, ${compared}`;
  if (accepted === 1) return `It composes; 1 change that breaks clients is accepted, ${compared}`;
  if (accepted > 1) return `It composes; ${accepted} changes that break clients are accepted, ${compared}`;
  return `It composes and breaks no client, ${compared}`;
}

function nothingToCompare(base: GitBase | undefined): string {
  return base
    ? `${base.name} has no supergraph yet: nothing to compare with.`
    : "There is no commit yet to compare with.";
}

function readOptions(args: readonly string[]): { against?: string | undefined; all: boolean } | undefined {
  const options = { against: { type: "string" }, all: { type: "boolean", default: false } } as const;
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch {
    return undefined;
  }
}
