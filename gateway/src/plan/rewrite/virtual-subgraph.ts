// Adds a virtual subgraph to the planner's supergraph: an additional subgraph for an existing service, into which some of its fields move. Called by
// separate-requires.ts, which chooses the fields.
import { type ConstDirectiveNode, type FieldNode, Kind, type SelectionSetNode } from "graphql";
import {
  addExplicitJoins,
  argumentOf,
  isFieldIn,
  isJoin,
  isNamed,
  isResolvable,
  joinDirective,
  needsOtherSubgraph,
  resolvableKeysOf,
  stringOf,
  withArgument,
  withGraph,
} from "./supergraph-directives.ts";
import {
  fieldNodeOf,
  implementsInterface,
  type MemberDraft,
  namedTypeOf,
  parseFieldSet,
  type SupergraphDraft,
  type TypeDraft,
} from "./supergraph-draft.ts";

export interface MovedField {
  readonly typeName: string;
  readonly fieldName: string;
  /** The value of `join__Graph` for the subgraph from which the field moves. */
  readonly graph: string;
}

/** By name of an object type in the virtual subgraph: the name of the interface object that the service has instead. */
export type InterfaceObjects = ReadonlyMap<string, string>;

/** What the virtual subgraph contains. By type name and field name: whether the field is external there. */
type SubgraphContents = Map<string, Map<string, boolean>>;

/**
 * Whether a field is external in the virtual subgraph. `internal`: no, even for a key field that is external in the real subgraph. `external`: yes.
 * Where it is undefined, the field is external if the real subgraph cannot resolve the field alone.
 */
type Externality = "internal" | "external";

/**
 * Adds the virtual subgraph `virtual` of the subgraph `graph`. It contains the moved fields, the fields that they require, the types of their
 * values, and the keys of entities. Entities below the moved fields have only their keys in it, so that the planner returns to the real subgraphs
 * for their other fields.
 *
 * Instead of an interface object, it has the types that implement the interface: the planner does not find paths through several interface
 * objects.
 */
export function addVirtualSubgraph(
  draft: SupergraphDraft,
  graph: string,
  virtual: string,
  moved: readonly MovedField[],
): InterfaceObjects {
  const contents = collectContents(draft, graph, moved);
  const interfaceObjects = new Map(
    moved.flatMap(({ typeName }) => findImplementations(draft, graph, typeName, contents)),
  );
  const query = draft.types.get(draft.queryType);
  // The virtual subgraph has the query type, but none of its fields.
  if (query) joinType(query, query, { graph, virtual, fields: new Map() });
  for (const [typeName, fields] of contents) {
    const model = draft.types.get(typeName);
    for (const joinedName of replacementsOf(typeName, interfaceObjects)) {
      const type = draft.types.get(joinedName);
      if (type && model) joinType(type, model, { graph, virtual, fields });
    }
  }
  for (const type of draft.types.values()) joinAbstractType(type, graph, virtual, contents);
  for (const { typeName, fieldName } of moved) makeExternal(draft.types.get(typeName)?.members.get(fieldName), graph);
  return interfaceObjects;
}

/** The types that the virtual subgraph has instead of an interface object; any other type itself. */
function replacementsOf(typeName: string, interfaceObjects: InterfaceObjects): readonly string[] {
  const implementations = [...interfaceObjects.keys()].filter((name) => interfaceObjects.get(name) === typeName);
  return implementations.length > 0 ? implementations : [typeName];
}

/**
 * The object types that implement an interface object, as entries of `InterfaceObjects`. Empty if the type is no interface object, or if a field of
 * the contents has this type.
 */
function findImplementations({ types }: SupergraphDraft, graph: string, typeName: string, contents: SubgraphContents) {
  const joins = types.get(typeName)?.directives.filter(isJoin("join__type", graph)) ?? [];
  const isInterfaceObject = joins.some((join) => argumentOf(join, "isInterfaceObject") === true);
  if (!isInterfaceObject) return [];
  const fields = [...contents].flatMap(([owner, names]) =>
    [...names.keys()].map((name) => fieldNodeOf(types.get(owner)?.members.get(name))),
  );
  if (fields.some((field) => field && namedTypeOf(field.type) === typeName)) return [];
  const implementations = [...types].filter(
    ([, type]) => type.node.kind === Kind.OBJECT_TYPE_DEFINITION && implementsInterface(type, typeName),
  );
  return implementations.map(([name]) => [name, typeName] as const);
}

