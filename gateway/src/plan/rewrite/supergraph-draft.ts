// Stage 3 of 5: how to answer? A supergraph's SDL, opened up so that the steps before planning can change it.
import {
  type ConstDirectiveNode,
  type DirectiveNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  isTypeDefinitionNode,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  parse,
  print,
  stripIgnoredCharacters,
  type TypeDefinitionNode,
  type TypeNode,
} from "graphql";

/** The steps change it in place; it belongs to one `createQueryPlanner` alone. */
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

/** @throws GraphQLError when the text is not SDL. */
export function openSupergraph(supergraphSdl: string): SupergraphDraft {
  const document = parse(supergraphSdl, { noLocation: true });
  const types = document.definitions.filter(isTypeDefinitionNode);
  const schema = document.definitions.find((node) => node.kind === Kind.SCHEMA_DEFINITION);
  const query = schema?.operationTypes.find(({ operation }) => operation === OperationTypeNode.QUERY);
  return {
    document,
    types: new Map(types.map((node) => [node.name.value, openType(node)])),
    queryType: query?.type.name.value ?? "Query",
  };
}

function openType(node: TypeDefinitionNode): TypeDraft {
  const members = membersOf(node).map((member) => [member.name.value, openMember(member)] as const);
  return { node, directives: node.directives ?? [], members: new Map(members) };
}

function openMember(node: MemberNode): MemberDraft {
  return { node, directives: node.directives ?? [] };
}

function membersOf(node: TypeDefinitionNode): readonly MemberNode[] {
  if ("fields" in node) return node.fields ?? [];
  return node.kind === Kind.ENUM_TYPE_DEFINITION ? (node.values ?? []) : [];
}

/** The changed supergraph, as a document for `Supergraph.build`. */
export function closeSupergraph({ document, types }: SupergraphDraft): DocumentNode {
  const definitions = document.definitions.map((node) => {
    const type = isTypeDefinitionNode(node) ? types.get(node.name.value) : undefined;
    return type ? closeType(type) : node;
  });
  return { ...document, definitions };
}

function closeType({ node, directives, members }: TypeDraft): TypeDefinitionNode {
  const closed = [...members.values()].map((member) => ({ ...member.node, directives: member.directives }));
  const key = node.kind === Kind.ENUM_TYPE_DEFINITION ? "values" : "fields";
  return { ...node, directives, ...(closed.length > 0 && { [key]: closed }) };
}

/** A string, enum value or Boolean that a directive is given. */
export function argumentOf(directive: DirectiveNode, name: string): string | boolean | undefined {
  const value = directive.arguments?.find((argument) => argument.name.value === name)?.value;
  return value !== undefined && "value" in value ? value.value : undefined;
}

export function stringOf(directive: DirectiveNode, name: string): string | undefined {
  const value = argumentOf(directive, name);
  return typeof value === "string" ? value : undefined;
}

/** The directive with an argument added, replaced, or (undefined) left out. */
export function withArgument(
  directive: ConstDirectiveNode,
  name: string,
  value:
    | { readonly kind: Kind.STRING | Kind.ENUM; readonly value: string }
    | { readonly kind: Kind.BOOLEAN; readonly value: boolean }
    | undefined,
): ConstDirectiveNode {
  const given = directive.arguments ?? [];
  if (value === undefined) return { ...directive, arguments: given.filter((one) => one.name.value !== name) };
  const argument = { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: name }, value } as const;
  const isGiven = given.some((one) => one.name.value === name);
  const replaced = given.map((one) => (one.name.value === name ? argument : one));
  return { ...directive, arguments: isGiven ? replaced : [...given, argument] };
}

export function isNamed(name: string): (directive: DirectiveNode) => boolean {
  return (directive) => directive.name.value === name;
}

/** Of a field set, as `@key` and `@requires` have it. */
export function parseFieldSet(text: string): SelectionSetNode {
  const [operation] = parse(`{${text}}`, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`Not a field set: ${text}`);
  return operation.selectionSet;
}

export function printFieldSet(selectionSet: SelectionSetNode): string {
  return stripIgnoredCharacters(print(selectionSet)).slice(1, -1);
}

/** The name of the type within all lists and non-nulls. */
export function namedTypeOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedTypeOf(type.type);
}

export function fieldNodeOf(member: MemberDraft | undefined): FieldDefinitionNode | undefined {
  return member?.node.kind === Kind.FIELD_DEFINITION ? member.node : undefined;
}

/** Whether the key of a `@join__type` is one that the subgraph can be entered by. */
export function isResolvable(joinType: DirectiveNode): boolean {
  return argumentOf(joinType, "resolvable") !== false;
}
