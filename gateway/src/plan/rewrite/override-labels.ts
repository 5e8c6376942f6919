// Stage 3 of 5: plan. Which labels of progressive `@override` the plan of a field depends on.
import { type DirectiveNode, Kind, type SelectionSetNode } from "graphql";
import { isSameOrRelated } from "./separate-requires.ts";
import {
  fieldNodeOf,
  isNamed,
  namedTypeOf,
  parseFieldSet,
  stringOf,
  type SupergraphDraft,
} from "./supergraph-draft.ts";

/** Labels by field coordinate (`Type.field`). A field whose plan depends on no label is absent. */
export type OverrideLabels = ReadonlyMap<string, readonly string[]>;

/** Of one supergraph. An operation has a plan for each combination of the labels that it depends on. */
const labelsMax = 32;

/**
 * A label on a field concerns that field and each field for which the planner may fetch it: one that requires it, one of an entity with it
 * in a key, one that these need in turn. What concerns a field of an object type concerns the same field of its interfaces, and vice versa.
 * @throws Error if the supergraph has more than `labelsMax` labels.
 */
export function findOverrideLabels(draft: SupergraphDraft): OverrideLabels {
  const labelled = listLabelled(draft);
  const labels = new Set(labelled.map(({ label }) => label));
  if (labels.size > labelsMax)
    throw new Error(
      `The supergraph cannot be served: it has ${labels.size} labels of @override, ${labelsMax} at most.`,
    );
  const found = new Map<string, readonly string[]>();
  if (labelled.length === 0) return found;
  const dependents = findDependents(draft);
  for (const { coordinates, label } of labelled) {
    for (const coordinate of withDependents(coordinates, dependents))
      found.set(coordinate, [...new Set([...(found.get(coordinate) ?? []), label])]);
  }
  return found;
}

function listLabelled(draft: SupergraphDraft) {
  return [...draft.types].flatMap(([typeName, { members }]) =>
    [...members].flatMap(([fieldName, { directives }]) => {
      const labels = valuesOf(directives, "join__field", "overrideLabel");
      const coordinates =
        labels.length === 0 ? [] : relatedTypes(draft, typeName).map((name) => `${name}.${fieldName}`);
      return labels.map((label) => ({ coordinates, label }));
    }),
  );
}

type Dependents = ReadonlyMap<string, ReadonlySet<string>>;

/** By the coordinate of each field: the fields for which the planner may fetch it. */
function findDependents(draft: SupergraphDraft): Dependents {
  const dependents = new Map<string, Set<string>>();
  for (const [typeName, { directives: joins, members }] of draft.types) {
    const coordinatesOf = (set: string) => coordinatesIn(draft, typeName, parseFieldSet(set));
    const inKeys = valuesOf(joins, "join__type", "key").flatMap(coordinatesOf);
    const related = relatedTypes(draft, typeName);
    for (const [fieldName, { directives }] of members) {
      const required = valuesOf(directives, "join__field", "requires").flatMap(coordinatesOf);
      const own = related.map((name) => `${name}.${fieldName}`);
      for (const coordinate of [...inKeys, ...required]) addAll(dependents, coordinate, own);
    }
  }
  return dependents;
}

function addAll(dependents: Map<string, Set<string>>, coordinate: string, added: readonly string[]): void {
  const known = dependents.get(coordinate) ?? new Set();
  for (const one of added) known.add(one);
  dependents.set(coordinate, known);
}

function withDependents(coordinates: readonly string[], dependents: Dependents): ReadonlySet<string> {
  const reached = new Set(coordinates);
  for (const one of reached) dependents.get(one)?.forEach((dependent) => reached.add(dependent));
  return reached;
}

/** The fields of a field set, with those below them. */
function coordinatesIn(draft: SupergraphDraft, typeName: string, { selections }: SelectionSetNode): readonly string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return coordinatesIn(draft, selection.typeCondition?.name.value ?? typeName, selection.selectionSet);
    const fieldName = selection.name.value;
    const type = fieldNodeOf(draft.types.get(typeName)?.members.get(fieldName))?.type;
    const below = type && selection.selectionSet && coordinatesIn(draft, namedTypeOf(type), selection.selectionSet);
    return [`${typeName}.${fieldName}`, ...(below ?? [])];
  });
}

/** The type with its interfaces or implementations. */
function relatedTypes(draft: SupergraphDraft, typeName: string): readonly string[] {
  return [...draft.types.keys()].filter((name) => isSameOrRelated(draft, name, typeName));
}

function valuesOf(directives: readonly DirectiveNode[], directive: string, argument: string): readonly string[] {
  return directives.filter(isNamed(directive)).flatMap((one) => stringOf(one, argument) ?? []);
}