function collectContents(draft: SupergraphDraft, graph: string, moved: readonly MovedField[]): SubgraphContents {
  const contents: SubgraphContents = new Map();

  /** Adds a type: an entity with its keys, another type with all its fields, an abstract type with all its possible types. */
  function addType(typeName: string): void {
    const type = draft.types.get(typeName);
    if (!type?.directives.some(isJoin("join__type", graph))) return;
    if (contents.has(typeName) || typeName === draft.queryType) return;
    contents.set(typeName, new Map());
    const keys = resolvableKeysOf(type, graph);
    for (const key of keys) addSet(typeName, parseFieldSet(key), "internal");
    for (const possible of possibleTypes(draft, type, graph)) addType(possible);
    const isEntity = keys.length > 0;
    if (isEntity) return;
    for (const name of type.members.keys()) addField(typeName, name);
  }

  /** A field that is added twice is external only if it is external both times. @returns the name of its type; undefined if it is not added. */
  function addField(typeName: string, name: string, externality?: Externality): string | undefined {
    const member = draft.types.get(typeName)?.members.get(name);
    const fields = contents.get(typeName);
    if (!member || !fields || !isFieldIn(member, graph)) return undefined;
    if (member.node.kind === Kind.ENUM_VALUE_DEFINITION) return undefined;
    const fieldType = namedTypeOf(member.node.type);
    const isNew = !fields.has(name);
    const wasInternal = fields.get(name) === false;
    const isExternal = externality === undefined ? needsOtherSubgraph(member, graph) : externality === "external";
    fields.set(name, isExternal && !wasInternal);
    if (isNew) {
      addType(fieldType);
      for (const argumentType of argumentTypesOf(member)) addType(argumentType);
    }
    return fieldType;
  }

  /** `external` applies to composite fields at the top of the set, `internal` to all fields of the set. */
  function addSet(typeName: string, { selections }: SelectionSetNode, externality?: Externality): void {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        addSet(selection.typeCondition?.name.value ?? typeName, selection.selectionSet, externality);
      else if (selection.kind === Kind.FIELD) addSelected(typeName, selection, externality);
    }
  }

  function addSelected(typeName: string, { name, selectionSet }: FieldNode, externality?: Externality): void {
    const isInternal = externality === "internal";
    const isComposite = selectionSet !== undefined;
    const fieldType = addField(typeName, name.value, isInternal || isComposite ? externality : undefined);
    if (fieldType === undefined || !selectionSet) return;
    addSet(fieldType, selectionSet, isInternal ? "internal" : undefined);
  }

  for (const { typeName, fieldName } of moved) {
    const fieldJoin = draft.types.get(typeName)?.members.get(fieldName)?.directives.find(isJoin("join__field", graph));
    const requires = fieldJoin && stringOf(fieldJoin, "requires");
    const provides = fieldJoin && stringOf(fieldJoin, "provides");
    addType(typeName);
    const fieldType = addField(typeName, fieldName, "internal");
    // External, so that a required object comes from the fetch that resolves it for the client, even if this service could resolve it too:
    // objects of two fetches would have to be merged. "__typename" is for the type only: each moved field has a `@requires`.
    addSet(typeName, parseFieldSet(requires ?? "__typename"), "external");
    if (fieldType !== undefined && provides !== undefined) addSet(fieldType, parseFieldSet(provides));
  }
  return contents;
}

function argumentTypesOf({ node }: MemberDraft): readonly string[] {
  return "arguments" in node ? (node.arguments ?? []).map(({ type }) => namedTypeOf(type)) : [];
}

/** The members of a union or the implementations of an interface, as the subgraph has them. */
function possibleTypes(draft: SupergraphDraft, type: TypeDraft, graph: string): readonly string[] {
  const name = type.node.name.value;
  const memberJoins = type.directives.filter(isJoin("join__unionMember", graph));
  const members = memberJoins.flatMap((memberJoin) => stringOf(memberJoin, "member") ?? []);
  const isImplementsJoin = isJoin("join__implements", graph);
  const implementations = [...draft.types].filter(([, { directives }]) =>
    directives.some((directive) => isImplementsJoin(directive) && argumentOf(directive, "interface") === name),
  );
  return [...members, ...implementations.map(([implementation]) => implementation)];
}

