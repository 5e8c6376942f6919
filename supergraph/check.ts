import { parseArgs } from "node:util";
import type { AcceptanceResult } from "./changes/accepted-changes.ts";
import {
  acceptedChangesFile,
  applyAcceptedChanges,
  printEntriesFor,
  readAcceptedChanges,
} from "./changes/accepted-changes.ts";
import type { Change } from "./changes/changes.ts";
import { printChange } from "./changes/changes.ts";
import type { PlatformState } from "./changes/platform-state.ts";
import { readBaseState, readCurrentState } from "./changes/platform-state.ts";
import { reportCompositionErrors } from "./composition/composition-report.ts";
import type { GitBase } from "./changes/git-base.ts";
import { findBase } from "./changes/git-base.ts";
import { findDocumentChanges } from "./changes/openapi-changes.ts";
import { findRouteChanges, findRoutePlaces } from "./changes/route-changes.ts";
import { findSchemaBaseline } from "./composition/schema-baseline.ts";
import { findSchemaChanges } from "./changes/schema-changes.ts";
import type { Subgraph } from "./subgraphs.ts";
import { DescriptorError, readServices } from "./services.ts";
import { readSubgraphs } from "./subgraphs.ts";

export interface CheckRun {
  readonly root: string;
  /** `--against REF`: the commit to compare with. `--all`: prints every composition error in full. */
  readonly args: readonly string[];
  /** The date, in UTC, as in the file of accepted changes: `2026-12-31`. */
  readonly today: string;
  readonly subgraphs?: readonly Subgraph[];
  print(text: string): void;
}

/** Exit codes. 0: no breaking change. 1: composition fails, or a change breaks clients. 2: wrong usage, or the check itself failed. */
export type CheckExitCode = 0 | 1 | 2;

const howToAccept = `To accept a change that no client depends on, add it to ${acceptedChangesFile} with a reason:`;

/**
 * `npm run check`: composes the schemas, routes and OpenAPI documents on disk and reports each change that breaks clients,
 * compared with a base commit.
 */
export async function runCheck(command: CheckRun): Promise<CheckExitCode> {
  const { root, args, today, print } = command;
  const finish = (code: CheckExitCode, ...lines: readonly string[]) => {
    print(lines.map((line) => `${line}\n`).join(""));
    return code;
  };
  try {
    const { subgraphs = readServices(root) } = command;
    const options = readOptions(args);
    if (!options) return finish(2, "usage: npm run check [-- --against REF --all]");
    const base = findBase(root, options.against);
    if (!base && options.against !== undefined) return finish(2, `Unknown commit ${options.against}.`);
    const current = await readCurrentState(root, subgraphs);
    if (!current.ok) {
      const context = { sources: readSubgraphs(root, subgraphs), baseline: findSchemaBaseline(root, options.against) };
      return finish(1, ...reportCompositionErrors(current.errors, { ...context, all: options.all }));
    }
    const before = base && readBaseState(base, subgraphs);
    const entries = readAcceptedChanges(root);
    if (!entries.ok) return finish(1, ...entries.errors);
    if (!base || !before) return finish(0, `The supergraph composes. ${explainMissingBase(base)}`);
    const changes = await findChanges(before, current.state);
    const result = applyAcceptedChanges(changes, entries.entries, today);
    return finish(result.breaking.length > 0 ? 1 : 0, ...reportChanges(changes, result, base, today));
  } catch (error) {
    if (error instanceof DescriptorError) return finish(1, error.message);
    return finish(
      2,
      `The check itself failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
}

async function findChanges(before: PlatformState, now: PlatformState): Promise<Change[]> {
  const schemaChanges = await findSchemaChanges(before.graph, now.graph);
  const routeChanges = findRouteChanges(before.routes, now.routes, before.subgraphs);
  const placesOf = (id: string) => findRoutePlaces(id, before.routes, now.routes, before.subgraphs);
  return [...schemaChanges, ...routeChanges, ...findDocumentChanges(before.documents, now.documents, placesOf)];
}

function reportChanges(
  changes: readonly Change[],
  { breaking, unlisted, accepted, errors, unused }: AcceptanceResult,
  base: GitBase,
  today: string,
): string[] {
  const reported = changes.filter((change) => change.level === "dangerous" || breaking.includes(change));
  return [
    ...reported.map((change) => printChange(change, base.name)),
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
  const acceptedCount = accepted > 0 ? `, ${accepted} accepted` : "";
  if (breaking > 0) return `${breaking} breaking ${breaking === 1 ? "change" : "changes"}${acceptedCount}, ${compared}`;
  if (accepted === 1) return `The supergraph composes; 1 breaking change is accepted, ${compared}`;
  if (accepted > 1) return `The supergraph composes; ${accepted} breaking changes are accepted, ${compared}`;
  return `The supergraph composes and breaks no client, ${compared}`;
}

function explainMissingBase(base: GitBase | undefined): string {
  return base ? `${base.name} has no supergraph to compare with.` : "The repository has no commit to compare with.";
}

function readOptions(args: readonly string[]): { against?: string | undefined; all: boolean } | undefined {
  const options = { against: { type: "string" }, all: { type: "boolean", default: false } } as const;
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch {
    return undefined;
  }
}
