// Stage 3 of 5: how to answer? A second face of a subgraph in the planner's supergraph: the same service, with some fields moved to it.
import { type ConstDirectiveNode, Kind, type SelectionSetNode } from "graphql";
import { isForeign, isIn, isOf, joinDirective, keysOf, sayWhere, withGraph } from "./join-directives.ts";
import {
  argumentOf,
  stringOf,
  isNamed,
  isResolvable,
  type MemberDraft,
  namedTypeOf,
  parseFieldSet,
  type SupergraphDraft,
  type TypeDraft,
  withArgument,
} from "./supergraph-draft.ts";

/** Fields by type that the virtual subgraph has. True: external there. */
type Wanted = Map<string, Map<string, boolean>>;

/**
 * Own: not external, whatever the subgraph says; federation 1 has external keys. Undefined: as the subgraph says. External counts for
 * objects only; other values that the subgraph can tell by itself it tells.
 */
type Standing = "own" | "external";

export interface MovedField {
  readonly typeName: string;
  readonly fieldName: string;
  /** The value of `join__Graph` for the subgraph that has the field. */
  readonly graph: string;
}

/** Object types by name, with the interface object of the service that stands for them. */
export type StandIns = ReadonlyMap<string, string>;

/**
 * Adds a subgraph to which the fields move, all of them of one subgraph. It has beside them what their keys, requirements and values
 * need; of entities below them only the keys, so that the planner goes back to the subgraph they come from. Instead of an interface
 * object it has the types that implement the interface: the planner loses its way among several interface objects.
 */
export function addVirtualSubgraph(
  draft: SupergraphDraft,
  graph: string,
  virtual: string,
  moved: readonly MovedField[],
): StandIns {
  const wanted = collectWanted(draft, graph, moved);
  const standIns = new Map(moved.flatMap(({ typeName }) => findStandIns(draft, graph, typeName, wanted)));
  const query = draft.types.get(draft.queryType);
  if (query) joinType(query, query, { graph, virtual, wanted: new Map() });
  for (const [typeName, members] of wanted) {
    const objects = [...standIns].flatMap(([object, standIn]) => (standIn === typeName ? object : []));
    const model = draft.types.get(typeName);
    for (const joined of objects.length > 0 ? objects : [typeName]) {
      const type = draft.types.get(joined);
      if (type && model) joinType(type, model, { graph, virtual, wanted: members });
    }
  }
  for (const type of draft.types.values()) joinAbstract(type, graph, virtual, wanted);
  for (const { typeName, fieldName } of moved) leaveExternal(draft.types.get(typeName)?.members.get(fieldName), graph);
  return standIns;
}

/** The types that implement the interface, if the subgraph knows it as an interface object, and not as the type of a field that is wanted. */
function findStandIns({ types }: SupergraphDraft, graph: string, typeName: string, wanted: Wanted) {
  const joins = types.get(typeName)?.directives.filter(isOf("join__type", graph)) ?? [];
  if (!joins.some((one) => argumentOf(one, "isInterfaceObject") === true)) return [];
  const fields = [...wanted].flatMap(([owner, names]) =>
    [...names.keys()].map((name) => types.get(owner)?.members.get(name)),
  );
  if (fields.some((field) => field && "type" in field.node && namedTypeOf(field.node.type) === typeName)) return [];
  return [...types].flatMap(([name, { node }]) => {
    const isObject = node.kind === Kind.OBJECT_TYPE_DEFINITION;
    const implementing = isObject && node.interfaces?.some((implemented) => implemented.name.value === typeName);
    return implementing === true ? [[name, typeName] as const] : [];
  });
}

function collectWanted(draft: SupergraphDraft, graph: string, moved: readonly MovedField[]): Wanted {
  const wanted: Wanted = new Map();

  /** Entities by their keys, other types whole, abstract types with all that they can be. */
  function reach(typeName: string): void {
    const type = draft.types.get(typeName);
    if (!type?.directives.some(isOf("join__type", graph)) || wanted.has(typeName) || typeName === draft.queryType)
      return;
    wanted.set(typeName, new Map());
    const keys = keysOf(type, graph);
    for (const key of keys) wantSet(typeName, parseFieldSet(key), "own");
    for (const possible of possibleTypes(draft, type, graph)) reach(possible);
    if (keys.length === 0) for (const name of type.members.keys()) want(typeName, name);
  }

  /** @returns the type of the field. */
  function want(typeName: string, name: string, standing?: Standing): string | undefined {
    const member = draft.types.get(typeName)?.members.get(name);
    const members = wanted.get(typeName);
    if (!member || !members || !isIn(member, graph) || member.node.kind === Kind.ENUM_VALUE_DEFINITION)
      return undefined;
    const below = namedTypeOf(member.node.type);
    const isNew = !members.has(name);
    const isExternal = standing === undefined ? isForeign(member, graph) : standing === "external";
    members.set(name, isExternal && members.get(name) !== false);
    if (isNew) [below, ...argumentTypesOf(member)].forEach(reach);
    return below;
  }

  function wantSet(typeName: string, { selections }: SelectionSetNode, standing?: Standing): void {
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        wantSet(selection.typeCondition?.name.value ?? typeName, selection.selectionSet, standing);
      else if (selection.kind === Kind.FIELD) {
        const below = want(
          typeName,
          selection.name.value,
          selection.selectionSet || standing === "own" ? standing : undefined,
        );
        if (below !== undefined && selection.selectionSet)
          wantSet(below, selection.selectionSet, standing === "own" ? standing : undefined);
      }
    }
  }

  for (const { typeName, fieldName } of moved) {
    const directive = draft.types.get(typeName)?.members.get(fieldName)?.directives.find(isOf("join__field", graph));
    reach(typeName);
    const below = want(typeName, fieldName, "own");
    // A required object is taken from where the client takes it, even from this service: asked in two places it would be merged.
    wantSet(typeName, parseFieldSet((directive && stringOf(directive, "requires")) ?? "__typename"), "external");
    const provides = directive && stringOf(directive, "provides");
    if (below !== undefined && provides !== undefined) wantSet(below, parseFieldSet(provides));
  }
  return wanted;
}

