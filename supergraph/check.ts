// `npm run check`: composes the schemas, and compares what clients depend on with a commit.
import { parseArgs } from "node:util";
import { buildSchema } from "graphql";
import { applyAcceptedChanges, readAcceptedChanges } from "./changes/accepted-changes.ts";
import { findBase } from "./changes/git-base.ts";
import { findDocumentChanges } from "./changes/openapi-changes.ts";
import { type PlatformState, readBaseState, readCurrentState } from "./changes/platform-state.ts";
import { findRouteChanges, findRoutePlaces } from "./changes/route-changes.ts";
import { findSchemaChanges } from "./changes/schema-changes.ts";
import type { Change } from "./changes/changes.ts";
import { executesOnlyKnownDocuments, excuseUnneeded } from "./clients/document-mode.ts";
import { type CheckFormat, type CheckReport, printReport } from "./check-report.ts";
import { judgeChanges } from "./clients/broken-operations.ts";
import type { ClientOperation } from "./clients/client-operations.ts";
import { activeOperations, isActive, readClients, readFolder } from "./clients/clients.ts";
import { findPlanChanges, type PlanOperation } from "./clients/plan-changes.ts";
import { reportErrors } from "./composition/composition-report.ts";
import { findSchemaBaseline } from "./composition/schema-baseline.ts";
import { readDescriptors } from "./services.ts";
import { readSubgraphs, type Subgraph } from "./subgraphs.ts";
import { findStaleness, judgeUsage, readUsageEvidence } from "./usage/judge-usage.ts";

export interface CheckRun {
  readonly root: string;
  readonly args: readonly string[];
  readonly today: string;
  readonly subgraphs?: readonly Subgraph[];
  createPlanner(supergraphSdl: string): PlanOperation;
  print(text: string): void;
}

interface CheckOptions {
  readonly against?: string | undefined;
  /** The file of `npm run ledger -- --json`. */
  readonly usage?: string | undefined;
  readonly all: boolean;
  readonly format: CheckFormat;
}

/** @returns the exit code. */
export async function runCheck(command: CheckRun): Promise<CheckReport["code"]> {
  const options = readOptions(command.args);
  const report = options
    ? await check(command, options)
    : finish(2, "usage: npm run check [-- --against REF --usage FILE --all --markdown|--json]");
  command.print(printReport(report, options?.format ?? "text"));
  return report.code;
}

async function check(command: CheckRun, { against, usage, all }: CheckOptions): Promise<CheckReport> {
  const { root, today } = command;
  try {
    const { subgraphs, problems: descriptorProblems } = command.subgraphs
      ? { subgraphs: command.subgraphs, problems: [] }
      : readDescriptors(root);
    const base = findBase(root, against);
    if (!base && against !== undefined) return finish(2, `Unknown commit ${against}.`);
    const current = await readCurrentState(root, subgraphs);
    if (!current.ok || descriptorProblems.length > 0) {
      const sources = readSubgraphs(root, subgraphs);
      const baseline = findSchemaBaseline(root, against);
      const errors = [...descriptorProblems, ...(current.ok ? [] : current.errors)];
      return finish(1, ...reportErrors(errors, { sources, baseline, all }));
    }
    const evidence = usage === undefined ? undefined : readUsageEvidence(usage);
    if (typeof evidence === "string") return finish(2, evidence);
    const staleness = evidence && findStaleness(evidence, today);
    const notes = [...current.warnings, ...(staleness === undefined ? [] : [staleness])];
    const baseState = base && readBaseState(base, subgraphs);
    const acceptedChanges = readAcceptedChanges(root);
    const tree = readFolder(root);
    const { clients, problems } = readClients(tree);
    const errors = [...(acceptedChanges.ok ? [] : acceptedChanges.errors), ...problems];
    if (!acceptedChanges.ok || errors.length > 0) return { ...finish(1, ...errors), notes };
    if (!base || !baseState) {
      const reason = base
        ? `${base.name} has no supergraph to compare with.`
        : "The repository has no commit to compare with.";
      return { ...finish(0, `The supergraph composes. ${reason}`), notes };
    }
    const operations = activeOperations(clients, today);
    const found = await findChanges(baseState, current.state, operations, command);
    const settings = "supergraph/gateway.yaml";
    // In both, since a change that switches it on is not deployed yet.
    const isClosed = [base.read(settings), tree.read(settings)].every(executesOnlyKnownDocuments);
    const excused = isClosed && operations.length > 0 ? excuseUnneeded(found) : found;
    const active = clients.filter(({ files }) => files.some((file) => isActive(file, today)));
    const registeredClients = new Set(active.map(({ name }) => name));
    const { routes } = baseState.routes;
    const isUsable = evidence !== undefined && staleness === undefined;
    const changes = isUsable ? judgeUsage(excused, { evidence, routes, registeredClients }) : excused;
    const acceptance = applyAcceptedChanges(changes, acceptedChanges.entries, today);
    const releases = [...new Set(operations.map(({ release }) => release))];
    const code = acceptance.breaking.length > 0 ? 1 : 0;
    return { code, notes, lines: [], comparison: { changes, acceptance, base, releases, today } };
  } catch (error) {
    const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return finish(2, `The check itself failed: ${details}`);
  }
}

function finish(code: CheckReport["code"], ...lines: readonly string[]): CheckReport {
  return { code, notes: [], comparison: undefined, lines };
}

async function findChanges(
  base: PlatformState,
  now: PlatformState,
  operations: readonly ClientOperation[],
  { createPlanner }: CheckRun,
): Promise<readonly Change[]> {
  const schemas = { base: buildSchema(base.graph.apiSdl), now: buildSchema(now.graph.apiSdl) };
  const judged = judgeChanges(await findSchemaChanges(base.graph, now.graph), operations, schemas);
  const planChanges = findPlanChanges(base.graph, now.graph, judged.valid, createPlanner);
  const routeChanges = findRouteChanges(base.routes, now.routes, base.subgraphs);
  const placesOf = (operationId: string) => findRoutePlaces(operationId, base.routes, now.routes, base.subgraphs);
  const documentChanges = findDocumentChanges(base.documents, now.documents, placesOf);
  return [...judged.changes, ...planChanges, ...routeChanges, ...documentChanges];
}

function readOptions(args: readonly string[]): CheckOptions | undefined {
  const flag = { type: "boolean", default: false } as const;
  const text = { type: "string" } as const;
  const options = { against: text, usage: text, all: flag, markdown: flag, json: flag } as const;
  try {
    const { against, usage, all, markdown, json } = parseArgs({ args: [...args], options, strict: true }).values;
    if (markdown && json) return undefined;
    return { against, usage, all, format: json ? "json" : markdown ? "markdown" : "text" };
  } catch {
    return undefined;
  }
}
