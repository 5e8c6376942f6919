import { readFileSync } from "node:fs";
import { buildSubgraphSchema } from "@apollo/subgraph";
import {
  type ConstDirectiveNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isLeafType,
  isObjectType,
  Kind,
  parse,
  type GraphQLField,
} from "graphql";
import type { CacheMetadata } from "../../graphql/cache-metadata.ts";
import type { TestService } from "../service.ts";
import type { Read, Representation } from "./cases.ts";

// The GraphQL responses of a service that caches may store. For each call of a root field: one response with every selection if caches may store it,
// else one for each selection. For each entity: one for each selection, so that the groups of one field do not hide that another lacks a group.

export interface GraphqlReadCases {
  readonly schema: URL;
  /** Calls of root fields without a selection: `thing(id: "1")`. */
  readonly queries: readonly string[];
  readonly entities: readonly Representation[];
}

interface GraphqlRead {
  /** The call, or the name of the entities' type. */
  readonly subject: string;
  readonly query: string;
  readonly representations: readonly Representation[];
}

/** Levels of objects from a field to a leaf. Of an entity at the last level only its first field. */
const depthMax = 3;

/** The reads whose responses caches may store with the rows that are now in the database. */
export async function findGraphqlReads(o: GraphqlReadCases, service: TestService): Promise<readonly GraphqlRead[]> {
  const schema = readSchema(o.schema);
  const ofRoots = await Promise.all(
    o.queries.map(async (call) => {
      const combined = toCombinedRead(schema, call);
      return (await isStorable(service, combined)) ? [combined] : listRootReads(schema, call);
    }),
  );
  const reads = [...ofRoots.flat(), ...listEntityReads(schema, o.entities)];
  const areStorable = await Promise.all(reads.map((read) => isStorable(service, read)));
  return reads.filter((_, index) => areStorable[index]);
}

async function isStorable(service: TestService, read: GraphqlRead): Promise<boolean> {
  return (await readGraphql(service, read)).some((one) => one.isStorable);
}

/** One query with the call once for each selection, by aliases. */
function toCombinedRead(schema: GraphQLSchema, call: string): GraphqlRead {
  const parts = listRootSelections(schema, call);
  const aliased = parts.map((selection, index) => `part${index}: ${call}${selection}`);
  return { subject: call, query: `{ ${aliased.join(" ")} }`, representations: [] };
}

function listRootReads(schema: GraphQLSchema, call: string): readonly GraphqlRead[] {
  const selections = listRootSelections(schema, call);
  return selections.map((selection) => ({ subject: call, query: `{ ${call}${selection} }`, representations: [] }));
}

function listRootSelections(schema: GraphQLSchema, call: string): readonly string[] {
  const field = schema.getQueryType()?.getFields()[nameOf(call)];
  if (field === undefined) throw new Error(`The schema has no root field for ${call}.`);
  return listSelections(field);
}

function listEntityReads(schema: GraphQLSchema, entities: readonly Representation[]): readonly GraphqlRead[] {
  const byType = Map.groupBy(entities, ({ __typename = "" }) => __typename);
  return [...byType].flatMap(([name, representations]) =>
    listFields(getObjectType(schema, name)).flatMap((field) =>
      listSelections(field).map((selection) => ({
        subject: name,
        query: `query ($r: [_Any!]!) { _entities(representations: $r) { ... on ${name} { ${field.name}${selection} } } }`,
        representations,
      })),
    ),
  );
}

/** Root fields and entity types without a case. */
export function findUncoveredReads({ schema: url, queries, entities }: GraphqlReadCases): readonly string[] {
  const schema = readSchema(url);
  const called = new Set(queries.map(nameOf));
  const represented = new Set(entities.map(({ __typename }) => __typename));
  const rootFields = Object.keys(schema.getQueryType()?.getFields() ?? {}).filter((name) => !name.startsWith("_"));
  const types = Object.values(schema.getTypeMap()).filter((type) => isEntityType(type, "resolvable"));
  return [
    ...rootFields.filter((name) => !called.has(name)).map((name) => `Query.${name}`),
    ...types.map(({ name }) => name).filter((name) => !represented.has(name)),
  ];
}

/** One read for a root field, and one for each entity. @throws Error if the service failed. */
export async function readGraphql(
  service: TestService,
  { subject, query, representations }: GraphqlRead,
): Promise<readonly Read[]> {
  const { status, data, errors, extensions } = await service.graphql(query, { r: representations }, undefined, {
    cacheMetadata: true,
  });
  if (status !== 200) throw new Error(`${query} has status ${status}.`);
  const cache = extensions?.["cache"] as CacheMetadata | undefined;
  const common = { status, etag: "" };
  if (representations.length === 0) {
    const text = JSON.stringify({ data: data as unknown, errors });
    return [
      { ...common, subject, url: query, isStorable: cache?.groups !== undefined, groups: cache?.groups ?? [], text },
    ];
  }
  const list = (data as { readonly _entities: readonly unknown[] } | null)?._entities ?? [];
  return representations.map((representation, index) => {
    const groups = cache?.entities?.["_entities"]?.[index] ?? undefined;
    const entity = list[index] ?? null;
    return {
      ...common,
      subject: JSON.stringify(representation),
      url: `${query} of ${JSON.stringify(representation)}`,
      // The gateway stores no null.
      isStorable: groups !== undefined && entity !== null && errors === undefined,
      groups: groups ?? [],
      text: JSON.stringify(entity),
    };
  });
}

function readSchema(url: URL): GraphQLSchema {
  return buildSubgraphSchema(parse(readFileSync(url, "utf8")));
}

function nameOf(call: string): string {
  return /^\w+/.exec(call)?.[0] ?? "";
}

/** The selections of a field down to its leaves, each with one leaf: `{ nodes { title } }`, or an empty text for a leaf. */
function listSelections({ type }: Pick<GraphQLField<unknown, unknown>, "type">, depth = depthMax): readonly string[] {
  const named = getNamedType(type);
  if (isLeafType(named)) return [""];
  if (!isObjectType(named) || depth === 0) return [];
  const isReference = depth < depthMax - 1 && isEntityType(named);
  const fields = isReference ? listFields(named).slice(0, 1) : listFields(named);
  return fields.flatMap((field) =>
    listSelections(field, depth - 1).map((selection) => ` { ${field.name}${selection} }`),
  );
}

function listFields(type: GraphQLObjectType): readonly GraphQLField<unknown, unknown>[] {
  return Object.values(type.getFields());
}

function getObjectType(schema: GraphQLSchema, name: string): GraphQLObjectType {
  const type = schema.getType(name);
  if (!isObjectType(type)) throw new Error(`The schema has no object type ${name}.`);
  return type;
}

/** @param which resolvable: without `@key(resolvable: false)`. */
function isEntityType(type: GraphQLNamedType, which: "all" | "resolvable" = "all"): type is GraphQLObjectType {
  if (!isObjectType(type)) return false;
  const { astNode, extensionASTNodes } = type;
  const keys = [astNode, ...extensionASTNodes].flatMap(
    (node) => node?.directives?.filter(({ name }) => name.value === "key") ?? [],
  );
  const isResolvable = ({ arguments: given = [] }: ConstDirectiveNode) =>
    !given.some(({ name, value }) => name.value === "resolvable" && value.kind === Kind.BOOLEAN && !value.value);
  return which === "all" ? keys.length > 0 : keys.some(isResolvable);
}