function argumentTypesOf({ node }: MemberDraft): readonly string[] {
  return "arguments" in node ? (node.arguments ?? []).map(({ type }) => namedTypeOf(type)) : [];
}

function possibleTypes(draft: SupergraphDraft, type: TypeDraft, graph: string): readonly string[] {
  const name = type.node.name.value;
  const members = type.directives
    .filter(isOf("join__unionMember", graph))
    .flatMap((one) => stringOf(one, "member") ?? []);
  const implementations = [...draft.types].filter(([, { directives }]) =>
    directives.some((one) => isOf("join__implements", graph)(one) && argumentOf(one, "interface") === name),
  );
  return [...members, ...implementations.map(([implementation]) => implementation)];
}

interface Joining {
  readonly graph: string;
  readonly virtual: string;
  /** Of the type's fields. */
  readonly wanted: ReadonlyMap<string, boolean>;
}

/** Gives the type, and those of its fields that are wanted, to the virtual subgraph, as `model` is in the real one. */
function joinType(type: TypeDraft, model: TypeDraft, { graph, virtual, wanted }: Joining): void {
  for (const [name, member] of type.members) {
    const external = wanted.get(name);
    if (member.node.kind === Kind.ENUM_VALUE_DEFINITION) copyFor(member, "join__enumValue", graph, virtual);
    else {
      const isSilent = !member.directives.some(isNamed("join__field"));
      // A silent field is in all subgraphs of its type, and so in this one.
      if (isSilent && external === false) continue;
      if (isSilent) sayWhere(member, type);
      if (external !== undefined)
        member.directives = [...member.directives, joinAs(model.members.get(name), { graph, virtual, external })];
    }
  }
  const joins = model.directives.filter(isOf("join__type", graph));
  const resolvable = joins.filter((one) => isResolvable(one) && stringOf(one, "key") !== undefined);
  const [first] = joins;
  const copied = resolvable.length > 0 || !first ? resolvable : [withoutKey(first)];
  type.directives = [
    ...type.directives,
    ...copied.map((one) => withGraph(type === model ? one : asObject(one), virtual)),
  ];
}

function asObject(joinType: ConstDirectiveNode): ConstDirectiveNode {
  return withArgument(joinType, "isInterfaceObject", undefined);
}

function withoutKey(directive: ConstDirectiveNode): ConstDirectiveNode {
  return withArgument(withArgument(directive, "key", undefined), "resolvable", undefined);
}

function joinAs(
  model: MemberDraft | undefined,
  { graph, virtual, external }: { readonly graph: string; readonly virtual: string; readonly external: boolean },
): ConstDirectiveNode {
  const own = model?.directives.find(isOf("join__field", graph)) ?? joinDirective("join__field", graph);
  return withGraph(external ? asExternal(own) : withArgument(own, "external", undefined), virtual);
}

function joinAbstract(type: TypeDraft, graph: string, virtual: string, wanted: Wanted): void {
  if (!wanted.has(type.node.name.value)) return;
  copyFor(type, "join__unionMember", graph, virtual);
  const implemented = type.directives.filter(isOf("join__implements", graph));
  const kept = implemented.filter((one) => wanted.has(String(argumentOf(one, "interface"))));
  type.directives = [...type.directives, ...kept.map((one) => withGraph(one, virtual))];
}

function copyFor(owner: MemberDraft | TypeDraft, directiveName: string, graph: string, virtual: string): void {
  const own = owner.directives.filter(isOf(directiveName, graph));
  owner.directives = [...owner.directives, ...own.map((one) => withGraph(one, virtual))];
}

/** The subgraph itself knows the moved field still, as one that others resolve. */
function leaveExternal(member: MemberDraft | undefined, graph: string): void {
  if (!member) return;
  const isOwn = isOf("join__field", graph);
  member.directives = member.directives.map((one) => (isOwn(one) ? asExternal(one) : one));
}

function asExternal(joinField: ConstDirectiveNode): ConstDirectiveNode {
  const bare = ["requires", "provides", "override", "overrideLabel"].reduce(
    (directive, name) => withArgument(directive, name, undefined),
    joinField,
  );
  return withArgument(bare, "external", { kind: Kind.BOOLEAN, value: true });
}
