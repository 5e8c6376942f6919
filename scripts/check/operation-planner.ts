// Plans operations as the gateway does, in this process, for `npm run check`.
import { buildASTSchema, Kind, parse, visit } from "graphql";
import { printMarked } from "../../gateway/src/engine/plan/normalize/big-literals.ts";
import { normalize } from "../../gateway/src/engine/plan/normalize/normalize.ts";
import { createQueryPlanner, type QueryPlanner } from "../../gateway/src/engine/plan/rewrite/query-planner.ts";
import type { OperationPlan, PlannedFetch, PlanOperation } from "../../supergraph/clients/plan-changes.ts";

type QueryPlan = ReturnType<QueryPlanner["plan"]>;

/** Without conditions, the plan has all fields. The gateway sends deferred data at once. */
const removedDirectives: ReadonlySet<string> = new Set(["skip", "include", "defer", "stream"]);

/** @throws Error if the gateway cannot serve the supergraph. */
export function createOperationPlanner(supergraphSdl: string): PlanOperation {
  const { apiSdl, aliasPrefix, plan } = createQueryPlanner(supergraphSdl);
  const apiSchema = buildASTSchema(parse(apiSdl), { assumeValidSDL: true });

  return (document) => {
    const complete = visit(document, {
      Directive: ({ name }) => (removedDirectives.has(name.value) ? null : undefined),
    });
    const operation = complete.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
    const planned = operation && normalize(complete, operation, {}, { apiSchema, aliasPrefix }).planned;
    // The operation selects only introspection fields.
    if (!planned) return { fetches: [], steps: 0 };
    const node = tryToPlan(() => plan(printMarked(planned, apiSchema)));
    return node && toOperationPlan(node);
  };
}

/** The planner throws for an operation that exceeds its limits. */
function tryToPlan(plan: () => QueryPlan): QueryPlan["node"] {
  try {
    return plan().node;
  } catch {
    return undefined;
  }
}

function toOperationPlan(node: NonNullable<QueryPlan["node"]>, isBelowList = false): OperationPlan {
  switch (node.kind) {
    case "Fetch": {
      const fetch: PlannedFetch = { service: node.serviceName, text: node.operation, isBelowList };
      return { fetches: [fetch], steps: 1 };
    }
    case "Flatten":
      return toOperationPlan(node.node, node.path.includes("@"));
    case "Sequence":
    case "Parallel": {
      const plans = node.nodes.map((one) => toOperationPlan(one, isBelowList));
      const steps = plans.map((plan) => plan.steps);
      const total = node.kind === "Sequence" ? steps.reduce((sum, one) => sum + one, 0) : Math.max(0, ...steps);
      return { fetches: plans.flatMap(({ fetches }) => fetches), steps: total };
    }
    case "Condition":
    case "Defer":
    case "Subscription":
      throw new Error(`A complete query or mutation has no ${node.kind} in its plan.`);
  }
}
