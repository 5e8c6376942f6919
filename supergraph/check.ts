import { parseArgs } from "node:util";
import {
  type AcceptanceResult,
  acceptedChangesFile,
  applyAcceptedChanges,
  printEntriesFor,
  readAcceptedChanges,
} from "./changes/accepted-changes.ts";
import { type Change, printChange } from "./changes/changes.ts";
import { type PlatformState, readBaseState, readCurrentState } from "./changes/platform-state.ts";
import { reportCompositionErrors } from "./composition/composition-report.ts";
import { findBase, type GitBase } from "./changes/git-base.ts";
import { findDocumentChanges } from "./changes/openapi-changes.ts";
import { findRouteChanges, findRoutePlaces } from "./changes/route-changes.ts";
import { findSchemaBaseline } from "./composition/schema-baseline.ts";
import { findSchemaChanges } from "./changes/schema-changes.ts";
import { DescriptorError, readServices } from "./services.ts";
import { readSubgraphs, type Subgraph } from "./subgraphs.ts";

export interface CheckRun {
  readonly root: string;
  readonly args: readonly string[];
  readonly today: string;
  readonly subgraphs?: readonly Subgraph[];
  print(text: string): void;
}

/** 0: no base, or every breaking change is accepted. 1: invalid files, or a change that breaks clients. 2: wrong usage, or the check failed. */
export type CheckExitCode = 0 | 1 | 2;

interface CheckOptions {
  readonly against?: string | undefined;
  readonly all: boolean;
}

const commitDigits = 10;
const howToAccept = `To accept a change that no client depends on, add it to ${acceptedChangesFile} with a reason:`;

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
      const report = reportCompositionErrors(current.errors, {
        sources: readSubgraphs(root, subgraphs),
        baseline: findSchemaBaseline(root, options.against),
        all: options.all,
      });
      return finish(1, ...report);
    }
    print(current.warnings.map((warning) => `note: ${warning}\n`).join(""));
    const baseState = base && readBaseState(base, subgraphs);
    const acceptedChanges = readAcceptedChanges(root);
    if (!acceptedChanges.ok) return finish(1, ...acceptedChanges.errors);
    if (!base || !baseState) return finish(0, `The supergraph composes. ${explainMissingBase(base)}`);
    const changes = await findChanges(baseState, current.state);
    const result = applyAcceptedChanges(changes, acceptedChanges.entries, today);
    const exitCode = result.breaking.length > 0 ? 1 : 0;
    return finish(exitCode, ...reportChanges(changes, result, base, today));
  } catch (error) {
    if (error instanceof DescriptorError) return finish(1, error.message);
    const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return finish(2, `The check itself failed: ${details}`);
  }
}

async function findChanges(base: PlatformState, now: PlatformState): Promise<Change[]> {
  const schemaChanges = await findSchemaChanges(base.graph, now.graph);
  const routeChanges = findRouteChanges(base.routes, now.routes, base.subgraphs);
  const placesOf = (operationId: string) => findRoutePlaces(operationId, base.routes, now.routes, base.subgraphs);
  const documentChanges = findDocumentChanges(base.documents, now.documents, placesOf);
  return [...schemaChanges, ...routeChanges, ...documentChanges];
}

function reportChanges(
  changes: readonly Change[],
  { breaking, unlisted, accepted, errors, unused }: AcceptanceResult,
  base: GitBase,
  today: string,
): string[] {
  const reported = changes.filter((change) => change.level === "dangerous" || breaking.includes(change));
  const unusedLines = unused.map(
    ({ line, change }) =>
      `UNUSED ${acceptedChangesFile}:${line} ${change}: no breaking change matches it, compared with ${base.name}. Remove the entry.`,
  );
  const proposedEntries = unlisted.length > 0 ? [howToAccept, ...printEntriesFor(unlisted, today)] : [];
  return [
    ...reported.map((change) => printChange(change, base.name)),
    ...accepted.map(({ change, owner, until, reason }) => `ACCEPTED ${change} (${owner}) until ${until}: ${reason}`),
    ...errors,
    ...unusedLines,
    ...proposedEntries,
    summarize(breaking.length, accepted.length, base),
  ];
}

function summarize(breakingCount: number, acceptedCount: number, { name, commit }: GitBase): string {
  const compared = `compared with ${name} (${commit.slice(0, commitDigits)}).`;
  if (breakingCount > 0) {
    const changes = breakingCount === 1 ? "change" : "changes";
    const accepted = acceptedCount > 0 ? `, ${acceptedCount} accepted` : "";
    return `${breakingCount} breaking ${changes}${accepted}, ${compared}`;
  }
  if (acceptedCount === 1) return `The supergraph composes; 1 breaking change is accepted, ${compared}`;
  if (acceptedCount > 1) return `The supergraph composes; ${acceptedCount} breaking changes are accepted, ${compared}`;
  return `The supergraph composes and breaks no client, ${compared}`;
}

function explainMissingBase(base: GitBase | undefined): string {
  return base ? `${base.name} has no supergraph to compare with.` : "The repository has no commit to compare with.";
}

function readOptions(args: readonly string[]): CheckOptions | undefined {
  const options = { against: { type: "string" }, all: { type: "boolean", default: false } } as const;
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch {
    return undefined;
  }
}