interface TypeJoin {
  readonly graph: string;
  readonly virtual: string;
  /** The type's fields in the virtual subgraph, each with whether it is external. */
  readonly fields: ReadonlyMap<string, boolean>;
}

/** Adds the type and its fields to the virtual subgraph, with the directives that `model` has in the real one. */
function joinType(type: TypeDraft, model: TypeDraft, { graph, virtual, fields }: TypeJoin): void {
  for (const [name, member] of type.members) {
    if (member.node.kind === Kind.ENUM_VALUE_DEFINITION) copyJoins(member, "join__enumValue", graph, virtual);
    else joinField(type, member, model.members.get(name), { graph, virtual, isExternal: fields.get(name) });
  }
  const isModel = type === model;
  const joins = joinsToCopy(model, graph).map((join) => withGraph(isModel ? join : asObjectType(join), virtual));
  type.directives = [...type.directives, ...joins];
}

/** The `@join__type` directives with a resolvable key. If there are none, one without a key. */
function joinsToCopy(model: TypeDraft, graph: string): readonly ConstDirectiveNode[] {
  const joins = model.directives.filter(isJoin("join__type", graph));
  const resolvable = joins.filter((join) => isResolvable(join) && stringOf(join, "key") !== undefined);
  if (resolvable.length > 0) return resolvable;
  const [first] = joins;
  return first ? [withoutKey(first)] : [];
}

interface FieldJoin {
  readonly graph: string;
  readonly virtual: string;
  /** Undefined for a field that is not in the virtual subgraph. */
  readonly isExternal: boolean | undefined;
}

/** @param model the field whose `@join__field` is copied. */
function joinField(
  type: TypeDraft,
  field: MemberDraft,
  model: MemberDraft | undefined,
  { graph, virtual, isExternal }: FieldJoin,
): void {
  const hasNoJoin = !field.directives.some(isNamed("join__field"));
  // Without a `@join__field`, the field is in all subgraphs of its type, the virtual one included.
  if (hasNoJoin && isExternal === false) return;
  if (hasNoJoin) addExplicitJoins(field, type);
  if (isExternal === undefined) return;
  const join = model?.directives.find(isJoin("join__field", graph)) ?? joinDirective("join__field", graph);
  const copied = isExternal ? asExternal(join) : withArgument(join, "external", undefined);
  field.directives = [...field.directives, withGraph(copied, virtual)];
}

function asObjectType(joinTypeDirective: ConstDirectiveNode): ConstDirectiveNode {
  return withArgument(joinTypeDirective, "isInterfaceObject", undefined);
}

function withoutKey(directive: ConstDirectiveNode): ConstDirectiveNode {
  return withArgument(withArgument(directive, "key", undefined), "resolvable", undefined);
}

function joinAbstractType(type: TypeDraft, graph: string, virtual: string, contents: SubgraphContents): void {
  if (!contents.has(type.node.name.value)) return;
  copyJoins(type, "join__unionMember", graph, virtual);
  const implemented = type.directives.filter(isJoin("join__implements", graph));
  const contained = implemented.filter((join) => contents.has(String(argumentOf(join, "interface"))));
  type.directives = [...type.directives, ...contained.map((join) => withGraph(join, virtual))];
}

function copyJoins(owner: MemberDraft | TypeDraft, directiveName: string, graph: string, virtual: string): void {
  const joins = owner.directives.filter(isJoin(directiveName, graph));
  owner.directives = [...owner.directives, ...joins.map((one) => withGraph(one, virtual))];
}

/** Makes a moved field external in the real subgraph. */
function makeExternal(member: MemberDraft | undefined, graph: string): void {
  if (!member) return;
  const isFieldJoin = isJoin("join__field", graph);
  member.directives = member.directives.map((one) => (isFieldJoin(one) ? asExternal(one) : one));
}

/** The `@join__field` of a field that the subgraph does not resolve. */
export function asExternal(joinField: ConstDirectiveNode): ConstDirectiveNode {
  const withoutOthers = ["requires", "provides", "override", "overrideLabel"].reduce(
    (directive, name) => withArgument(directive, name, undefined),
    joinField,
  );
  return withArgument(withoutOthers, "external", { kind: Kind.BOOLEAN, value: true });
}
