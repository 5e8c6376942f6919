// Apollo's query planner, with the rewriting that makes its plans correct. Synchronous and slow: it runs in planner workers (planner/task-runner.ts).
//
// Once per supergraph: planner-supergraph.ts changes the supergraph (override-labels, synthetic-fields, separate-requires).
// For each operation, in this order: split-mutation (one operation per root field), plan-resolvable (fields that no subgraph can resolve),
// executable-directives (names and defaults), divide-conditions (below interface objects), Apollo's planner, separate-branches (of interface objects),
// restore-plan (the published names).
import { toClientSchema } from "@tributary/kit/federation/api-schema";
import { printWholeSchema } from "@tributary/kit/federation/default-values";
import { listOneOfInputs, withOneOfDefinitionText } from "@tributary/kit/federation/one-of";
import { operationFromDocument, Supergraph } from "@apollo/federation-internals";
import { type PlanNode, QueryPlanner as ApolloQueryPlanner, type QueryPlan } from "@apollo/query-planner";
import { type DocumentNode, Kind, type OperationDefinitionNode } from "graphql";
import type { RootFieldPriorities } from "../../parse/operation-priority.ts";
import { createConditionDivider } from "./divide-conditions.ts";
import {
  createDirectiveDefaults,
  chooseDirectiveNames,
  type DirectiveNames,
  renameDirectives,
  withExecutableDirectives,
  withoutForeignLinks,
} from "./executable-directives.ts";
import { patchFetchMerging } from "./fetch-merge-patch.ts";
import type { OverrideLabels } from "./override-labels.ts";
import { planResolvable } from "./plan-resolvable.ts";
import { createPlannerSupergraph } from "./planner-supergraph.ts";
import { restorePlan } from "./restore-plan.ts";
import { findRootFieldPriorities } from "./root-field-priorities.ts";
import { splitMutation } from "./split-mutation.ts";
import { parseOperation } from "./supergraph-edit.ts";
import { type IneffectiveDirectives, listIneffectiveDirectives, supportedFeatures } from "./supergraph-features.ts";

export interface PublishedSupergraph {
  /** The API schema: the supergraph as clients see it. */
  readonly apiSdl: string;
  /** The prefix for aliases in operations to plan. No field name of the supergraph begins with it. */
  readonly aliasPrefix: string;
  readonly overrideLabels: OverrideLabels;
  readonly ineffectiveDirectives: IneffectiveDirectives;
  readonly rootFieldPriorities: RootFieldPriorities;
}

export interface QueryPlanner extends PublishedSupergraph {
  /**
   * @param operationText the printed `planned` of a `NormalizedOperation`: one anonymous operation.
   * @param enabledLabels labels of progressive `@override` that are true; all others are false.
   * @returns plain JSON with anonymous fetch operations; without a node if the operation is unresolvable (plan-resolvable.ts).
   * @throws Error if the operation exceeds the planner's limits, or for a bug.
   */
  plan(operationText: string, enabledLabels?: readonly string[]): QueryPlan;
}

/**
 * The most paths to one field that the planner considers; its default limit of compared plans is the same number. Without this limit, an operation of
 * 150 bytes that selects three times through an interface of four types in four subgraphs takes minutes. With the limit, it is rejected within 0.1 s.
 */
const pathsMax = 10_000;

// The planner would merge fetches of which one depends on the other.
patchFetchMerging();

/**
 * @param options.isValidated whether the supergraph is known to be valid: then it is not validated again.
 * @throws Error if the supergraph is invalid, or needs a feature that the gateway does not support.
 */
