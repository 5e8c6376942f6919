// Stage 3 of 5: how to answer? The planner's answer made ready to run: texts printed, readers and positions built, once for each operation.
import type { FetchNode, PlanNode, QueryPlan } from "@apollo/query-planner";
import {
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from "graphql";
import type { CompiledFetch, CompiledPlan, CompiledRequest, Step } from "./compiled-plan.ts";
import { findIntrospectionFields } from "../introspection/introspection-fields.ts";
import { createFetchDocument, type FetchDocument, findRenamedFields } from "./fetch-document.ts";
import { collectFields, responseNameOf } from "../normalize/collect-fields.ts";
import { createKeyChecks, type KeyCheckOptions, type StoppedKeyChecks } from "./key-checks.ts";
import { clientVariableOf } from "../normalize/normalize.ts";
import { type Outline, outlinePlan, type PlannedFetch } from "./batch-fetches.ts";
import { createPlannerKeys } from "../normalize/planner-keys.ts";
import { createRootPosition } from "./positions.ts";
import { createRepresentationReaders } from "./representation-plan.ts";
import { createRequestTexts, type FetchNames, nameFetch } from "./request-text.ts";
import { sharesComposites } from "./merge-detection.ts";

export interface CompilerOptions extends KeyCheckOptions {
  readonly apiSchema: GraphQLSchema;
  readonly stoppedKeyChecks: StoppedKeyChecks;
}

/** @param retain counts the bytes that the compiled plan retains, now and when layouts are added. */
export type Compile = (
  client: OperationDefinitionNode,
  plan: QueryPlan,
  retain: (bytes: number) => void,
) => CompiledPlan;

/** Estimates of what a plan retains besides its layouts, each fetch, each selection of the client or of a fetch, and each character of a fetch (retention.test.ts). */
const retainedBytes = { plan: 2_000, fetch: 4_000, selection: 400, character: 4 } as const;

export function createCompiler(o: CompilerOptions): Compile {
  return (client, plan, retain) => {
    const fetches: CompiledFetch[] = [];
    const renamed = new Map<FieldNode, string>();
    const fetchKeyOf = (field: FieldNode) => renamed.get(field) ?? responseNameOf(field);
    const type = o.types.schema.getRootType(client.operation);
    if (!type) throw new Error(`The supergraph has no ${client.operation}s`);
    const clientKeyOf = createPlannerKeys(client, o.aliasPrefix);
    const applies = (condition: string) => o.types.applies(condition, type.name);
    const clientFields = [...collectFields([client.selectionSet], applies, responseNameOf).values()];
    const rootKeys = clientFields.flatMap(([field]) => (field ? clientKeyOf(field) : []));
    const compileBatch = createBatchCompiler(o, fetches, renamed, rootKeys);
    const steps = plan.node && compileOutline(outlinePlan(readPlanNode(plan.node)), compileBatch);
    const isMerged = sharesComposites(fetches, o.types, fetchKeyOf);
    const introspection = findIntrospectionFields(client, clientKeyOf);
    const positionOptions = {
      types: o.types,
      findVisibleType: (name: string) => o.apiSchema.getType(name),
      fetches,
      isMerged,
      clientKeyOf,
      fetchKeyOf,
      introspection: introspection && { slot: fetches.length, findAlias: introspection.findAlias },
      retain,
    };
    retain(estimateBytes(client, fetches, steps));
    const root = createRootPosition(positionOptions, type, [client.selectionSet]);
    return {
      kind: client.operation,
      steps,
      fetches,
      root,
      isMerged,
      introspection: introspection?.selectionSet,
    };
  };
}

function estimateBytes(
  client: OperationDefinitionNode,
  fetches: readonly CompiledFetch[],
  steps: Step | undefined,
): number {
  const counted = new Set<SelectionSetNode["selections"]>();
  for (const set of [client.selectionSet, ...fetches.map(({ selected }) => selected)]) addSelections(set, counted);
  const selections = [...counted].reduce((sum, { length }) => sum + length, 0);
  const characters = steps ? countCharacters(steps) : 0;
  return (
    retainedBytes.plan +
    fetches.length * retainedBytes.fetch +
    selections * retainedBytes.selection +
    characters * retainedBytes.character
  );
}

/** Of the texts of all requests. */
function countCharacters(step: Step): number {
  if (step.kind === "request") return step.request.text().head.length;
  return step.steps.reduce((sum, child) => sum + countCharacters(child), 0);
}

/** The selections of a fragment are the same list wherever it is spread, see resolve-conditions.ts. */
function addSelections({ selections }: SelectionSetNode, counted: Set<SelectionSetNode["selections"]>): void {
  if (counted.has(selections)) return;
  counted.add(selections);
  for (const selection of selections) {
    if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet)
      addSelections(selection.selectionSet, counted);
  }
}

