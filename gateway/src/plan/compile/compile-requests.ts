// Compiles the fetches of a query plan into requests to subgraphs: their order, their texts, how objects become representations, which
// variables are sent, and which keys of the returned entities are checked. compile.ts calls it once per plan.
import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { type FieldNode, OperationTypeNode } from "graphql";
import { collectFields, responseNameOf } from "../normalize/collect-fields.ts";
import { clientVariableOf } from "../normalize/normalize.ts";
import type { CompiledFetch, CompiledRequest, PlanStep, RepresentationPlan } from "./compiled-plan.ts";
import type { FetchPath } from "./fetch-path.ts";
import { createFetchDocument, type FetchDocument, findRenamedFields } from "./fetch-document.ts";
import { type FetchSchedule, type PlannedFetch, scheduleFetches } from "./fetch-schedule.ts";
import { createKeyChecks, type KeyCheckOptions, type StoppedKeyAdditions } from "./key-checks.ts";
import { compileRepresentationFields } from "./representation-plan.ts";
import { createRequestSplit } from "./request-split.ts";
import { createRequestText, type FetchNames, nameFetch } from "./request-text.ts";

export interface RequestCompilerOptions extends KeyCheckOptions {
  readonly stoppedKeyAdditions: StoppedKeyAdditions;
}

export interface CompiledRequests {
  /** Undefined if the plan has no fetch. */
  readonly steps: PlanStep | undefined;
  /** In the order in which they are sent. */
  readonly fetches: readonly CompiledFetch[];
  /** The planner key of a field in a fetch's selection: its response name, unless the plan renames it. */
  readonly fetchKeyOf: (field: FieldNode) => string;
}

/**
 * @param node undefined if the plan has no fetch.
 * @param rootKeys the planner keys of the client's root fields, in their order: the `rootFieldsBefore` of a mutation's request is the index of its
 * first field in this list.
 */
export function compileRequests(
  node: PlanNode | undefined,
  rootKeys: readonly string[],
  o: RequestCompilerOptions,
): CompiledRequests {
  const fetches: CompiledFetch[] = [];
  const renamedKeys = new Map<FieldNode, string>();
  const representationGroupOf = createRepresentationGroups();
  const requestCountByHead = new Map<string, number>();

  function compileSchedule(schedule: FetchSchedule): PlanStep {
    if (schedule.kind === "batch") return { kind: "request", request: compileRequest(schedule.fetches) };
    return { kind: schedule.kind, steps: schedule.parts.map(compileSchedule) };
  }

  function compileRequest(batch: readonly PlannedFetch[]): CompiledRequest {
    const distinct = deduplicateFetches(batch);
    const [first] = distinct;
    if (!first) throw new Error("A batch without fetches");
    const documents = distinct.map(({ node }) => createFetchDocument(node, o));
    const { serviceName } = first.node;
    const { isMutation, rootFieldsBefore } = describeMutation(first.node, documents, rootKeys);
    const { currentText } = createRequestText(serviceName, documents, o.stoppedKeyAdditions);
    const { head } = currentText();
    requestCountByHead.set(head, (requestCountByHead.get(head) ?? 0) + 1);
    const variableNames = new Set(distinct.flatMap(({ node }) => node.variableUsages ?? []));
    const variables = [...variableNames].map((name) => ({ name, clientName: clientVariableOf(name, o.aliasPrefix) }));
    // `documents` has one document for each fetch of `distinct`.
    const requestFetches = distinct.map((fetch, i) =>
      compileFetch(fetch, documents[i] as FetchDocument, nameFetch(i, distinct.length)),
    );
    const whole = { service: serviceName, isMutation, variables, fetches: requestFetches };
    return {
      ...whole,
      rootFieldsBefore,
      currentText,
      // Whether another request of this plan has the same text: stage 4 (run) then sends equal requests once. A getter, because the other request may
      // be compiled later than this one. It is first read when the plan runs.
      get mayRepeat() {
        return (requestCountByHead.get(head) ?? 0) > 1;
      },
      split: createRequestSplit(whole, documents, o.stoppedKeyAdditions),
    };
  }

  /** Adds the fetch to `fetches` and its renamed fields to `renamedKeys`. */
  function compileFetch(fetch: DistinctFetch, document: FetchDocument, names: FetchNames): CompiledFetch {
    const { node, paths } = fetch;
    const { selected, checkedKeys } = document;
    const rewrites = node.outputRewrites ?? [];
    for (const [field, key] of findRenamedFields(selected, rewrites)) renamedKeys.set(field, key);
    const renamers = rewrites.filter((rewrite) => rewrite.kind === "KeyRenamer");
    const compiled: CompiledFetch = {
      joinIndex: fetches.length,
      service: node.serviceName,
      paths,
      selected,
      representations: node.requires ? compileRepresentations(fetch, names) : undefined,
      renames: renamers.map(({ path, renameKeyTo }) => ({ path, to: renameKeyTo })),
      keyChecks: createKeyChecks(checkedKeys, o.types),
      // One of the two may be an interface that the other implements. The gateway knows only the interface of an object from a subgraph with an
      // `@interfaceObject`, and a subgraph with an `@interfaceObject` returns entities with the interface's name.
      acceptsEntity: ({ typename: requested }, returned) =>
        o.types.applies(requested, returned) || o.types.applies(returned, requested),
    };
    fetches.push(compiled);
    return compiled;
  }

  function compileRepresentations(fetch: DistinctFetch, { variable, entitiesKey }: FetchNames): RepresentationPlan {
    const { fieldsOf, singleKeyOf } = compileRepresentationFields(fetch.node, o.types);
    return { variable, entitiesKey, group: representationGroupOf(fetch), fieldsOf, singleKeyOf };
  }

  const steps = node && compileSchedule(scheduleFetches(node));
  return { steps, fetches, fetchKeyOf: (field) => renamedKeys.get(field) ?? responseNameOf(field) };
}

