// Progressive `@override`: finds on which labels the plan of each field depends, and makes the planner follow them through interfaces.
// planner-supergraph.ts calls it once per supergraph, and override-combinations.ts reads the labels for each operation.
import { type DirectiveNode, Kind, type SelectionSetNode } from "graphql";
import { addExplicitJoins, argumentOf, isNamed, stringOf } from "./supergraph-directives.ts";
import {
  fieldNodeOf,
  implementsInterface,
  isSameOrRelated,
  namedTypeOf,
  parseFieldSet,
  type SupergraphDraft,
  type TypeDraft,
} from "./supergraph-draft.ts";
import { asExternal } from "./virtual-subgraph.ts";

/** Labels by field coordinate (`Type.field`). Fields whose plan depends on no label are absent. */
export type OverrideLabels = ReadonlyMap<string, readonly string[]>;

/** The most labels of one supergraph. An operation that depends on n of them has up to n + 1 plans (plan/override-combinations.ts). */
const labelsMax = 32;

/**
 * The plan of a field depends on the label of that field and on the labels of the fields that the planner may fetch for it: its
 * `@requires` fields, the key fields of its type, and recursively what these need. A label of `Type.field` also counts for the field of this name in
 * the interfaces and implementations of `Type`.
 * @throws Error if the supergraph has more than `labelsMax` labels.
 */
export function findOverrideLabels(draft: SupergraphDraft): OverrideLabels {
  const labelled = findLabelledFields(draft);
  const labels = new Set(labelled.map(({ label }) => label));
  if (labels.size > labelsMax)
    throw new Error(
      `The supergraph cannot be served: it has ${labels.size} labels of @override, ${labelsMax} at most.`,
    );
  const labelsByField = new Map<string, readonly string[]>();
  if (labelled.length === 0) return labelsByField;
  const dependents = findDependents(draft);
  for (const { coordinates, label } of labelled) {
    for (const coordinate of withDependents(coordinates, dependents)) {
      const known = labelsByField.get(coordinate) ?? [];
      if (!known.includes(label)) labelsByField.set(coordinate, [...known, label]);
    }
  }
  return labelsByField;
}

/**
 * If a type has a label on a field, makes the field external in the interfaces of the type, in the subgraphs that have the label. The planner reads
 * labels only where it collects a field from an object type; a field that it can collect from an interface, it always collects in the subgraph where
 * it is (query-graphs 2.14.4, `maybeAddInterfaceFieldsEdges`). If the field is external there, it collects the field from each possible type.
 */
export function readLabelsThroughInterfaces(draft: SupergraphDraft): void {
  for (const type of draft.types.values()) {
    for (const [fieldName, { directives }] of type.members) {
      const graphs = directives.filter(isLabelled).map((join) => argumentOf(join, "graph"));
      const interfaces = [...draft.types].filter(([name]) => graphs.length > 0 && implementsInterface(type, name));
      for (const [, interfaceType] of interfaces) makeExternalIn(graphs, interfaceType, fieldName);
    }
  }
}

function makeExternalIn(graphs: readonly unknown[], type: TypeDraft, fieldName: string): void {
  const field = type.members.get(fieldName);
  if (!field) return;
  const isFieldJoin = isNamed("join__field");
  if (!field.directives.some(isFieldJoin)) addExplicitJoins(field, type);
  field.directives = field.directives.map((directive) =>
    isFieldJoin(directive) && graphs.includes(argumentOf(directive, "graph")) ? asExternal(directive) : directive,
  );
}

function isLabelled(directive: DirectiveNode): boolean {
  return isNamed("join__field")(directive) && stringOf(directive, "overrideLabel") !== undefined;
}

interface LabelledField {
  readonly label: string;
  /** Of the field in its type, and in the interfaces and implementations of that type. */
  readonly coordinates: readonly string[];
}

function findLabelledFields(draft: SupergraphDraft): readonly LabelledField[] {
  const labelled: LabelledField[] = [];
  for (const [typeName, { members }] of draft.types) {
    for (const [fieldName, { directives }] of members) {
      const labels = valuesOf(directives, "join__field", "overrideLabel");
      if (labels.length === 0) continue;
      const coordinates = relatedTypes(draft, typeName).map((name) => `${name}.${fieldName}`);
      for (const label of labels) labelled.push({ label, coordinates });
    }
  }
  return labelled;
}

/** By the coordinate of a required field or key field: the fields for which the planner may fetch it. */
type Dependents = ReadonlyMap<string, ReadonlySet<string>>;

function findDependents(draft: SupergraphDraft): Dependents {
  const dependents = new Map<string, Set<string>>();
  for (const [typeName, { directives: typeJoins, members }] of draft.types) {
    const coordinatesOf = (set: string) => coordinatesIn(draft, typeName, parseFieldSet(set));
    const keyFields = valuesOf(typeJoins, "join__type", "key").flatMap(coordinatesOf);
    const relatedNames = relatedTypes(draft, typeName);
    for (const [fieldName, { directives }] of members) {
      const requiredFields = valuesOf(directives, "join__field", "requires").flatMap(coordinatesOf);
      const fields = relatedNames.map((name) => `${name}.${fieldName}`);
      for (const needed of [...keyFields, ...requiredFields]) addAll(dependents, needed, fields);
    }
  }
  return dependents;
}

function addAll(dependents: Map<string, Set<string>>, coordinate: string, fields: readonly string[]): void {
  const known = dependents.get(coordinate) ?? new Set();
  for (const field of fields) known.add(field);
  dependents.set(coordinate, known);
}

function withDependents(coordinates: readonly string[], dependents: Dependents): ReadonlySet<string> {
  const reached = new Set(coordinates);
  // The outer loop also visits the coordinates that are added to the set.
  for (const coordinate of reached) {
    for (const dependent of dependents.get(coordinate) ?? []) reached.add(dependent);
  }
  return reached;
}

/** The coordinates of all fields in a field set, nested ones included. */
function coordinatesIn(draft: SupergraphDraft, typeName: string, { selections }: SelectionSetNode): readonly string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return coordinatesIn(draft, selection.typeCondition?.name.value ?? typeName, selection.selectionSet);
    const fieldName = selection.name.value;
    const coordinate = `${typeName}.${fieldName}`;
    const fieldType = fieldNodeOf(draft.types.get(typeName)?.members.get(fieldName))?.type;
    if (!fieldType || !selection.selectionSet) return [coordinate];
    return [coordinate, ...coordinatesIn(draft, namedTypeOf(fieldType), selection.selectionSet)];
  });
}

/** The type itself, its interfaces and its implementations. */
function relatedTypes(draft: SupergraphDraft, typeName: string): readonly string[] {
  return [...draft.types.keys()].filter((name) => isSameOrRelated(draft, name, typeName));
}

/** The values of an argument of all directives with this name. */
function valuesOf(directives: readonly DirectiveNode[], directiveName: string, argument: string): readonly string[] {
  return directives.filter(isNamed(directiveName)).flatMap((directive) => stringOf(directive, argument) ?? []);
}
