// Operations of known clients that need more requests to the subgraphs than before, by the field that causes it.
import {
  buildASTSchema,
  type DocumentNode,
  getNamedType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  Kind,
  parse,
  print,
  type SelectionSetNode,
} from "graphql";
import type { Change } from "../changes/changes.ts";
import { findChangePlaces, type GraphState, parseGraphState } from "../changes/change-places.ts";
import { findCoordinate } from "../composition/places.ts";
import { createBrokenOperation, groupByRelease } from "./broken-operations.ts";
import type { ClientOperation } from "./client-operations.ts";

export interface OperationPlan {
  readonly fetches: readonly PlannedFetch[];
  /** The most fetches that wait for each other. */
  readonly steps: number;
}

export interface PlannedFetch {
  readonly service: string;
  readonly text: string;
  /** It is sent for each object of a list, in one request. */
  readonly isBelowList: boolean;
}

/** @returns undefined if no subgraph has a path to some field, or the planner rejects the operation. */
export type PlanOperation = (document: DocumentNode) => OperationPlan | undefined;

interface PlanCosts {
  readonly fetches: number;
  readonly steps: number;
  readonly "fetches below lists": number;
}

interface Regression {
  readonly operations: readonly ClientOperation[];
  readonly before: PlanCosts;
  readonly after: PlanCosts;
  /** The fields that cause it, the outermost first. */
  readonly causes: readonly string[];
}

/** One more request at the same time as others takes no more time: it is only reported. */
const parallelFetchesMax = 1;

/** @param operations valid before and after. */
export function findPlanChanges(
  base: GraphState,
  now: GraphState,
  operations: readonly ClientOperation[],
  createPlanner: (supergraphSdl: string) => PlanOperation,
): readonly Change[] {
  if (base.supergraphSdl === now.supergraphSdl || operations.length === 0) return [];
  const [planBefore, planAfter] = [createPlanner(base.supergraphSdl), createPlanner(now.supergraphSdl)];
  const findCauses = createCauseFinder(base.supergraphSdl, now.supergraphSdl);
  const regressions: Regression[] = [];
  const broken: Change[] = [];
  for (const equal of Map.groupBy(operations, ({ document }) => print(document)).values()) {
    const document = equal[0]?.document;
    const before = document && planBefore(document);
    if (!document || !before) continue;
    const after = planAfter(document);
    if (!after) broken.push(...equal.map((one) => createBrokenOperation(one, "It cannot be planned any more.")));
    else if (after.fetches.length > before.fetches.length || needsMoreTime(costsOf(before), costsOf(after)))
      regressions.push({
        operations: equal,
        before: costsOf(before),
        after: costsOf(after),
        causes: findCauses(before, after),
      });
  }
  const states = { base: parseGraphState(base), now: parseGraphState(now) };
  const byCause = Map.groupBy(regressions, ({ causes }) => causes[0] ?? "");
  return [...broken, ...[...byCause].map(([cause, ones]) => describe(cause, ones, findChangePlaces(cause, states)))];
}

function costsOf({ fetches, steps }: OperationPlan): PlanCosts {
  return { fetches: fetches.length, steps, "fetches below lists": fetches.filter((fetch) => fetch.isBelowList).length };
}

function needsMoreTime(before: PlanCosts, after: PlanCosts): boolean {
  if (after.fetches > before.fetches + parallelFetchesMax) return true;
  return after.steps > before.steps || after["fetches below lists"] > before["fetches below lists"];
}

function describe(cause: string, regressions: readonly Regression[], places: Change["places"]): Change {
  const isSlower = ({ before, after }: Regression) => needsMoreTime(before, after);
  const worst = regressions.find(isSlower) ?? regressions[0];
  const others = new Set(regressions.flatMap(({ causes }) => causes).filter((coordinate) => coordinate !== cause));
  const costs = worst
    ? (["fetches", "steps", "fetches below lists"] as const)
        .filter((name) => worst.after[name] > worst.before[name])
        .map((name) => `${worst.after[name]} ${name} instead of ${worst.before[name]}`)
    : [];
  const beside = others.size > 0 ? ` (with ${[...others].join(", ")})` : "";
  return {
    level: regressions.some(isSlower) ? "breaking" : "dangerous",
    code: "PLAN_REGRESSION",
    subject: cause,
    message: `${cause}${beside} is resolved in another way: ${worst?.operations[0]?.name} needs ${costs.join(", ")}.`,
    advice: "resolve the field also where it was (@shareable, @provides), or accept the additional requests.",
    places,
    breaks: groupByRelease(regressions.flatMap(({ operations }) => operations)),
  };
}

