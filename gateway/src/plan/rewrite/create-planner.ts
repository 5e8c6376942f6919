// Stage 3 of 5: how to answer? The query planner with all that makes its plans right. Synchronous and slow: for worker threads.
import { operationFromDocument, Supergraph } from "@apollo/federation-internals";
import { type PlanNode, type QueryPlan, QueryPlanner } from "@apollo/query-planner";
import { type DocumentNode, Kind, type OperationDefinitionNode, parse, printSchema } from "graphql";
import {
  createDefaultWriter,
  findPlannerNames,
  renameDirectives,
  withExecutableDirectives,
  withoutForeignLinks,
} from "./executable-directives.ts";
import { keepFetchesApart } from "./keep-fetches-apart.ts";
import type { OverrideLabels } from "./override-labels.ts";
import { planResolvable } from "./plan-resolvable.ts";
import { planRest } from "./plan-rest.ts";
import { writePlannerSupergraph } from "./planner-supergraph.ts";
import { repairPlan } from "./repair-plan.ts";
import { type IneffectiveDirectives, listIneffectiveDirectives, servedFeatures } from "./supergraph-features.ts";
import { splitMutation } from "./split-mutation.ts";

export interface Planner {
  /** What clients see: the supergraph without its directives and hidden parts. */
  readonly apiSdl: string;
  /** The prefix that `normalize` has to give to aliases in the operations to plan. */
  readonly aliasPrefix: string;
  readonly overrideLabels: OverrideLabels;
  readonly ineffectiveDirectives: IneffectiveDirectives;
  /**
   * @param operationText the text of a `NormalizedOperation`'s `planned`: one anonymous operation.
   * @param enabledLabels labels of `@override` that are true; the others are false.
   * @returns plain JSON. Texts of fetches are anonymous, too. Without a node when no subgraph can answer a part of the operation.
   * @throws Error when the operation is too complex, by the planner's own limits.
   */
  plan(operationText: string, enabledLabels?: readonly string[]): QueryPlan;
}

/**
 * Ways to fetch one field. Beyond as many plans as the planner weighs anyway; without a bound, 150 bytes that go three times through an
 * interface of four types in four subgraphs keep it at work for minutes. With it they are refused in a tenth of a second.
 */
const waysMax = 10_000;

keepFetchesApart();

/** @throws Error when the supergraph is not one, or needs a feature that is not served here. */
export function createQueryPlanner(supergraphSdl: string): Planner {
  const { document, aliasPrefix, overrideLabels, ...rest } = writePlannerSupergraph(supergraphSdl);
  const supergraph = validateSupergraph(supergraphSdl);
  const apiSdl = withExecutableDirectives(writeApi(supergraph), document);
  const plannerNames = findPlannerNames(document);
  const additions = { ...rest, directiveNames: new Map([...plannerNames].map(([name, planners]) => [planners, name])) };
  const { planner, schema } = buildPlanner(renameDirectives(document, plannerNames));
  const writeDefaults = createDefaultWriter(document);
  function planOne(definition: OperationDefinitionNode, overrideConditions: Map<string, boolean>): QueryPlan {
    const definitions = [renameDirectives(writeDefaults(definition), plannerNames)];
    const operation = operationFromDocument(schema, { kind: Kind.DOCUMENT, definitions }, { validate: false });
    return repairPlan(planner.buildQueryPlan(operation, { overrideConditions }), additions);
  }
  const planPart = additions.virtuals.size > 0 ? planRest : planResolvable;
  return {
    apiSdl,
    aliasPrefix,
    overrideLabels,
    ineffectiveDirectives: listIneffectiveDirectives(supergraph.schema),
    plan(operationText, enabledLabels = []) {
      const conditions = new Map(enabledLabels.map((label) => [label, true]));
      const parts = splitMutation(parseOperation(operationText));
      const plans = parts.map((part) => planPart(part, (definition) => planOne(definition, conditions)));
      return plans.every(({ node }) => node) ? inSequence(plans) : { kind: "QueryPlan" };
    },
  };
}

/** The supergraph as it was published. */
function validateSupergraph(supergraphSdl: string): Supergraph {
  return Supergraph.build(supergraphSdl, { supportedFeatures: new Set(servedFeatures) });
}

function writeApi(supergraph: Supergraph): string {
  return printSchema(supergraph.apiSchema().toGraphQLJSSchema());
}

function buildPlanner(document: DocumentNode) {
  const options = { supportedFeatures: new Set(servedFeatures), validateSupergraph: false };
  const supergraph = Supergraph.build(withoutForeignLinks(document), options);
  const planner = new QueryPlanner(supergraph, { reuseQueryFragments: false, debug: { pathsLimit: waysMax } });
  return { planner, schema: supergraph.apiSchema() };
}

function parseOperation(text: string): OperationDefinitionNode {
  const [operation, ...others] = parse(text, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.name || others.length > 0)
    throw new Error("Only one anonymous operation can be planned");
  return operation;
}

function inSequence(plans: readonly QueryPlan[]): QueryPlan {
  const [first, ...others] = plans;
  if (first && others.length === 0) return first;
  const nodes = plans.flatMap(({ node }) => (node ? [node as PlanNode] : []));
  return { kind: "QueryPlan", node: { kind: "Sequence", nodes } };
}
