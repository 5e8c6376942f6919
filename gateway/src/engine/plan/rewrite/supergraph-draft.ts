// A supergraph's SDL as a structure that the steps of planner-supergraph.ts change in place.
import {
  type ConstDirectiveNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
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

/** Mutable. Created for each supergraph, and dropped when the planner's supergraph is complete. */
export interface SupergraphDraft {
  readonly document: DocumentNode;
  readonly types: ReadonlyMap<string, TypeDraft>;
  readonly queryType: string;
}

export interface TypeDraft {
  readonly node: TypeDefinitionNode;
  directives: readonly ConstDirectiveNode[];
  /** Fields, input fields or enum values, by name. */
  readonly members: Map<string, MemberDraft>;
}

export interface MemberDraft {
  readonly node: MemberNode;
  directives: readonly ConstDirectiveNode[];
}

type MemberNode = FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode;

/** @throws GraphQLError if the text is not SDL. */
export function parseSupergraph(supergraphSdl: string): SupergraphDraft {
  const document = parse(supergraphSdl, { noLocation: true });
  const types = document.definitions.filter(isTypeDefinitionNode);
  const schema = document.definitions.find((node) => node.kind === Kind.SCHEMA_DEFINITION);
  const query = schema?.operationTypes.find(({ operation }) => operation === OperationTypeNode.QUERY);
  return {
    document,
    types: new Map(types.map((node) => [node.name.value, toTypeDraft(node)])),
    queryType: query?.type.name.value ?? "Query",
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

/** The draft as a document for `Supergraph.build`. */
export function toSupergraphDocument({ document, types }: SupergraphDraft): DocumentNode {
  const definitions = document.definitions.map((node) => {
    const type = isTypeDefinitionNode(node) ? types.get(node.name.value) : undefined;
    return type ? toTypeNode(type) : node;
  });
  return { ...document, definitions };
}

function toTypeNode({ node, directives, members }: TypeDraft): TypeDefinitionNode {
  if (members.size === 0) return { ...node, directives };
  const memberNodes = [...members.values()].map((member) => ({ ...member.node, directives: member.directives }));
  const key = node.kind === Kind.ENUM_TYPE_DEFINITION ? "values" : "fields";
  return { ...node, directives, [key]: memberNodes };
}

/** Undefined for an input field or an enum value. */
export function fieldNodeOf(member: MemberDraft | undefined): FieldDefinitionNode | undefined {
  return member?.node.kind === Kind.FIELD_DEFINITION ? member.node : undefined;
}

/** The name of a type without its list and non-null wrappers. */
export function namedTypeOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedTypeOf(type.type);
}

/** Whether the types are the same, or one is an interface that the other implements. */
export function isSameOrRelated({ types }: SupergraphDraft, one: string, other: string): boolean {
  return one === other || implementsInterface(types.get(one), other) || implementsInterface(types.get(other), one);
}

export function implementsInterface(type: TypeDraft | undefined, interfaceName: string): boolean {
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
