// Reads a service's schema.graphql as a federation subgraph, without the service's code, for both kinds of substitutes.
import {
  buildASTSchema,
  type DirectiveNode,
  type DocumentNode,
  extendSchema,
  type GraphQLSchema,
  isObjectType,
  Kind,
  parse,
  parseType,
  type SelectionSetNode,
  type TypeDefinitionNode,
  type TypeExtensionNode,
} from "graphql";

/** By type name, the fields of each `@key`. Keys with nested fields are left out: an entity without other keys has an empty list. */
export type EntityKeys = ReadonlyMap<string, readonly (readonly string[])[]>;

const keyDirectives: ReadonlySet<string> = new Set(["key", "federation__key"]);

/** Reads the keys that this subgraph declares. */
export function readEntityKeys(sdl: string): EntityKeys {
  const keys = new Map<string, (readonly string[])[]>();
  for (const node of parse(sdl, { noLocation: true }).definitions) {
    if (!("directives" in node) || !("name" in node) || node.name === undefined) continue;
    const typeName = node.name.value;
    for (const directive of node.directives ?? []) {
      if (!keyDirectives.has(directive.name.value)) continue;
      const fieldNames = readKey(directive);
      const keysOfType = keys.get(typeName) ?? [];
      keys.set(typeName, fieldNames ? [...keysOfType, fieldNames] : keysOfType);
    }
  }
  return keys;
}

/** @returns undefined if the key has nested fields. */
function readKey(directive: DirectiveNode): readonly string[] | undefined {
  const fields = directive.arguments?.find(({ name }) => name.value === "fields")?.value;
  return fields?.kind === Kind.STRING ? readFieldNames(fields.value) : undefined;
}

/** @returns undefined if a field has nested fields. */
function readFieldNames(text: string): readonly string[] | undefined {
  const [query] = parse(`{ ${text} }`, { noLocation: true }).definitions;
  const { selections } = (query as { readonly selectionSet: SelectionSetNode }).selectionSet;
  const names = selections.flatMap((field) =>
    field.kind === Kind.FIELD && !field.selectionSet ? field.name.value : [],
  );
  return names.length === selections.length ? names : undefined;
}

/**
 * The schema with which a subgraph executes the gateway's requests: with `_entities` if it has entities, and without resolvers.
 * @throws GraphQLError if the text is not a schema.
 */
export function buildExecutableSchema(sdl: string): GraphQLSchema {
  const document = parse(sdl, { noLocation: true });
  const schema = buildASTSchema(toDefinitions(document), { assumeValidSDL: true });
  const entities = [...readEntityKeys(sdl).keys()].filter((name) => isObjectType(schema.getType(name)));
  if (entities.length === 0 || !schema.getQueryType()) return schema;
  const federation = `scalar _Any
union _Entity = ${entities.join(" | ")}
extend type ${schema.getQueryType()?.name} { _entities(representations: [_Any!]!): [_Entity]! }`;
  return extendSchema(schema, parse(federation), { assumeValidSDL: true });
}

/** For a subgraph that has entities but no root fields: `_entities` needs the type Query. */
const emptyQuery: TypeDefinitionNode = {
  kind: Kind.OBJECT_TYPE_DEFINITION,
  name: { kind: Kind.NAME, value: "Query" },
  fields: [{ kind: Kind.FIELD_DEFINITION, name: { kind: Kind.NAME, value: "_unused" }, type: parseType("Boolean") }],
};

/** Turns `extend type Post` without a definition in the document, as federation allows, into a definition. */
function toDefinitions(document: DocumentNode): DocumentNode {
  /** By kind and name: `ObjectTypeDefinition Post`. */
  const defined = new Set<string>();
  for (const node of document.definitions) if (isTypeDefinition(node)) defined.add(`${node.kind} ${node.name.value}`);
  const definitions = document.definitions.map((node) => {
    if (!isTypeExtension(node)) return node;
    const kind = node.kind.replace("Extension", "Definition");
    const definition = `${kind} ${node.name.value}`;
    if (defined.has(definition)) return node;
    defined.add(definition);
    return { ...node, kind } as unknown as TypeDefinitionNode;
  });
  const hasQuery = definitions.some((node) => "name" in node && node.name?.value === "Query");
  return hasQuery ? { ...document, definitions } : { ...document, definitions: [...definitions, emptyQuery] };
}

function isTypeDefinition(node: DocumentNode["definitions"][number]): node is TypeDefinitionNode {
  return node.kind.endsWith("TypeDefinition");
}

function isTypeExtension(node: DocumentNode["definitions"][number]): node is TypeExtensionNode {
  return node.kind.endsWith("TypeExtension");
}
