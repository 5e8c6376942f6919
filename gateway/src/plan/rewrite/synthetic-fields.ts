// Replaces required fields with arguments by synthetic fields, which only the planner's supergraph has (planner-supergraph.ts). The planner
// identifies a field by its response name, so it would use the client's `price(currency: USD)` for the `price(currency: EUR)` of a `@requires`.
import {
  type ArgumentNode,
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

interface SyntheticField {
  readonly name: string;
  readonly replaces: ReplacedField;
  /** The types on which a `@requires` selects it. */
  readonly types: Set<string>;
}

/**
 * The name of the synthetic field that replaces `selected`, a required field of a type; undefined if the field is not replaced.
 * @param requirer identifies the `@requires` that selects the field.
 */
type FindSubstitute = (
  typeName: string,
  definition: FieldDefinitionNode,
  selected: FieldNode,
  requirer: string,
) => string | undefined;

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
  const requiringNames = findRequiringNames(draft);

  const findSubstitute: FindSubstitute = (typeName, definition, selected, requirer) => {
    const name = selected.name.value;
    const isChained = selected.selectionSet !== undefined && requiringNames.has(name);
    const hasArguments = definition.arguments !== undefined && definition.arguments.length > 0;
    if (!isChained && !hasArguments) return undefined;
    const args = sortByName(selected.arguments ?? []);
    const sharedKey = `${name}(${args.map(print).join(",")})`;
    const key = isChained ? `${sharedKey} of ${requirer}` : sharedKey;
    const addition = additions.get(key) ?? {
      name: `${prefix}${name}_${additions.size}`,
      replaces: { field: name, arguments: args as readonly ConstArgumentNode[] },
      types: new Set(),
    };
    additions.set(key, addition);
    addition.types.add(typeName);
    return addition.name;
  };

  rewriteRequires(draft, findSubstitute);
  for (const { name, replaces, types } of additions.values()) {
    for (const typeName of withImplementations(draft, types)) addField(draft.types.get(typeName), replaces.field, name);
  }
  return new Map([...additions.values()].map(({ name, replaces }) => [name, replaces]));
}

function sortByName(args: readonly ArgumentNode[]): readonly ArgumentNode[] {
  return args.toSorted((one, other) => (one.name.value < other.name.value ? -1 : 1));
}

/** The names of fields that have a `@requires` on any type. */
function findRequiringNames({ types }: SupergraphDraft): ReadonlySet<string> {
  const members = [...types.values()].flatMap((type) => [...type.members]);
  const requiring = members.filter(([, { directives }]) =>
    directives.some((one) => isJoinField(one) && stringOf(one, "requires") !== undefined),
  );
  return new Set(requiring.map(([name]) => name));
}

/** How one `@requires` is rewritten. */
interface Rewriting {
  readonly draft: SupergraphDraft;
  readonly requirer: string;
  readonly findSubstitute: FindSubstitute;
}

function rewriteRequires(draft: SupergraphDraft, findSubstitute: FindSubstitute): void {
  for (const [typeName, type] of draft.types) {
    for (const [fieldName, member] of type.members) {
      member.directives = member.directives.map((directive) => {
        const requires = isJoinField(directive) ? stringOf(directive, "requires") : undefined;
        if (requires === undefined) return directive;
        const requirer = `${typeName}.${fieldName} in ${stringOf(directive, "graph")}`;
        const rewritten = rewriteSet(typeName, parseFieldSet(requires), { draft, requirer, findSubstitute });
        return withArgument(directive, "requires", { kind: Kind.STRING, value: printFieldSet(rewritten) });
      });
    }
  }
}

const isJoinField = isNamed("join__field");

function rewriteSet(typeName: string, { kind, selections }: SelectionSetNode, rewriting: Rewriting): SelectionSetNode {
  return { kind, selections: selections.map((selection) => rewriteSelection(typeName, selection, rewriting)) };
}

function rewriteSelection(typeName: string, selection: SelectionNode, rewriting: Rewriting): SelectionNode {
  if (selection.kind === Kind.FRAGMENT_SPREAD) throw new Error(`@requires has a fragment spread on ${typeName}`);
  if (selection.kind === Kind.INLINE_FRAGMENT) {
    const innerType = selection.typeCondition?.name.value ?? typeName;
    return { ...selection, selectionSet: rewriteSet(innerType, selection.selectionSet, rewriting) };
  }
  const { draft, requirer, findSubstitute } = rewriting;
  const definition = fieldNodeOf(draft.types.get(typeName)?.members.get(selection.name.value));
  if (!definition) return selection;
  const rewritten = selection.selectionSet
    ? { ...selection, selectionSet: rewriteSet(namedTypeOf(definition.type), selection.selectionSet, rewriting) }
    : selection;
  const substitute = findSubstitute(typeName, definition, selection, requirer);
  if (substitute === undefined) return rewritten;
  return { ...rewritten, name: { kind: Kind.NAME, value: substitute }, arguments: [] };
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
