// Stage 3 of 5: how to answer? Required fields with arguments get names of their own. The planner keys a field by its response name
// alone, so that it would take the client's `price(currency: USD)` for the `price(currency: EUR)` of a `@requires`.
import {
  type ConstArgumentNode,
  type FieldNode,
  Kind,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import {
  fieldNodeOf,
  stringOf,
  isNamed,
  namedTypeOf,
  parseFieldSet,
  printFieldSet,
  type SupergraphDraft,
  type TypeDraft,
  withArgument,
} from "./supergraph-draft.ts";

/** What a synthetic field of the planner's supergraph stands for. */
export interface SyntheticField {
  readonly field: string;
  readonly arguments: readonly ConstArgumentNode[];
}

/** By the synthetic field's name. */
export type Synthetics = ReadonlyMap<string, SyntheticField>;

/**
 * Gives each field that has arguments and stands in a `requires` an argument-less twin, and makes the `requires` ask the twin.
 * The same field with equal arguments has one twin, whatever the type.
 */
export function addSyntheticFields(draft: SupergraphDraft, prefix: string): Synthetics {
  const twins = new Map<
    string,
    { readonly name: string; readonly stands: SyntheticField; readonly types: Set<string> }
  >();

  function twinOf(typeName: string, node: FieldNode): string {
    const given = [...(node.arguments ?? [])].sort((one, other) => (one.name.value < other.name.value ? -1 : 1));
    const text = `${node.name.value}(${given.map(print).join(",")})`;
    const name = `${prefix}${node.name.value}_${twins.size}`;
    const twin = twins.get(text) ?? {
      name,
      stands: { field: node.name.value, arguments: given as readonly ConstArgumentNode[] },
      types: new Set(),
    };
    twins.set(text, twin);
    twin.types.add(typeName);
    return twin.name;
  }

  rewriteRequires(draft, twinOf);
  for (const { name, stands, types } of twins.values()) {
    for (const typeName of withImplementations(draft, types)) addTwin(draft.types.get(typeName), stands.field, name);
  }
  return new Map([...twins.values()].map(({ name, stands }) => [name, stands]));
}

type TwinOf = (typeName: string, node: FieldNode) => string;

function rewriteRequires(draft: SupergraphDraft, twinOf: TwinOf): void {
  for (const [typeName, type] of draft.types) {
    for (const member of type.members.values()) {
      member.directives = member.directives.map((directive) => {
        const requires = isJoinField(directive) ? stringOf(directive, "requires") : undefined;
        if (requires === undefined) return directive;
        const value = printFieldSet(rewriteSet(draft, typeName, parseFieldSet(requires), twinOf));
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
  twinOf: TwinOf,
): SelectionSetNode {
  return { kind, selections: selections.map((selection) => rewriteSelection(draft, typeName, selection, twinOf)) };
}

function rewriteSelection(
  draft: SupergraphDraft,
  typeName: string,
  selection: SelectionNode,
  twinOf: TwinOf,
): SelectionNode {
  if (selection.kind === Kind.FRAGMENT_SPREAD) throw new Error(`@requires has a fragment spread on ${typeName}`);
  if (selection.kind === Kind.INLINE_FRAGMENT) {
    const inner = selection.typeCondition?.name.value ?? typeName;
    return { ...selection, selectionSet: rewriteSet(draft, inner, selection.selectionSet, twinOf) };
  }
  const field = fieldNodeOf(draft.types.get(typeName)?.members.get(selection.name.value));
  if (!field) return selection;
  const { selectionSet } = selection;
  const below = selectionSet && { selectionSet: rewriteSet(draft, namedTypeOf(field.type), selectionSet, twinOf) };
  if (!field.arguments?.length) return { ...selection, ...below };
  const name = { kind: Kind.NAME, value: twinOf(typeName, selection) } as const;
  return { ...selection, ...below, name, arguments: [] };
}

/** What an interface has, the types that implement it must have. */
function withImplementations(draft: SupergraphDraft, typeNames: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(typeNames);
  for (const [name, { node }] of draft.types) {
    if ("interfaces" in node && node.interfaces?.some((implemented) => typeNames.has(implemented.name.value)))
      all.add(name);
  }
  return all;
}

/** The twin is served by the same subgraphs as the field, and external in the same ones. */
function addTwin(type: TypeDraft | undefined, fieldName: string, name: string): void {
  const field = type?.members.get(fieldName);
  const node = fieldNodeOf(field);
  if (!type || !field || !node) return;
  const twin = { kind: node.kind, name: { kind: Kind.NAME, value: name }, type: node.type } as const;
  type.members.set(name, { node: twin, directives: field.directives });
}
