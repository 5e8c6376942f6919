import {
  buildASTSchema,
  type DirectiveNode,
  extendSchema,
  type GraphQLSchema,
  isObjectType,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
  parse,
  type SelectionSetNode,
  type TypeDefinitionNode,
} from "graphql";

/** By type name, the fields of each `@key`. Keys with nested fields are left out: an entity without other keys has an empty list. */
export type EntityKeys = ReadonlyMap<string, readonly (readonly string[])[]>;

const keyDirectives: ReadonlySet<string> = new Set(["key", "federation__key"]);

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
  if (fields?.kind !== Kind.STRING) return undefined;
  const [query] = parse(`{ ${fields.value} }`, { noLocation: true }).definitions;
  const { selections } = (query as { readonly selectionSet: SelectionSetNode }).selectionSet;
  const names = selections.flatMap((field) =>
    field.kind === Kind.FIELD && !field.selectionSet ? field.name.value : [],
  );
  return names.length === selections.length ? names : undefined;
}

/** With `_entities` if it has entities, and without resolvers. @throws GraphQLError if the text is not a schema. */
export function buildExecutableSchema(sdl: string): GraphQLSchema {
  const { definitions, kind } = parse(sdl, { noLocation: true });
  const defined = new Set(definitions.filter(isTypeDefinitionNode).map(({ name }) => name.value));
  // Federation allows `extend type Post` without a definition of Post; graphql-js does not.
  const complete = definitions.map((node) => {
    if (!isTypeExtensionNode(node) || defined.has(node.name.value)) return node;
    defined.add(node.name.value);
    return { ...node, kind: node.kind.replace("Extension", "Definition") } as unknown as TypeDefinitionNode;
  });
  // A subgraph can have entities and no root field.
  if (!defined.has("Query")) complete.push(...parse("type Query { _unused: Boolean }").definitions);
  const schema = buildASTSchema({ kind, definitions: complete }, { assumeValidSDL: true });
  const entities = [...readEntityKeys(sdl).keys()].filter((name) => isObjectType(schema.getType(name)));
  if (entities.length === 0) return schema;
  const federation = `scalar _Any
union _Entity = ${entities.join(" | ")}
extend type ${schema.getQueryType()?.name} { _entities(representations: [_Any!]!): [_Entity]! }`;
  return extendSchema(schema, parse(federation), { assumeValidSDL: true });
}
