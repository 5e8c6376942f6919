// Replaces required fields with arguments by synthetic fields, which only the planner's supergraph has (planner-supergraph.ts). The planner
// identifies a field by its response name, so it would use the client's `price(currency: USD)` for the `price(currency: EUR)` of a `@requires`.
import {
  type ConstArgumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  Kind,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import { isNamed, stringOf, withArgument } from "./supergraph-directives.ts";
import {
  fieldNodeOf,
  implementsInterface,
  namedTypeOf,
  parseFieldSet,
  printFieldSet,
  type SupergraphDraft,
  type TypeDraft,
} from "./supergraph-draft.ts";

/** The field and arguments that a synthetic field replaces. */
interface ReplacedField {
  readonly field: string;
  readonly arguments: readonly ConstArgumentNode[];
}

/** By the name of the synthetic field: `s_price_0` replaces `price(currency: EUR)`. */
export type SyntheticFields = ReadonlyMap<string, ReplacedField>;

/**
 * Adds a synthetic field without arguments for two kinds of fields in a `@requires`: fields that have arguments, and composite fields that have a
 * `@requires` themselves. The `@requires` then selects the synthetic field.
 *
 * Fields with one name and equal arguments share one synthetic field, whatever their type. A composite field with its own `@requires` gets a
 * synthetic field for each field that requires it: below the client's `manager { bonus }`, where `bonus` requires `manager { salary }`, the planner
 * would otherwise fetch the second manager together with the first.
 */
export function addSyntheticFields(draft: SupergraphDraft, prefix: string): SyntheticFields {
  const additions = new Map<string, SyntheticField>();
  const requiring = findRequiringNames(draft);

  /** @param requirer the field whose `@requires` selects `node`. */
  function replace(requirer: string, typeName: string, field: FieldDefinitionNode, node: FieldNode) {
    const isChained = node.selectionSet !== undefined && requiring.has(node.name.value);
    if (!isChained && !field.arguments?.length) return undefined;
    const args = [...(node.arguments ?? [])].sort((one, other) => (one.name.value < other.name.value ? -1 : 1));
    const key = `${node.name.value}(${args.map(print).join(",")})${isChained ? ` of ${requirer}` : ""}`;
    const addition = additions.get(key) ?? {
      name: `${prefix}${node.name.value}_${additions.size}`,
      replaces: { field: node.name.value, arguments: args as readonly ConstArgumentNode[] },
      types: new Set(),
    };
    additions.set(key, addition);
    addition.types.add(typeName);
    return addition.name;
  }

  rewriteRequires(draft, replace);
  for (const { name, replaces, types } of additions.values()) {
    for (const typeName of withImplementations(draft, types)) addField(draft.types.get(typeName), replaces.field, name);
  }
  return new Map([...additions.values()].map(({ name, replaces }) => [name, replaces]));
}

interface SyntheticField {
  readonly name: string;
  readonly replaces: ReplacedField;
  /** The types on which a `@requires` selects it. */
  readonly types: Set<string>;
}

/** The names of fields that have a `@requires` on any type. */
function findRequiringNames({ types }: SupergraphDraft): ReadonlySet<string> {
  const members = [...types.values()].flatMap((type) => [...type.members]);
  const requiring = members.filter(([, { directives }]) =>
    directives.some((one) => isJoinField(one) && stringOf(one, "requires") !== undefined),
  );
  return new Set(requiring.map(([name]) => name));
}

/** The name of the synthetic field that replaces a required field; undefined if the field is not replaced. */
type Replace = (typeName: string, field: FieldDefinitionNode, node: FieldNode) => string | undefined;

function rewriteRequires(
  draft: SupergraphDraft,
  replace: (requirer: string, ...required: Parameters<Replace>) => string | undefined,
) {
  for (const [typeName, type] of draft.types) {
    for (const [fieldName, member] of type.members) {
      member.directives = member.directives.map((directive) => {
        const requires = isJoinField(directive) ? stringOf(directive, "requires") : undefined;
        if (requires === undefined) return directive;
        const requirer = `${typeName}.${fieldName} in ${stringOf(directive, "graph")}`;
        const replaceRequired: Replace = (...required) => replace(requirer, ...required);
        const value = printFieldSet(rewriteSet(draft, typeName, parseFieldSet(requires), replaceRequired));
        return withArgument(directive, "requires", { kind: Kind.STRING, value });
      });
    }
  }
}

const isJoinField = isNamed("join__field");

function rewriteSet(
  draft: SupergraphDraft,
  typeName: string,
  { kind, selections }: SelectionSetNode,
  replace: Replace,
): SelectionSetNode {
  return { kind, selections: selections.map((selection) => rewriteSelection(draft, typeName, selection, replace)) };
}

function rewriteSelection(
  draft: SupergraphDraft,
  typeName: string,
  selection: SelectionNode,
  replace: Replace,
): SelectionNode {
  if (selection.kind === Kind.FRAGMENT_SPREAD) throw new Error(`@requires has a fragment spread on ${typeName}`);
  if (selection.kind === Kind.INLINE_FRAGMENT) {
    const innerType = selection.typeCondition?.name.value ?? typeName;
    return { ...selection, selectionSet: rewriteSet(draft, innerType, selection.selectionSet, replace) };
  }
  const field = fieldNodeOf(draft.types.get(typeName)?.members.get(selection.name.value));
  if (!field) return selection;
  const { selectionSet } = selection;
  const below = selectionSet && { selectionSet: rewriteSet(draft, namedTypeOf(field.type), selectionSet, replace) };
  const name = replace(typeName, field, selection);
  if (name === undefined) return { ...selection, ...below };
  return { ...selection, ...below, name: { kind: Kind.NAME, value: name }, arguments: [] };
}

/** The types, and those that implement them: an implementation must have every field of its interface. */
function withImplementations(draft: SupergraphDraft, typeNames: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(typeNames);
  for (const [name, type] of draft.types) {
    if ([...typeNames].some((typeName) => implementsInterface(type, typeName))) all.add(name);
  }
  return all;
}

/** Adds the synthetic field with the join directives of the replaced field: in the same subgraphs, and external in the same subgraphs. */
function addField(type: TypeDraft | undefined, replacedName: string, name: string): void {
  const replaced = type?.members.get(replacedName);
  const node = fieldNodeOf(replaced);
  if (!type || !replaced || !node) return;
  const added = { kind: node.kind, name: { kind: Kind.NAME, value: name }, type: node.type } as const;
  type.members.set(name, { node: added, directives: replaced.directives });
}