/** A fetch with the positions of all its duplicates. */
interface DistinctFetch extends Pick<PlannedFetch, "node"> {
  readonly paths: FetchPath[];
}

/**
 * Combines entity fetches that differ in their position only: an entity that occurs at both positions is requested once.
 * @param batch one fetch of root fields, or one or more entity fetches (fetch-schedule.ts).
 */
function deduplicateFetches(batch: readonly PlannedFetch[]): readonly DistinctFetch[] {
  const distinct = new Map<string, DistinctFetch>();
  for (const { node, path } of batch) {
    if (node.contextRewrites) throw new Error("@fromContext is not supported");
    const { operation, requires, inputRewrites, outputRewrites } = node;
    const key = JSON.stringify([operation, requires, inputRewrites, outputRewrites]);
    const equal = distinct.get(key);
    if (equal) equal.paths.push(path);
    else distinct.set(key, { node, paths: [path] });
  }
  return [...distinct.values()];
}

/** Gives fetches one number if they send the same representations: of objects at the same positions, with the same fields. */
function createRepresentationGroups(): (fetch: DistinctFetch) => number {
  const groups = new Map<string, number>();
  return ({ node, paths }) => {
    const positions = paths.map((path) => path.map(({ key, types }) => [key, types && [...types]]));
    const key = JSON.stringify([positions, node.requires, node.inputRewrites]);
    const group = groups.get(key) ?? groups.size;
    groups.set(key, group);
    return group;
  };
}

/**
 * The planner plans one root field of a mutation at a time (../rewrite/split-mutation.ts), in the client's order, so each mutation request has one
 * root field. Entity fetches within a mutation are queries.
 */
function describeMutation(
  { operationKind }: FetchNode,
  documents: readonly FetchDocument[],
  rootKeys: readonly string[],
): Pick<CompiledRequest, "isMutation" | "rootFieldsBefore"> {
  if (operationKind !== OperationTypeNode.MUTATION) return { isMutation: false, rootFieldsBefore: 0 };
  const sets = documents.map(({ selected }) => selected);
  const fetched = collectFields(sets, () => true, responseNameOf);
  const index = rootKeys.findIndex((key) => fetched.has(key));
  // -1 (not found) would be a bug of the planner. With 0, the request is sent even if an earlier field has made
  // `data` null.
  return { isMutation: true, rootFieldsBefore: Math.max(index, 0) };
}
