// Compiles the fetches of a query plan into requests to subgraphs. compile.ts calls it once per plan.
import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { type FieldNode, OperationTypeNode } from "graphql";
import { collectFields, responseNameOf } from "../normalize/collect-fields.ts";
import { clientVariableOf } from "../normalize/normalize.ts";
import type { CompiledFetch, CompiledRequest, RequestPart } from "./compiled-plan.ts";
import { compileContextArguments, createContextRequests } from "./context-requests.ts";
import type { FetchPath } from "./fetch-path.ts";
import { type BatchedFetch, createFetchDocument, findRenamedFields } from "./fetch-document.ts";
import { type FetchBatch, type PlannedFetch, scheduleFetches } from "./fetch-schedule.ts";
import { createKeyChecks, type KeyCheckOptions, type StoppedKeyAdditions } from "./key-checks.ts";
import { compileRepresentationFields } from "./representation-plan.ts";
import { createRequestSplit } from "./request-split.ts";
import { createSubsets, type SubsetCompiler } from "./request-subsets.ts";
import { createRequestText, type FetchNames, nameFetch } from "./request-text.ts";

export interface RequestCompilerOptions extends KeyCheckOptions {
  readonly stoppedKeyAdditions: StoppedKeyAdditions;
}

export interface CompiledRequests {
  readonly parts: readonly RequestPart[];
  /** Each fetch comes after those that it waits for. */
  readonly fetches: readonly CompiledFetch[];
  /** Its response name, unless the plan renames the field. */
  readonly fetchKeyOf: (field: FieldNode) => string;
}

/** @param rootKeys the planner keys of the client's root fields, in their order. */
export function compileRequests(
  node: PlanNode | undefined,
  rootKeys: readonly string[],
  o: RequestCompilerOptions,
  onSubset: (request: CompiledRequest) => void,
): CompiledRequests {
  const fetches: CompiledFetch[] = [];
  const renamedKeys = new Map<FieldNode, string>();
  const groupOf = createGroups();
  const requestByHead = new Map<string, { mayRepeat: boolean }>();

  function compileBatch(batch: FetchBatch): CompiledRequest {
    const distinct = deduplicateFetches(batch);
    const [first] = distinct;
    if (!first) throw new Error("A batch without fetches");
    const batched = distinct.map((fetch, i) => compileFetch(fetch, nameFetch(i, distinct.length)));
    const { serviceName: service } = first.node;
    const partCount = new Set(batch.map(({ after }) => after)).size;
    const { isMutation, rootFieldsBefore } = mutationOrderOf(first.node, batched, rootKeys);
    const { currentText, variables } = compileTexts(service, batched, o);
    const whole = {
      service,
      partCount,
      isMutation,
      rootFieldsBefore,
      currentText,
      variables,
      fetches: batched.map(({ fetch }) => fetch),
      subset: createSubsets({ service, partCount }, batched, subsetCompiler),
      mayRepeat: false,
    };
    const split = createRequestSplit(whole, batched, o);
    const request = { ...whole, split, forContexts: createContextRequests(whole, batched, subsetCompiler) };
    const { head } = currentText();
    const equal = requestByHead.get(head);
    if (equal) equal.mayRepeat = request.mayRepeat = true;
    else requestByHead.set(head, request);
    return request;
  }

  function compileFetch({ node, paths, members }: DistinctFetch, names: FetchNames): BatchedFetch {
    const document = createFetchDocument(node, o);
    const { selected, checkedKeys } = document;
    const rewrites = node.outputRewrites ?? [];
    for (const [field, key] of findRenamedFields(selected, rewrites)) renamedKeys.set(field, key);
    const renamers = rewrites.filter((rewrite) => rewrite.kind === "KeyRenamer");
    // Fetches have one group if they send the same representations: of objects at the same positions, with the same fields.
    const group = groupOf(paths, node.requires, node.inputRewrites);
    const fetch: CompiledFetch = {
      joinIndex: fetches.length,
      service: node.serviceName,
      paths,
      members,
      selected,
      representationPlan: node.requires && { ...compileRepresentationFields(node, o.types), ...names, group },
      contextArguments: compileContextArguments(node, o.types),
      renames: renamers.map(({ path, renameKeyTo }) => ({ path, to: renameKeyTo })),
      keyChecks: createKeyChecks(checkedKeys, o.types),
      // One of the two may be an interface that the other implements. The gateway knows only the interface of an object from a subgraph with an
      // `@interfaceObject`, and a subgraph with an `@interfaceObject` returns entities with the interface's name.
      acceptsEntity: ({ typename: requested }, returned) =>
        o.types.applies(requested, returned) || o.types.applies(returned, requested),
    };
    fetches.push(fetch);
    return { fetch, document, variableNames: node.variableUsages ?? [] };
  }

  const subsetCompiler: SubsetCompiler = {
    compileTexts: (service, batched) => compileTexts(service, batched, o),
    groupOf,
    onSubset,
  };
  const batches = node ? scheduleFetches(node) : [];
  const parts = listParts(batches.map((batch) => ({ batch, request: compileBatch(batch) })));
  return { parts, fetches, fetchKeyOf: (field) => renamedKeys.get(field) ?? responseNameOf(field) };
}

