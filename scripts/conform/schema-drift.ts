import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  parse,
  print,
} from "graphql";
import { type Drift, missing } from "./document-drift.ts";

/** Types and fields that federation adds, under any prefix of `@link`; descriptions and the order do not count. */
const machineryTypes = /^_|__|^(?:FieldSet|Import|link|federation)$/;
const machineryFields = new Set(["_entities", "_service"]);

/** By schema coordinate. @throws GraphQLError if one of them is not GraphQL. */
export function findSchemaDrift(contract: string, running: string): readonly Drift[] {
  const expected = describeSchema(parse(contract, { noLocation: true }));
  const got = describeSchema(parse(running, { noLocation: true }));
  const coordinates = [...new Set([...expected.keys(), ...got.keys()])].toSorted();
  return coordinates.flatMap((place) => {
    const pair = { expected: expected.get(place) ?? missing, got: got.get(place) ?? missing };
    const [type = place] = place.split(".");
    const isOfMissingType = type !== place && expected.has(type) !== got.has(type);
    return pair.expected === pair.got || isOfMissingType ? [] : [{ place, ...pair }];
  });
}

/** Each type and member, with a text that is equal if its meaning is. */
function describeSchema({ definitions }: DocumentNode): ReadonlyMap<string, string> {
  const described = new Map<string, string>();
  const words = new Map<string, Set<string>>();
  for (const node of definitions) {
    if (!isTypeNode(node) || machineryTypes.test(node.name.value)) continue;
    const { name } = node;
    // An extension adds to its type.
    const typeWords = words.get(name.value) ?? new Set();
    words.set(name.value, typeWords.add(node.kind.replace(/(?:Definition|Extension)$/, "")));
    for (const word of describeDirectives(node.directives)) typeWords.add(word);
    if ("interfaces" in node) for (const one of node.interfaces ?? []) typeWords.add(`implements ${one.name.value}`);
    if ("types" in node) for (const one of node.types ?? []) typeWords.add(`| ${one.name.value}`);
    for (const [member, text] of describeMembers(node)) described.set(`${name.value}.${member}`, text);
  }
  for (const [name, typeWords] of words) described.set(name, [...typeWords].toSorted().join(" "));
  // `Query` without fields of its own is there for the machinery only.
  if (![...described.keys()].some((coordinate) => coordinate.startsWith("Query."))) described.delete("Query");
  return described;
}

type TypeNode = Extract<DefinitionNode, { readonly kind: `${string}TypeDefinition` | `${string}TypeExtension` }>;

function describeMembers(node: TypeNode): readonly (readonly [name: string, text: string])[] {
  if ("values" in node)
    return (node.values ?? []).map(({ name, directives }) => [name.value, describeDirectives(directives).join(" ")]);
  const fields = "fields" in node ? (node.fields ?? []) : [];
  return fields
    .filter(({ name }) => !machineryFields.has(name.value))
    .map((field) => [field.name.value, describeField(field)]);
}

function isTypeNode(node: DefinitionNode): node is TypeNode {
  return /Type(?:Definition|Extension)$/.test(node.kind);
}

function describeField(field: FieldDefinitionNode | InputValueDefinitionNode): string {
  const given = field.kind === Kind.FIELD_DEFINITION ? (field.arguments ?? []) : [];
  const listed = given.map((one) => `${one.name.value}: ${describeField(one)}`).toSorted();
  const value =
    field.kind === Kind.INPUT_VALUE_DEFINITION && field.defaultValue ? [`= ${print(field.defaultValue)}`] : [];
  const type = [print(field.type), ...value, ...describeDirectives(field.directives)].join(" ");
  return listed.length === 0 ? type : `(${listed.join(", ")}) ${type}`;
}

function describeDirectives(directives: readonly ConstDirectiveNode[] = []): readonly string[] {
  const described = directives.map(({ name, arguments: given = [] }) => {
    const listed = given.map((one) => `${one.name.value}: ${print(one.value)}`).toSorted();
    return `@${name.value.replace(/^federation__/, "")}${listed.length === 0 ? "" : `(${listed.join(", ")})`}`;
  });
  return described.toSorted();
}
