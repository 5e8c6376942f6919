// Progressive `@override`: finds on which labels the plan of each field depends, and makes the planner follow them through interfaces.
import type { DirectiveNode } from "graphql";
import { argumentOf, asExternal, isNamed, stringOf } from "./supergraph-directives.ts";
import {
  type EditedType,
  implementsInterface,
  isSameOrRelated,
  listSelectedFields,
  parseFieldSet,
  type SupergraphEdit,
  type SupergraphView,
} from "./supergraph-edit.ts";

/** By field coordinate (`Type.field`), without fields that depend on no label. */
export type OverrideLabels = ReadonlyMap<string, readonly string[]>;

/** An operation that depends on n of them has up to n + 1 plans. */
const labelsMax = 32;

/**
 * On its own label, and on those of the fields that the planner may fetch for it: `@requires` fields, key fields, and what these need. A label of
 * `Type.field` also counts in the interfaces and implementations of `Type`.
 * @throws Error if the supergraph has more than `labelsMax` labels.
 */
export function findOverrideLabels(supergraph: SupergraphView): OverrideLabels {
  const labelled = findLabelledFields(supergraph);
  const labels = new Set(labelled.map(({ label }) => label));
  if (labels.size > labelsMax)
    throw new Error(
      `The supergraph cannot be served: it has ${labels.size} labels of @override, ${labelsMax} at most.`,
    );
  const labelsByField = new Map<string, readonly string[]>();
  if (labelled.length === 0) return labelsByField;
  const dependents = findDependents(supergraph);
  for (const { coordinates, label } of labelled) {
    for (const coordinate of withDependents(coordinates, dependents)) {
      const known = labelsByField.get(coordinate) ?? [];
      if (!known.includes(label)) labelsByField.set(coordinate, [...known, label]);
    }
  }
  return labelsByField;
}

/**
 * Makes a labelled field external in the interfaces of its type, in the subgraphs with the label: the planner reads labels only where it collects a
 * field from an object type (query-graphs 2.14.4, `maybeAddInterfaceFieldsEdges`).
 */
export function readLabelsThroughInterfaces(edit: SupergraphEdit): void {
  for (const type of edit.types.values()) {
    for (const [fieldName, { directives }] of type.members) {
      const graphs = directives.filter(isLabelled).map((join) => argumentOf(join, "graph"));
      if (graphs.length === 0) continue;
      const interfaces = [...edit.types].filter(([name]) => implementsInterface(type, name));
      for (const [, interfaceType] of interfaces) makeExternalIn(graphs, interfaceType, fieldName, edit);
    }
  }
}

function makeExternalIn(graphs: readonly unknown[], type: EditedType, fieldName: string, edit: SupergraphEdit): void {
  const field = type.members.get(fieldName);
  if (!field) return;
  edit.makeJoinsExplicit(field, type);
  edit.changeDirectives(field, (joins) =>
    joins.map((join) => (isFieldJoin(join) && graphs.includes(argumentOf(join, "graph")) ? asExternal(join) : join)),
  );
}

const isFieldJoin = isNamed("join__field");

function isLabelled(directive: DirectiveNode): boolean {
  return isFieldJoin(directive) && stringOf(directive, "overrideLabel") !== undefined;
}

interface LabelledField {
  readonly label: string;
  readonly coordinates: readonly string[];
}

function findLabelledFields(supergraph: SupergraphView): readonly LabelledField[] {
  const labelled: LabelledField[] = [];
  for (const [typeName, { members }] of supergraph.types) {
    for (const [fieldName, { directives }] of members) {
      const labels = valuesOf(directives, "join__field", "overrideLabel");
      if (labels.length === 0) continue;
      const coordinates = relatedTypes(supergraph, typeName).map((name) => `${name}.${fieldName}`);
      for (const label of labels) labelled.push({ label, coordinates });
    }
  }
  return labelled;
}

/** By the coordinate of a required field or key field: the fields for which the planner may fetch it. */
type Dependents = ReadonlyMap<string, ReadonlySet<string>>;

function findDependents(supergraph: SupergraphView): Dependents {
  const dependents = new Map<string, Set<string>>();
  for (const [typeName, { directives: typeJoins, members }] of supergraph.types) {
    const coordinatesOf = (set: string) =>
      listSelectedFields(supergraph, typeName, parseFieldSet(set)).map(
        (selected) => `${selected.typeName}.${selected.field.name.value}`,
      );
    const keyFields = valuesOf(typeJoins, "join__type", "key").flatMap(coordinatesOf);
    const relatedNames = relatedTypes(supergraph, typeName);
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
  for (const coordinate of reached) {
    for (const dependent of dependents.get(coordinate) ?? []) reached.add(dependent);
  }
  return reached;
}

function relatedTypes(supergraph: SupergraphView, typeName: string): readonly string[] {
  return [...supergraph.types.keys()].filter((name) => isSameOrRelated(supergraph, name, typeName));
}

function valuesOf(directives: readonly DirectiveNode[], directiveName: string, argument: string): readonly string[] {
  return directives.filter(isNamed(directiveName)).flatMap((directive) => stringOf(directive, argument) ?? []);
}
