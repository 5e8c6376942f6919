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
  type TypeDefinitionNode,
} from "graphql";

interface KeyDirective {
  /** Its argument, such as `id`. */
  readonly fields: string;
  readonly isResolvable: boolean;
}

/** By type name, the fields of each `@key`. Keys with nested fields are left out: an entity without other keys has an empty list. */
export type EntityKeys = ReadonlyMap<string, readonly (readonly string[])[]>;

const keyDirectives: ReadonlySet<string> = new Set(["key", "federation__key"]);

/** By type name. */
export function readKeyDirectives(sdl: string): ReadonlyMap<string, readonly KeyDirective[]> {
  const keys = new Map<string, readonly KeyDirective[]>();
  for (const node of parse(sdl, { noLocation: true }).definitions) {
    if (!("directives" in node) || !("name" in node) || node.name === undefined) continue;
    const directives = (node.directives ?? []).filter(({ name }) => keyDirectives.has(name.value));
    const typeName = node.name.value;
    if (directives.length > 0) keys.set(typeName, [...(keys.get(typeName) ?? []), ...directives.map(readKey)]);
  }
  return keys;
}

function readKey({ arguments: given = [] }: DirectiveNode): KeyDirective {
  const valueOf = (argument: string) => given.find(({ name }) => name.value === argument)?.value;
  const [fields, resolvable] = [valueOf("fields"), valueOf("resolvable")];
  const isResolvable = resolvable?.kind !== Kind.BOOLEAN || resolvable.value;
  return { fields: fields?.kind === Kind.STRING ? fields.value : "", isResolvable };
}

export function readEntityKeys(sdl: string): EntityKeys {
  const toNames = ({ fields }: KeyDirective) => (/^[\w\s,]+$/.test(fields) ? [fields.match(/\w+/g) ?? []] : []);
  return new Map([...readKeyDirectives(sdl)].map(([type, keys]) => [type, keys.flatMap(toNames)]));
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
