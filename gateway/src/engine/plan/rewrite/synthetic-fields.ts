// Replaces required fields with arguments by synthetic fields: the planner identifies a field by its response name, so it would use the client's
// `price(currency: USD)` for the required `price(currency: EUR)`.
import {
  type ConstArgumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  Kind,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import { sortByName } from "../normalize/planner-keys.ts";
import { isNamed, stringOf, withArgument } from "./supergraph-directives.ts";
import {
  fieldNodeOf,
  implementsInterface,
  namedTypeOf,
  parseFieldSet,
  printFieldSet,
  type SupergraphEdit,
  type SupergraphView,
} from "./supergraph-edit.ts";

interface ReplacedField {
  readonly field: string;
  readonly arguments: readonly ConstArgumentNode[];
}

/** `s_price_0` replaces `price(currency: EUR)`. */
export type SyntheticFields = ReadonlyMap<string, ReplacedField>;

interface SyntheticField {
  readonly name: string;
  readonly replaces: ReplacedField;
  readonly types: Set<string>;
}

/** @param requirer identifies the `@requires` that selects the field. */
type FindSubstitute = (
  typeName: string,
  definition: FieldDefinitionNode,
  selected: FieldNode,
  requirer: string,
) => string | undefined;

/**
 * For required fields with arguments, and for composite ones with a `@requires` of their own. Fields with one name and equal arguments share one. A
 * composite field with its own `@requires` gets one for each field that requires it: below the client's `manager { bonus }`, where `bonus` requires
 * `manager { salary }`, the planner would otherwise fetch the second manager together with the first.
 */
export function addSyntheticFields(edit: SupergraphEdit, prefix: string): SyntheticFields {
  const additions = new Map<string, SyntheticField>();
  const requiringNames = findRequiringNames(edit);

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

  rewriteRequires(edit, findSubstitute);
  for (const { name, replaces, types } of additions.values()) {
    for (const typeName of withImplementations(edit, types)) addField(edit, typeName, replaces.field, name);
  }
  return new Map([...additions.values()].map(({ name, replaces }) => [name, replaces]));
}

function findRequiringNames({ types }: SupergraphView): ReadonlySet<string> {
  const members = [...types.values()].flatMap((type) => [...type.members]);
  const requiring = members.filter(([, { directives }]) =>
    directives.some((one) => isJoinField(one) && stringOf(one, "requires") !== undefined),
  );
  return new Set(requiring.map(([name]) => name));
}

interface Rewriting {
  readonly supergraph: SupergraphView;
  readonly requirer: string;
  readonly findSubstitute: FindSubstitute;
}

function rewriteRequires(edit: SupergraphEdit, findSubstitute: FindSubstitute): void {
  for (const [typeName, type] of edit.types) {
    for (const [fieldName, member] of type.members) {
      edit.changeDirectives(member, (directives) =>
        directives.map((directive) => {
          const requires = isJoinField(directive) ? stringOf(directive, "requires") : undefined;
          if (requires === undefined) return directive;
          const requirer = `${typeName}.${fieldName} in ${stringOf(directive, "graph")}`;
          const rewriting = { supergraph: edit, requirer, findSubstitute };
          const rewritten = rewriteSet(typeName, parseFieldSet(requires), rewriting);
          return withArgument(directive, "requires", { kind: Kind.STRING, value: printFieldSet(rewritten) });
        }),
      );
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
  const { supergraph, requirer, findSubstitute } = rewriting;
  const definition = fieldNodeOf(supergraph.types.get(typeName)?.members.get(selection.name.value));
  if (!definition) return selection;
  const rewritten = selection.selectionSet
    ? { ...selection, selectionSet: rewriteSet(namedTypeOf(definition.type), selection.selectionSet, rewriting) }
    : selection;
  const substitute = findSubstitute(typeName, definition, selection, requirer);
  if (substitute === undefined) return rewritten;
  return { ...rewritten, name: { kind: Kind.NAME, value: substitute }, arguments: [] };
}

/** An implementation must have every field of its interface. */
function withImplementations({ types }: SupergraphView, typeNames: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(typeNames);
  for (const [name, type] of types) {
    if ([...typeNames].some((typeName) => implementsInterface(type, typeName))) all.add(name);
  }
  return all;
}

/** With the join directives of the replaced field. */
function addField(edit: SupergraphEdit, typeName: string, replacedName: string, name: string): void {
  const type = edit.types.get(typeName);
  const replaced = type?.members.get(replacedName);
  const node = fieldNodeOf(replaced);
  if (!type || !replaced || !node) return;
  const added = { kind: node.kind, name: { kind: Kind.NAME, value: name }, type: node.type } as const;
  edit.addMember(type, added, replaced.directives);
}
