// Adds a virtual subgraph: an additional subgraph for an existing service, into which the fields that separate-requires.ts chooses move.
import { type ConstDirectiveNode, Kind, type SelectionSetNode } from "graphql";
import {
  argumentOf,
  asExternal,
  isFieldIn,
  isInterfaceObject,
  isJoin,
  isNamed,
  isResolvable,
  joinDirective,
  needsOtherSubgraph,
  resolvableKeysOf,
  stringOf,
  withArgument,
} from "./supergraph-directives.ts";
import {
  type EditedMember,
  type EditedType,
  fieldNodeOf,
  implementsInterface,
  namedTypeOf,
  parseFieldSet,
  type SupergraphEdit,
  type SupergraphView,
} from "./supergraph-edit.ts";

export interface MovedField {
  readonly typeName: string;
  readonly fieldName: string;
  /** The subgraph from which the field moves. */
  readonly graph: string;
}

/** By object type of the virtual subgraph: the interface object that the service has instead. */
export type InterfaceObjects = ReadonlyMap<string, string>;

/** By type name and field name: whether the field is external in the virtual subgraph. */
type SubgraphContents = Map<string, Map<string, boolean>>;

/** `internal`: never external, even a key field. Undefined: external if the real subgraph cannot resolve the field alone. */
type Externality = "internal" | "external";

/**
 * `virtual` contains the moved fields, what they require, the types of their values, and the keys of entities. Entities below the moved fields have
 * only their keys in it, so that the planner returns to the real subgraphs.
 * Instead of an interface object, it has the types that implement the interface: the planner finds no paths through several interface objects.
 */
export function addVirtualSubgraph(
  edit: SupergraphEdit,
  graph: string,
  virtual: string,
  moved: readonly MovedField[],
): InterfaceObjects {
  const contents = collectContents(edit, graph, moved);
  const interfaceObjects = new Map(
    moved.flatMap(({ typeName }) => findImplementations(edit, graph, typeName, contents)),
  );
  const query = edit.types.get(edit.queryType);
  // The virtual subgraph has the query type, but none of its fields.
  if (query) joinType(edit, query, query, { graph, virtual, fields: new Map() });
  for (const [typeName, fields] of contents) {
    const model = edit.types.get(typeName);
    for (const joinedName of replacementsOf(typeName, interfaceObjects)) {
      const type = edit.types.get(joinedName);
      if (type && model) joinType(edit, type, model, { graph, virtual, fields });
    }
  }
  for (const typeName of contents.keys()) {
    const type = edit.types.get(typeName);
    if (type) edit.addJoins(type, findAbstractJoins(type, graph, contents), virtual);
  }
  const isFieldJoin = isJoin("join__field", graph);
  for (const { typeName, fieldName } of moved) {
    const field = edit.types.get(typeName)?.members.get(fieldName);
    if (field) edit.changeDirectives(field, (joins) => joins.map((one) => (isFieldJoin(one) ? asExternal(one) : one)));
  }
  return interfaceObjects;
}

function replacementsOf(typeName: string, interfaceObjects: InterfaceObjects): readonly string[] {
  const implementations = [...interfaceObjects.keys()].filter((name) => interfaceObjects.get(name) === typeName);
  return implementations.length > 0 ? implementations : [typeName];
}

/** Empty if the type is no interface object, or if a field of the contents has this type. */
function findImplementations({ types }: SupergraphView, graph: string, typeName: string, contents: SubgraphContents) {
  if (!isInterfaceObject(types.get(typeName), graph)) return [];
  const fields = [...contents].flatMap(([owner, names]) =>
    [...names.keys()].map((name) => fieldNodeOf(types.get(owner)?.members.get(name))),
  );
  if (fields.some((field) => field && namedTypeOf(field.type) === typeName)) return [];
  const implementations = [...types].filter(
    ([, type]) => type.node.kind === Kind.OBJECT_TYPE_DEFINITION && implementsInterface(type, typeName),
  );
  return implementations.map(([name]) => [name, typeName] as const);
}

