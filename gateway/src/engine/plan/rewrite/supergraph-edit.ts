// The planner's supergraph while it is written. The steps of planner-supergraph.ts read it and find what to change; only the methods of
// `SupergraphEdit` change it.
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type FieldNode,
  type InputValueDefinitionNode,
  isTypeDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  parse,
  print,
  stripIgnoredCharacters,
  type TypeDefinitionNode,
  type TypeNode,
} from "graphql";
import { graphsOf, isNamed, joinDirective, type Joined, withGraph } from "./supergraph-directives.ts";

export interface SupergraphView {
  readonly document: DocumentNode;
  readonly types: ReadonlyMap<string, EditedType>;
  readonly queryType: string;
}

export interface SupergraphEdit extends SupergraphView {
  addMember(type: EditedType, node: MemberNode, directives: readonly ConstDirectiveNode[]): void;
  /** Adds copies of join directives, for another subgraph. */
  addJoins(owner: Joined, joins: readonly ConstDirectiveNode[], graph: string): void;
  changeDirectives(
    owner: Joined,
    change: (directives: readonly ConstDirectiveNode[]) => readonly ConstDirectiveNode[],
  ): void;
  /** A field without `@join__field` is in all subgraphs of its type: called before the type is added to one that lacks the field. */
  makeJoinsExplicit(field: EditedMember, type: EditedType): void;
  toDocument(): DocumentNode;
}

export interface EditedType extends Joined {
  readonly node: TypeDefinitionNode;
  /** Fields, input fields or enum values, by name. */
  readonly members: ReadonlyMap<string, EditedMember>;
}

export interface EditedMember extends Joined {
  readonly node: MemberNode;
}

interface TypeDraft extends MemberDraft<TypeDefinitionNode> {
  readonly members: Map<string, MemberDraft>;
}

interface MemberDraft<Node = MemberNode> {
  readonly node: Node;
  directives: readonly ConstDirectiveNode[];
}

type MemberNode = FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode;

/** @throws GraphQLError if the text is not SDL. */
export function createSupergraphEdit(supergraphSdl: string): SupergraphEdit {
  const document = parse(supergraphSdl, { noLocation: true });
  const nodes = document.definitions.filter(isTypeDefinitionNode);
  const types = new Map(nodes.map((node) => [node.name.value, toTypeDraft(node)]));
  const schema = document.definitions.find((node) => node.kind === Kind.SCHEMA_DEFINITION);
  const query = schema?.operationTypes.find(({ operation }) => operation === OperationTypeNode.QUERY);

  function changeDirectives(
    owner: { directives: readonly ConstDirectiveNode[] },
    change: (directives: readonly ConstDirectiveNode[]) => readonly ConstDirectiveNode[],
  ): void {
    owner.directives = change(owner.directives);
  }

  return {
    document,
    types,
    queryType: query?.type.name.value ?? "Query",
    addMember: ({ node: { name } }, node, directives) =>
      void types.get(name.value)?.members.set(node.name.value, { node, directives }),
    addJoins: (owner, joins, graph) =>
      changeDirectives(owner, (directives) => [...directives, ...joins.map((join) => withGraph(join, graph))]),
    changeDirectives,
    makeJoinsExplicit(field, type) {
      if (field.directives.some(isNamed("join__field"))) return;
      const joins = graphsOf(type).map((graph) => joinDirective("join__field", graph));
      changeDirectives(field, (directives) => [...directives, ...joins]);
    },
    toDocument: () => ({ ...document, definitions: document.definitions.map((node) => toDefinition(node, types)) }),
  };
}

function toTypeDraft(node: TypeDefinitionNode): TypeDraft {
  const members = membersOf(node).map((member) => [member.name.value, toMemberDraft(member)] as const);
  return { node, directives: node.directives ?? [], members: new Map(members) };
}

function toMemberDraft(node: MemberNode): MemberDraft {
  return { node, directives: node.directives ?? [] };
}

function membersOf(node: TypeDefinitionNode): readonly MemberNode[] {
  if ("fields" in node) return node.fields ?? [];
  return node.kind === Kind.ENUM_TYPE_DEFINITION ? (node.values ?? []) : [];
}

function toDefinition(node: DefinitionNode, types: ReadonlyMap<string, TypeDraft>): DefinitionNode {
  const type = isTypeDefinitionNode(node) ? types.get(node.name.value) : undefined;
  return type ? toTypeNode(type) : node;
}

function toTypeNode({ node, directives, members }: TypeDraft): TypeDefinitionNode {
  if (members.size === 0) return { ...node, directives };
  const memberNodes = [...members.values()].map((member) => ({ ...member.node, directives: member.directives }));
  const key = node.kind === Kind.ENUM_TYPE_DEFINITION ? "values" : "fields";
  return { ...node, directives, [key]: memberNodes };
}

export function fieldNodeOf(member: EditedMember | undefined): FieldDefinitionNode | undefined {
  return member?.node.kind === Kind.FIELD_DEFINITION ? member.node : undefined;
}

export function namedTypeOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedTypeOf(type.type);
}

/** A field that a field set selects, at any depth, and the type that has it. */
export interface SelectedField {
  readonly typeName: string;
  readonly field: FieldNode;
}

export function listSelectedFields(
  supergraph: SupergraphView,
  typeName: string,
  { selections }: SelectionSetNode,
): readonly SelectedField[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return listSelectedFields(supergraph, selection.typeCondition?.name.value ?? typeName, selection.selectionSet);
    const selected = { typeName, field: selection };
    const definition = fieldNodeOf(supergraph.types.get(typeName)?.members.get(selection.name.value));
    if (!definition || !selection.selectionSet) return [selected];
    return [selected, ...listSelectedFields(supergraph, namedTypeOf(definition.type), selection.selectionSet)];
  });
}

/** Whether the types are the same, or one is an interface that the other implements. */
export function isSameOrRelated({ types }: SupergraphView, one: string, other: string): boolean {
  return one === other || implementsInterface(types.get(one), other) || implementsInterface(types.get(other), one);
}

export function implementsInterface(type: EditedType | undefined, interfaceName: string): boolean {
  if (!type || !("interfaces" in type.node)) return false;
  return (type.node.interfaces ?? []).some(({ name }) => name.value === interfaceName);
}

/** Parses a field set, the argument of `@key`, `@requires` and `@provides`. */
export function parseFieldSet(text: string): SelectionSetNode {
  return parseOperation(`{${text}}`).selectionSet;
}

/** @throws Error unless the text is one anonymous operation. */
export function parseOperation(text: string): OperationDefinitionNode {
  const [operation, ...others] = parse(text, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.name || others.length > 0)
    throw new Error("Not one anonymous operation");
  return operation;
}

export function printFieldSet(selectionSet: SelectionSetNode): string {
  return stripIgnoredCharacters(print(selectionSet)).slice(1, -1);
}