function compileTexts(service: string, batched: readonly BatchedFetch[], o: RequestCompilerOptions) {
  const documents = batched.map(({ document }) => document);
  const { currentText } = createRequestText(service, documents, o);
  const names = new Set(batched.flatMap(({ variableNames }) => variableNames));
  const variables = [...names].map((name) => ({ name, clientName: clientVariableOf(name, o.aliasPrefix) }));
  return { currentText, variables };
}

function listParts(
  requests: readonly { readonly batch: FetchBatch; readonly request: CompiledRequest }[],
): readonly RequestPart[] {
  const parts: (RequestPart & { readonly next: number[] })[] = [];
  const partOf = new Map<PlannedFetch, number>();
  for (const { batch, request } of requests) {
    const membersByAfter = Map.groupBy(batch.keys(), (member) => (batch[member] as PlannedFetch).after);
    for (const [after, members] of membersByAfter) {
      const index = parts.length;
      const before = new Set(after.map((fetch) => partOf.get(fetch) as number));
      for (const part of before) parts[part]?.next.push(index);
      parts.push({ request, members, waitsFor: before.size, next: [] });
      for (const member of members) partOf.set(batch[member] as PlannedFetch, index);
    }
  }
  return parts;
}

interface DistinctFetch extends Pick<PlannedFetch, "node"> {
  readonly paths: FetchPath[];
  /** Indexes in the batch, one for each path. */
  readonly members: number[];
}

/** Combines entity fetches that differ in their position only: an entity that occurs at both is requested once. */
function deduplicateFetches(batch: FetchBatch): readonly DistinctFetch[] {
  const distinct = new Map<string, DistinctFetch>();
  for (const [member, { node, path }] of batch.entries()) {
    const { operation, requires, inputRewrites, outputRewrites } = node;
    const key = JSON.stringify([operation, requires, inputRewrites, outputRewrites]);
    const equal = distinct.get(key);
    if (equal) {
      equal.paths.push(path);
      equal.members.push(member);
    } else distinct.set(key, { node, paths: [path], members: [member] });
  }
  return [...distinct.values()];
}

function createGroups(): (...key: readonly unknown[]) => number {
  const groups = new Map<string, number>();
  return (...key) => {
    const text = JSON.stringify(key);
    const group = groups.get(text) ?? groups.size;
    groups.set(text, group);
    return group;
  };
}

/** Each mutation request has one root field (../rewrite/split-mutation.ts). Entity fetches within a mutation are queries. */
function mutationOrderOf(
  { operationKind }: FetchNode,
  batched: readonly BatchedFetch[],
  rootKeys: readonly string[],
): Pick<CompiledRequest, "isMutation" | "rootFieldsBefore"> {
  if (operationKind !== OperationTypeNode.MUTATION) return { isMutation: false, rootFieldsBefore: 0 };
  const sets = batched.map(({ document }) => document.selected);
  const fetched = collectFields(sets, () => true, responseNameOf);
  const index = rootKeys.findIndex((key) => fetched.has(key));
  // -1 (not found) would be a bug of the planner. With 0, the request is sent even if an earlier field has made
  // `data` null.
  return { isMutation: true, rootFieldsBefore: Math.max(index, 0) };
}