function collectContents(supergraph: SupergraphView, graph: string, moved: readonly MovedField[]): SubgraphContents {
  const contents: SubgraphContents = new Map();

  /** An entity with its keys, another type with all its fields, an abstract type with all its possible types. */
  function addType(typeName: string): void {
    const type = supergraph.types.get(typeName);
    if (!type?.directives.some(isJoin("join__type", graph))) return;
    if (contents.has(typeName) || typeName === supergraph.queryType) return;
    contents.set(typeName, new Map());
    const keys = resolvableKeysOf(type, graph);
    for (const key of keys) addSet(typeName, parseFieldSet(key), "internal");
    for (const possible of possibleTypes(supergraph, type, graph)) addType(possible);
    const isEntity = keys.length > 0;
    if (isEntity) return;
    for (const name of type.members.keys()) addField(typeName, name);
  }

  /** A field that is added twice is external only if it is external both times. @returns the name of its type; undefined if it is not added. */
  function addField(typeName: string, name: string, externality?: Externality): string | undefined {
    const member = supergraph.types.get(typeName)?.members.get(name);
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
      if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
      const { selectionSet } = selection;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        addSet(selection.typeCondition?.name.value ?? typeName, selection.selectionSet, externality);
        continue;
      }
      const isInternal = externality === "internal";
      const fieldType = addField(typeName, selection.name.value, isInternal || selectionSet ? externality : undefined);
      if (fieldType !== undefined && selectionSet) addSet(fieldType, selectionSet, isInternal ? "internal" : undefined);
    }
  }

  for (const { typeName, fieldName } of moved) {
    const fieldJoin = supergraph.types
      .get(typeName)
      ?.members.get(fieldName)
      ?.directives.find(isJoin("join__field", graph));
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

function argumentTypesOf({ node }: EditedMember): readonly string[] {
  return "arguments" in node ? (node.arguments ?? []).map(({ type }) => namedTypeOf(type)) : [];
}

/** As the subgraph has them. */
function possibleTypes(supergraph: SupergraphView, type: EditedType, graph: string): readonly string[] {
  const name = type.node.name.value;
  const memberJoins = type.directives.filter(isJoin("join__unionMember", graph));
  const members = memberJoins.flatMap((memberJoin) => stringOf(memberJoin, "member") ?? []);
  const isImplementsJoin = isJoin("join__implements", graph);
  const implementations = [...supergraph.types].filter(([, { directives }]) =>
    directives.some((directive) => isImplementsJoin(directive) && argumentOf(directive, "interface") === name),
  );
  return [...members, ...implementations.map(([implementation]) => implementation)];
}

interface TypeJoin {
  readonly graph: string;
  readonly virtual: string;
  readonly fields: ReadonlyMap<string, boolean>;
}

/** The type gets the directives that `model` has in the real subgraph. */
function joinType(
  edit: SupergraphEdit,
  type: EditedType,
  model: EditedType,
  { graph, virtual, fields }: TypeJoin,
): void {
  for (const [name, member] of type.members) {
    if (member.node.kind === Kind.ENUM_VALUE_DEFINITION) {
      edit.addJoins(member, member.directives.filter(isJoin("join__enumValue", graph)), virtual);
      continue;
    }
    const isExternal = fields.get(name);
    // Without a `@join__field`, the field is in all subgraphs of its type, the virtual one included.
    if (isExternal === false && !member.directives.some(isNamed("join__field"))) continue;
    edit.makeJoinsExplicit(member, type);
    if (isExternal === undefined) continue;
    const join = model.members.get(name)?.directives.find(isJoin("join__field", graph));
    const copied = join ?? joinDirective("join__field", graph);
    edit.addJoins(member, [isExternal ? asExternal(copied) : withArgument(copied, "external", undefined)], virtual);
  }
  const joins = joinsToCopy(model, graph);
  const asObjectType = (join: ConstDirectiveNode) => withArgument(join, "isInterfaceObject", undefined);
  edit.addJoins(type, type === model ? joins : joins.map(asObjectType), virtual);
}

/** The `@join__type` directives with a resolvable key. If there are none, one without a key. */
function joinsToCopy(model: EditedType, graph: string): readonly ConstDirectiveNode[] {
  const joins = model.directives.filter(isJoin("join__type", graph));
  const resolvable = joins.filter((join) => isResolvable(join) && stringOf(join, "key") !== undefined);
  if (resolvable.length > 0) return resolvable;
  return joins.slice(0, 1).map((join) => withArgument(withArgument(join, "key", undefined), "resolvable", undefined));
}

function findAbstractJoins({ directives }: EditedType, graph: string, contents: SubgraphContents) {
  const isImplementsJoin = isJoin("join__implements", graph);
  const isMemberJoin = isJoin("join__unionMember", graph);
  return directives.filter(
    (join) => isMemberJoin(join) || (isImplementsJoin(join) && contents.has(String(argumentOf(join, "interface")))),
  );
}
