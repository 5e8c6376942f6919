// Stage 3 of 5: how to answer? Some required fields get names of their own, since the planner keys a field by its response name alone:
// it would take the client's `price(currency: USD)` for the `price(currency: EUR)` of a `@requires`.
import {
  type ConstArgumentNode,
  type FieldDefinitionNode,
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
interface SyntheticField {
  readonly field: string;
  readonly arguments: readonly ConstArgumentNode[];
}

/** By the synthetic field's name. */
export type Synthetics = ReadonlyMap<string, SyntheticField>;

/**
 * Gives each field that stands in a `requires` and has arguments, or has a selection and itself requires something, an argument-less
 * twin, and makes the `requires` ask the twin. The same field with equal arguments has one twin, whatever the type. With requirements
 * of its own it has one for each field that requires it: below the client's `manager { bonus }`, where `bonus` requires
 * `manager { salary }`, the planner would ask the second manager in the same breath as the first.
 */
export function addSyntheticFields(draft: SupergraphDraft, prefix: string): Synthetics {
  const twins = new Map<string, Twin>();
  const requiring = namesOfRequiring(draft);

  /** `requirer`: the field whose `requires` this is. */
  function twinOf(requirer: string, typeName: string, field: FieldDefinitionNode, node: FieldNode): string | undefined {
    const isChained = node.selectionSet !== undefined && requiring.has(node.name.value);
    if (!isChained && !field.arguments?.length) return undefined;
    const given = [...(node.arguments ?? [])].sort((one, other) => (one.name.value < other.name.value ? -1 : 1));
    const text = `${node.name.value}(${given.map(print).join(",")})${isChained ? ` of ${requirer}` : ""}`;
    const twin = twins.get(text) ?? {
      name: `${prefix}${node.name.value}_${twins.size}`,
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

interface Twin {
  readonly name: string;
  readonly stands: SyntheticField;
  readonly types: Set<string>;
}

/** Names of fields that require something on some type. */
function namesOfRequiring({ types }: SupergraphDraft): ReadonlySet<string> {
  const members = [...types.values()].flatMap((type) => [...type.members]);
  const requiring = members.filter(([, { directives }]) =>
    directives.some((one) => isJoinField(one) && stringOf(one, "requires") !== undefined),
  );
  return new Set(requiring.map(([name]) => name));
}

/** Undefined: the field needs no twin. */
type TwinOf = (typeName: string, field: FieldDefinitionNode, node: FieldNode) => string | undefined;

function rewriteRequires(
  draft: SupergraphDraft,
  twinOf: (requirer: string, ...of: Parameters<TwinOf>) => string | undefined,
) {
  for (const [typeName, type] of draft.types) {
    for (const [fieldName, member] of type.members) {
      member.directives = member.directives.map((directive) => {
        const requires = isJoinField(directive) ? stringOf(directive, "requires") : undefined;
        if (requires === undefined) return directive;
        const requirer = `${typeName}.${fieldName} in ${stringOf(directive, "graph")}`;
        const twinHere: TwinOf = (...of) => twinOf(requirer, ...of);
        const value = printFieldSet(rewriteSet(draft, typeName, parseFieldSet(requires), twinHere));
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
  const twin = twinOf(typeName, field, selection);
  if (twin === undefined) return { ...selection, ...below };
  return { ...selection, ...below, name: { kind: Kind.NAME, value: twin }, arguments: [] };
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
