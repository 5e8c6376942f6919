// Separates the branches of an entity fetch below an interface object. In `{ pals { f ... on Dog { g } } }`, `f` requires `p` and `g` requires `q`:
// the planner plans one fetch whose representations need both, but selects `q` of dogs only, so no other pal would be requested. For other types, the
// planner separates branches itself (`typeConditionedFetching`).
import type { FetchNode, PlanNode, QueryPlan, QueryPlanSelectionNode } from "@apollo/query-planner";
import {
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  stripIgnoredCharacters,
} from "graphql";
import { listVariables } from "../normalize/collect-fields.ts";
import { withSelections } from "../normalize/resolve-conditions.ts";
import type { VirtualSubgraphs } from "./separate-requires.ts";
import { isInterfaceObject, isJoin, readGraphs, resolvableKeysOf, stringOf } from "./supergraph-directives.ts";
import { parseFieldSet, parseOperation, type SupergraphView } from "./supergraph-edit.ts";

export type SeparateBranches = (plan: QueryPlan) => QueryPlan;

/** "" unless the field is on an interface object and has a `@requires`. */
type RequirementOf = (typename: string, fieldName: string) => string;

/** Without type conditions. */
type NameTree = Map<string, NameTree>;

export function createBranchSeparator(
  supergraph: SupergraphView,
  virtualSubgraphs: VirtualSubgraphs,
): SeparateBranches {
  const graphByService = readGraphs(supergraph.types.get("join__Graph")?.members ?? []);

  function createRequirementOf(service: string, graph: string): RequirementOf {
    const isFieldJoin = isJoin("join__field", graph);
    return (typename, fieldName) => {
      const type = supergraph.types.get(typename);
      const isOfInterfaceObject =
        virtualSubgraphs.get(service)?.interfaceObjects.has(typename) || isInterfaceObject(type, graph);
      const fieldJoin = isOfInterfaceObject ? type?.members.get(fieldName)?.directives.find(isFieldJoin) : undefined;
      return (fieldJoin && stringOf(fieldJoin, "requires")) ?? "";
    };
  }

  function separateFetch(fetch: FetchNode): PlanNode {
    const { serviceName, requires = [], operation } = fetch;
    const graph = graphByService.get(serviceName);
    const typeConditions = new Set(requires.flatMap(typeConditionOf));
    // With one type condition, the same fields are required of all objects.
    if (graph === undefined || typeConditions.size < 2) return fetch;
    const whole = parseOperation(operation);
    const requirementOf = createRequirementOf(serviceName, graph);
    const requirements = listRequirements(whole, requirementOf);
    if (requirements.length < 2) return fetch;
    const keys = [...typeConditions].flatMap((name) => resolvableKeysOf(supergraph.types.get(name), graph));
    const required = toNameTree(requirements);
    const nodes = requirements.map((requirement): FetchNode => {
      const needed = toNameTree([...keys, requirement]);
      return {
        ...fetch,
        ...selectBranch(whole, (typename, name) => requirementOf(typename, name) === requirement),
        requires: keepNeeded(requires, needed, required),
      };
    });
    return { kind: "Parallel", nodes };
  }

  function separateIn(node: PlanNode): PlanNode {
    if (node.kind === "Fetch") return separateFetch(node);
    if (node.kind === "Flatten") return { ...node, node: separateIn(node.node) };
    if (node.kind === "Sequence" || node.kind === "Parallel") return { ...node, nodes: node.nodes.map(separateIn) };
    return node;
  }

  return (plan) => (plan.node && plan.node.kind !== "Subscription" ? { ...plan, node: separateIn(plan.node) } : plan);
}

function typeConditionOf(selection: QueryPlanSelectionNode): readonly string[] {
  return selection.kind === "InlineFragment" && selection.typeCondition !== undefined ? [selection.typeCondition] : [];
}

type IsSelected = (typename: string, fieldName: string) => boolean;

/** In the order of their first fields. */
function listRequirements(operation: OperationDefinitionNode, requirementOf: RequirementOf): readonly string[] {
  const requirements = new Set<string>();
  selectFields(operation, (typename, name) => {
    requirements.add(requirementOf(typename, name));
    return true;
  });
  return [...requirements];
}

function selectBranch(
  operation: OperationDefinitionNode,
  isSelected: IsSelected,
): Pick<FetchNode, "operation" | "variableUsages"> {
  const branch = selectFields(operation, isSelected);
  const used = listVariables(branch.selectionSet);
  const variableDefinitions = branch.variableDefinitions?.filter(({ variable }) => used.has(variable.name.value)) ?? [];
  // The planner does not list the variable of the representations.
  const variableUsages = [...used].filter((name) => name !== "representations");
  return { operation: stripIgnoredCharacters(print({ ...branch, variableDefinitions })), variableUsages };
}

/** Keeps `__typename`. Fragments without another field are left out. */
function selectFields(operation: OperationDefinitionNode, isSelected: IsSelected): OperationDefinitionNode {
  return withSelections(
    operation,
    operation.selectionSet.selections.map((entities) =>
      entities.kind === Kind.FIELD && entities.selectionSet
        ? withSelections(
            entities,
            entities.selectionSet.selections.flatMap((fragment) => selectInFragment(fragment, isSelected)),
          )
        : entities,
    ),
  );
}

function selectInFragment(fragment: SelectionNode, isSelected: IsSelected): readonly SelectionNode[] {
  if (fragment.kind !== Kind.INLINE_FRAGMENT) return [fragment];
  const typename = fragment.typeCondition?.name.value ?? "";
  const { selections } = fragment.selectionSet;
  const fields = selections.filter((one) => one.kind !== Kind.FIELD || one.name.value !== "__typename");
  const selected = fields.filter((one) => isSelected(typename, one.kind === Kind.FIELD ? one.name.value : ""));
  if (selected.length === 0) return [];
  const others = selections.filter((one) => !fields.includes(one));
  return [withSelections(fragment, [...others, ...selected])];
}

function toNameTree(sets: readonly string[]): NameTree {
  const tree: NameTree = new Map();
  for (const set of sets) if (set !== "") addNames(parseFieldSet(set), tree);
  return tree;
}

function addNames({ selections }: SelectionSetNode, tree: NameTree): void {
  for (const selection of selections) {
    if (selection.kind === Kind.INLINE_FRAGMENT) addNames(selection.selectionSet, tree);
    if (selection.kind !== Kind.FIELD) continue;
    const below: NameTree = tree.get(selection.name.value) ?? new Map();
    tree.set(selection.name.value, below);
    if (selection.selectionSet) addNames(selection.selectionSet, below);
  }
}

/** Fields that no branch requires remain, such as `__typename`. */
function keepNeeded(
  selections: readonly QueryPlanSelectionNode[],
  needed: NameTree,
  required: NameTree,
): QueryPlanSelectionNode[] {
  return selections.flatMap((selection): QueryPlanSelectionNode[] => {
    if (selection.kind === "InlineFragment")
      return [{ ...selection, selections: keepNeeded(selection.selections, needed, required) }];
    const requiredBelow = required.get(selection.name);
    if (!requiredBelow) return [selection];
    const neededBelow = needed.get(selection.name);
    if (!neededBelow) return [];
    if (!selection.selections) return [selection];
    return [{ ...selection, selections: keepNeeded(selection.selections, neededBelow, requiredBelow) }];
  });
}