function readPlanNode(node: NonNullable<QueryPlan["node"]>): PlanNode {
  if (node.kind === "Subscription") throw new Error("Subscriptions are refused before they are planned");
  return node;
}

type CompileBatch = (fetches: readonly PlannedFetch[]) => CompiledRequest;

function compileOutline(outline: Outline, compileBatch: CompileBatch): Step {
  if (outline.kind === "batch") return { kind: "request", request: compileBatch(outline.fetches) };
  return { kind: outline.kind, steps: outline.parts.map((part) => compileOutline(part, compileBatch)) };
}

/** A fetch, with all the places whose objects it is about. */
interface Member extends Pick<PlannedFetch, "node"> {
  readonly paths: (readonly string[])[];
}

/**
 * Fetches are numbered in the order in which they are sent; `renamed` gets the fields whose key in the data is not the planner's.
 * @param rootKeys planner keys of the client's root fields, in their order.
 */
function createBatchCompiler(
  o: CompilerOptions,
  fetches: CompiledFetch[],
  renamed: Map<FieldNode, string>,
  rootKeys: readonly string[],
): CompileBatch {
  const { types, aliasPrefix } = o;
  const groupOf = createGroups();
  const timesByHead = new Map<string, number>();

  function compileMember(member: Member, document: FetchDocument, names: FetchNames): CompiledFetch {
    const { node, paths } = member;
    for (const [field, key] of findRenamedFields(document.selected, node.outputRewrites ?? [])) renamed.set(field, key);
    const fetch: CompiledFetch = {
      slot: fetches.length,
      service: node.serviceName,
      paths,
      selected: document.selected,
      representations: node.requires && {
        ...names,
        group: groupOf(member),
        ...createRepresentationReaders(node, types),
      },
      renames: (node.outputRewrites ?? []).flatMap((rewrite) =>
        rewrite.kind === "KeyRenamer" ? { path: rewrite.path, to: rewrite.renameKeyTo } : [],
      ),
      keyChecks: createKeyChecks(document.checkedKeys, types),
      acceptsEntity: ({ typename: known }, typename) =>
        types.applies(known, typename) || types.applies(typename, known),
    };
    fetches.push(fetch);
    return fetch;
  }

  return (batch) => {
    const members = uniteEqual(batch);
    const [first] = members;
    if (!first) throw new Error("A batch has fetches");
    const documents = members.map(({ node }) => createFetchDocument(node, o));
    const { serviceName } = first.node;
    const texts = createRequestTexts(serviceName, documents, o.stoppedKeyChecks);
    const { head } = texts.text();
    timesByHead.set(head, (timesByHead.get(head) ?? 0) + 1);
    const variables = new Set(members.flatMap(({ node }) => node.variableUsages ?? []));
    return {
      service: serviceName,
      ...describeMutation(first.node, documents, rootKeys),
      ...texts,
      get mayRepeat() {
        return (timesByHead.get(head) ?? 0) > 1;
      },
      variables: [...variables].map((planned) => ({ planned, client: clientVariableOf(planned, aliasPrefix) })),
      fetches: members.map((member, i) =>
        compileMember(member, documents[i] as FetchDocument, nameFetch(i, members.length)),
      ),
    };
  };
}

/** The planner is given one root field of a mutation at a time (split-mutation.ts), in the client's order. */
function describeMutation(
  { operationKind }: FetchNode,
  documents: readonly FetchDocument[],
  rootKeys: readonly string[],
): Pick<CompiledRequest, "isMutation" | "fieldsBefore"> {
  if (operationKind !== OperationTypeNode.MUTATION) return { isMutation: false, fieldsBefore: 0 };
  const sets = documents.map(({ selected }) => selected);
  const own = collectFields(sets, () => true, responseNameOf);
  return {
    isMutation: true,
    fieldsBefore: Math.max(
      rootKeys.findIndex((key) => own.has(key)),
      0,
    ),
  };
}

/** Fetches that ask for the same of the objects of several places are one: an entity that stands at two of them is sent once. */
function uniteEqual(batch: readonly PlannedFetch[]): readonly Member[] {
  const members = new Map<string, Member>();
  for (const { node, path } of batch) {
    if (node.contextRewrites) throw new Error("Contexts (@fromContext) are not served");
    const { operation, requires, inputRewrites, outputRewrites } = node;
    const key = JSON.stringify([operation, requires, inputRewrites, outputRewrites]);
    const member = members.get(key);
    if (member && requires) member.paths.push(path);
    else members.set(key, { node, paths: [path] });
  }
  return [...members.values()];
}

/** Numbers what is about the same objects and needs the same of them. */
function createGroups(): (member: Member) => number {
  const groups = new Map<string, number>();
  return ({ node, paths }) => {
    const key = JSON.stringify([paths, node.requires, node.inputRewrites]);
    const group = groups.get(key) ?? groups.size;
    groups.set(key, group);
    return group;
  };
}
