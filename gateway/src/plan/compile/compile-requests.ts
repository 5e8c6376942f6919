// Compiles the fetches of a query plan into requests: their order, their texts, and the representations that they send.
import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { type FieldNode, OperationTypeNode } from "graphql";
import { collectFields, responseNameOf } from "../normalize/collect-fields.ts";
import { clientVariableOf } from "../normalize/normalize.ts";
import type { CompiledFetch, CompiledRequest, PlanStep } from "./compiled-plan.ts";
import { createFetchDocument, type FetchDocument, findRenamedFields } from "./fetch-document.ts";
import { type FetchSchedule, type PlannedFetch, scheduleFetches } from "./fetch-schedule.ts";
import { createKeyChecks, type KeyCheckOptions, type StoppedKeyChecks } from "./key-checks.ts";
import { createRepresentationReaders } from "./representation-plan.ts";
import { createRequestTexts, type FetchNames, nameFetch } from "./request-text.ts";

export interface RequestCompilerOptions extends KeyCheckOptions {
  readonly stoppedKeyChecks: StoppedKeyChecks;
}

export interface CompiledRequests {
  /** Undefined if the plan has no fetch. */
  readonly steps: PlanStep | undefined;
  /** In the order in which they are sent. */
  readonly fetches: readonly CompiledFetch[];
  /** The planner key of a field in a fetch's selection: its response name, unless the plan renames it. */
  readonly fetchKeyOf: (field: FieldNode) => string;
}

/** @param rootKeys the planner keys of the client's root fields, in their order. */
export function compileRequests(
  node: PlanNode | undefined,
  rootKeys: readonly string[],
  o: RequestCompilerOptions,
): CompiledRequests {
  const fetches: CompiledFetch[] = [];
  const renamedKeys = new Map<FieldNode, string>();
  const representationGroupOf = createRepresentationGroups();
  const requestsByText = new Map<string, number>();

  function compileSchedule(schedule: FetchSchedule): PlanStep {
    if (schedule.kind === "batch") return { kind: "request", request: compileRequest(schedule.fetches) };
    return { kind: schedule.kind, steps: schedule.parts.map(compileSchedule) };
  }

  function compileRequest(batch: readonly PlannedFetch[]): CompiledRequest {
    const united = uniteEqualFetches(batch);
    const [first] = united;
    if (!first) throw new Error("A batch has fetches");
    const documents = united.map(({ node }) => createFetchDocument(node, o));
    const { serviceName } = first.node;
    const texts = createRequestTexts(serviceName, documents, o.stoppedKeyChecks);
    const { head } = texts.text();
    requestsByText.set(head, (requestsByText.get(head) ?? 0) + 1);
    const variables = new Set(united.flatMap(({ node }) => node.variableUsages ?? []));
    return {
      service: serviceName,
      ...describeMutation(first.node, documents, rootKeys),
      ...texts,
      // Read while the plan runs, when all requests are compiled.
      get mayRepeat() {
        return (requestsByText.get(head) ?? 0) > 1;
      },
      variables: [...variables].map((planned) => ({ planned, client: clientVariableOf(planned, o.aliasPrefix) })),
      fetches: united.map((fetch, i) =>
        compileFetch(fetch, documents[i] as FetchDocument, nameFetch(i, united.length)),
      ),
    };
  }

  function compileFetch(united: UnitedFetch, document: FetchDocument, names: FetchNames): CompiledFetch {
    const { node, paths } = united;
    const { selected, checkedKeys } = document;
    const rewrites = node.outputRewrites ?? [];
    for (const [field, key] of findRenamedFields(selected, rewrites)) renamedKeys.set(field, key);
    const fetch: CompiledFetch = {
      joinIndex: fetches.length,
      service: node.serviceName,
      paths,
      selected,
      representations: node.requires && {
        ...names,
        group: representationGroupOf(united),
        ...createRepresentationReaders(node, o.types),
      },
      renames: rewrites.flatMap((rewrite) =>
        rewrite.kind === "KeyRenamer" ? { path: rewrite.path, to: rewrite.renameKeyTo } : [],
      ),
      keyChecks: createKeyChecks(checkedKeys, o.types),
      acceptsEntity: ({ typename: known }, typename) =>
        o.types.applies(known, typename) || o.types.applies(typename, known),
    };
    fetches.push(fetch);
    return fetch;
  }

  const steps = node && compileSchedule(scheduleFetches(node));
  return { steps, fetches, fetchKeyOf: (field) => renamedKeys.get(field) ?? responseNameOf(field) };
}

/** A fetch with all positions of the objects to which its data belongs. */
interface UnitedFetch extends Pick<PlannedFetch, "node"> {
  readonly paths: (readonly string[])[];
}

/** Unites entity fetches that differ in their position only: an entity that occurs at both positions is requested once. */
function uniteEqualFetches(batch: readonly PlannedFetch[]): readonly UnitedFetch[] {
  const united = new Map<string, UnitedFetch>();
  for (const { node, path } of batch) {
    if (node.contextRewrites) throw new Error("@fromContext is not supported");
    const { operation, requires, inputRewrites, outputRewrites } = node;
    const key = JSON.stringify([operation, requires, inputRewrites, outputRewrites]);
    const equal = united.get(key);
    if (equal && requires) equal.paths.push(path);
    else united.set(key, { node, paths: [path] });
  }
  return [...united.values()];
}

/** Numbers fetches that send the same representations: of objects at the same positions, with the same fields. */
function createRepresentationGroups(): (fetch: UnitedFetch) => number {
  const groups = new Map<string, number>();
  return ({ node, paths }) => {
    const key = JSON.stringify([paths, node.requires, node.inputRewrites]);
    const group = groups.get(key) ?? groups.size;
    groups.set(key, group);
    return group;
  };
}

/** The planner plans one root field of a mutation at a time (../rewrite/split-mutation.ts), in the client's order. */
function describeMutation(
  { operationKind }: FetchNode,
  documents: readonly FetchDocument[],
  rootKeys: readonly string[],
): Pick<CompiledRequest, "isMutation" | "fieldsBefore"> {
  if (operationKind !== OperationTypeNode.MUTATION) return { isMutation: false, fieldsBefore: 0 };
  const sets = documents.map(({ selected }) => selected);
  const fetched = collectFields(sets, () => true, responseNameOf);
  return {
    isMutation: true,
    fieldsBefore: Math.max(
      rootKeys.findIndex((key) => fetched.has(key)),
      0,
    ),
  };
}