export function createQueryPlanner(publishedSdl: string, { isValidated = false } = {}): QueryPlanner {
  const supergraphSdl = withOneOfDefinitionText(publishedSdl);
  const { document, view, aliasPrefix, overrideLabels, syntheticFields, virtualSubgraphs, separateBranches } =
    createPlannerSupergraph(supergraphSdl);
  const supergraph = buildSupergraph(supergraphSdl, isValidated);
  const plannerNames = chooseDirectiveNames(document);
  const apiSdl = withExecutableDirectives(writeApi(supergraph, plannerNames, listOneOfInputs(document)), document);
  const publishedDirectiveNames = new Map([...plannerNames].map(([name, plannerName]) => [plannerName, name]));
  const additions = { syntheticFields, virtualSubgraphs, publishedDirectiveNames };
  const { planner, schema } = buildPlanner(renameDirectives(document, plannerNames));
  const addDirectiveDefaults = createDirectiveDefaults(document);
  const divideConditions = createConditionDivider(schema, view);

  function planOne(definition: OperationDefinitionNode, overrideConditions: Map<string, boolean>): QueryPlan {
    const definitions = [divideConditions(renameDirectives(addDirectiveDefaults(definition), plannerNames))];
    const operation = operationFromDocument(schema, { kind: Kind.DOCUMENT, definitions }, { validate: false });
    const plan = planner.buildQueryPlan(operation, { overrideConditions });
    return restorePlan(separateBranches(plan), additions);
  }

  return {
    apiSdl,
    aliasPrefix,
    overrideLabels,
    ineffectiveDirectives: listIneffectiveDirectives(supergraph.schema),
    rootFieldPriorities: findRootFieldPriorities(supergraph.schema),
    plan(operationText, enabledLabels = []) {
      const conditions = new Map(enabledLabels.map((label) => [label, true]));
      const parts = splitMutation(parseOperation(operationText));
      const plan = (definition: OperationDefinitionNode) => planOne(definition, conditions);
      const plans = parts.map((part) => planResolvable(part, plan, virtualSubgraphs.size > 0));
      const areAllResolvable = plans.every(({ node }) => node !== undefined);
      // If one root field of a mutation has no plan, the whole mutation has none, so it is not executed in part.
      return areAllResolvable ? inSequence(plans) : { kind: "QueryPlan" };
    },
  };
}

/** Builds the published supergraph, which must be valid. The modified supergraph for the planner need not be valid. */
function buildSupergraph(supergraphSdl: string, isValidated: boolean): Supergraph {
  const options = { supportedFeatures: new Set(supportedFeatures), validateSupergraph: !isValidated };
  const supergraph = Supergraph.build(supergraphSdl, options);
  // Throws if one of its subgraphs is invalid.
  if (!isValidated) supergraph.subgraphs();
  return supergraph;
}

/** With `@defer` and `@stream`, unless a subgraph defines its own. */
function writeApi(supergraph: Supergraph, defined: DirectiveNames, oneOfInputs: ReadonlySet<string>): string {
  const incremental = { includeDefer: !defined.has("defer"), includeStream: !defined.has("stream") };
  const { description } = supergraph.schema.schemaDefinition;
  const apiSchema = supergraph.apiSchema().toGraphQLJSSchema(incremental);
  return printWholeSchema(toClientSchema(apiSchema, { oneOfInputs, description }));
}

/** @returns the planner, and the API schema by which it reads operations. */
function buildPlanner(document: DocumentNode) {
  const options = { supportedFeatures: new Set(supportedFeatures), validateSupergraph: false };
  const supergraph = Supergraph.build(withoutForeignLinks(document), options);
  const planner = new ApolloQueryPlanner(supergraph, {
    typeConditionedFetching: true,
    debug: { pathsLimit: pathsMax },
  });
  return { planner, schema: supergraph.apiSchema() };
}

/** Joins the plans of a mutation's root fields. */
function inSequence(plans: readonly QueryPlan[]): QueryPlan {
  const [first, ...others] = plans;
  if (first && others.length === 0) return first;
  const nodes = plans.flatMap(({ node }) => (node ? [node as PlanNode] : []));
  return { kind: "QueryPlan", node: { kind: "Sequence", nodes } };
}