/** The fields of the plans that other subgraphs resolve, provide or require than before; else those that a subgraph is now asked for. */
function createCauseFinder(baseSdl: string, nowSdl: string) {
  const [base, now] = [parse(baseSdl), parse(nowSdl)];
  const [baseSchema, nowSchema] = [base, now].map((document) =>
    buildASTSchema(document, { assumeValid: true, assumeValidSDL: true }),
  );
  return (before: OperationPlan, after: OperationPlan): readonly string[] => {
    const [former, fetched] = [listFetched(before, baseSchema), listFetched(after, nowSchema)];
    const fields = [...new Set([...fetched, ...former].map(({ coordinate }) => coordinate))];
    const moved = fields.filter((coordinate) => fieldJoins(base, coordinate) !== fieldJoins(now, coordinate));
    if (moved.length > 0) return moved;
    const known = new Set(former.map(({ service, coordinate }) => `${service} ${coordinate}`));
    const added = fetched.filter(({ service, coordinate }) => !known.has(`${service} ${coordinate}`));
    return added.map(({ coordinate }) => coordinate);
  };
}

/** Where a field is resolved: its `@join__field`, else all subgraphs of its type. */
function fieldJoins(supergraph: DocumentNode, coordinate: string): string {
  const joins = joinsOf(supergraph, coordinate, "join__field");
  // A subgraph that only refers to a field does not resolve it: its own field with @requires or @provides is the cause.
  if (joins.length > 0) return joins.filter((join) => !join.includes("external: true")).join();
  const graphs = joinsOf(supergraph, coordinate.split(".")[0] ?? "", "join__type").map(
    (join) => /graph: \w+/.exec(join)?.[0],
  );
  return [...new Set(graphs)].map((graph) => `@join__field(${graph})`).join();
}

function joinsOf(supergraph: DocumentNode, coordinate: string, directive: string): readonly string[] {
  const match = findCoordinate(supergraph, coordinate);
  if (!match?.exact || !("directives" in match.node)) return [];
  const joins = match.node.directives?.filter(({ name }) => name.value === directive) ?? [];
  return joins.map((join) => print(join)).toSorted();
}

interface FetchedField {
  readonly service: string;
  readonly coordinate: string;
}

/** Without `__typename`. Through an interface, the field of each type. */
function listFetched({ fetches }: OperationPlan, schema: GraphQLSchema | undefined): readonly FetchedField[] {
  return fetches.flatMap(({ service, text }) =>
    parse(text).definitions.flatMap((node) => {
      if (node.kind !== Kind.OPERATION_DEFINITION) return [];
      const root = schema?.getRootType(node.operation)?.name ?? "";
      return listSelected(node.selectionSet, root, schema).map((coordinate) => ({ service, coordinate }));
    }),
  );
}

function listSelected(
  { selections }: SelectionSetNode,
  typeName: string,
  schema: GraphQLSchema | undefined,
): readonly string[] {
  const type = schema?.getType(typeName);
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return listSelected(selection.selectionSet, selection.typeCondition?.name.value ?? typeName, schema);
    const { name, selectionSet } = selection;
    const field = isCompositeType(type) && "getFields" in type ? type.getFields()[name.value] : undefined;
    const types = isAbstractType(type)
      ? [typeName, ...(schema?.getPossibleTypes(type) ?? []).map((one) => one.name)]
      : [typeName];
    const inner = selectionSet ? listSelected(selectionSet, field ? getNamedType(field.type).name : "", schema) : [];
    return field ? [...types.map((one) => `${one}.${name.value}`), ...inner] : inner;
  });
}
