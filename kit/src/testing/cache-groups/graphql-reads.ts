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

// For each call of a root field: one response with all selections that caches may store. For each entity: one read for each selection, so
// that the groups of one field do not hide that another lacks a group.

export interface GraphqlReadCases {
  readonly schema: URL;
  /** Calls of root fields without a selection: `thing(id: "1")`. */
  readonly queries: readonly string[];
  readonly entities: readonly Representation[];
}

interface GraphqlRequest {
  /** The call, or the name of the entities' type. */
  readonly subject: string;
  readonly query: string;
  /** The selections of the entities, each in its own `_entities` field. Without entities the response is one read. */
  readonly selections: readonly string[];
  readonly representations: readonly Representation[];
}

/** Levels of objects from a field to a leaf. Of an entity at the last level only its first field. */
const depthMax = 3;

export async function findGraphqlRequests(
  cases: GraphqlReadCases,
  service: TestService,
): Promise<readonly GraphqlRequest[]> {
  const schema = readSchema(cases.schema);
  const rootRequests = cases.queries.map((call) => {
    const field = schema.getQueryType()?.getFields()[nameOf(call)];
    if (field === undefined) throw new Error(`The schema has no root field for ${call}.`);
    return findRequest(service, listSelections(field), (selections) => createRootRequest(call, selections));
  });
  const representationsByType = Map.groupBy(cases.entities, ({ __typename = "" }) => __typename);
  const entitiesRequests = [...representationsByType].map(([type, representations]) => {
    const entitySelections = listEntitySelections(getObjectType(schema, type));
    const createRequest = (selections: readonly string[]) => createEntitiesRequest(type, selections, representations);
    return findRequest(service, entitySelections, createRequest);
  });
  const requests = await Promise.all([...rootRequests, ...entitiesRequests]);
  return requests.filter((request) => request !== undefined);
}

/** The request for the selections that caches may store. Each is read alone first: one that is private makes the whole response private. */
async function findRequest(
  service: TestService,
  selections: readonly string[],
  createRequest: (selections: readonly string[]) => GraphqlRequest,
): Promise<GraphqlRequest | undefined> {
  const reads = await Promise.all(selections.map((selection) => readGraphql(service, createRequest([selection]))));
  const storable = selections.filter((_, index) => reads[index]?.some(({ isStorable }) => isStorable));
  return storable.length === 0 ? undefined : createRequest(storable);
}

function createRootRequest(call: string, selections: readonly string[]): GraphqlRequest {
  const fields = selections.map((selection, index) => `${aliasOf(index)}: ${call}${selection}`);
  return { subject: call, query: `{ ${fields.join(" ")} }`, selections: [], representations: [] };
}

function createEntitiesRequest(
  type: string,
  selections: readonly string[],
  representations: readonly Representation[],
): GraphqlRequest {
  const fields = selections.map(
    (selection, index) => `${aliasOf(index)}: _entities(representations: $r) { ... on ${type} { ${selection} } }`,
  );
  return { subject: type, query: `query ($r: [_Any!]!) { ${fields.join(" ")} }`, selections, representations };
}

function aliasOf(index: number): string {
  return `part${index}`;
}

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

/** One read for a root field, and one for each selection of each entity. @throws Error if the service failed. */
export async function readGraphql(
  service: TestService,
  { subject, query, selections, representations }: GraphqlRequest,
): Promise<readonly Read[]> {
  const response = await service.graphql(query, { r: representations }, undefined, { cacheMetadata: true });
  const { status, errors = [] } = response;
  if (status !== 200) throw new Error(`${query} has status ${status}.`);
  const cache = response.extensions?.["cache"] as CacheMetadata | undefined;
  const data = response.data as Readonly<Record<string, readonly unknown[] | null>> | null;
  if (selections.length === 0) {
    const text = JSON.stringify({ data, errors });
    const groups = cache?.groups;
    return [{ subject, url: query, status, etag: "", isStorable: groups !== undefined, groups: groups ?? [], text }];
  }
  return selections.flatMap((selection, selectionIndex) => {
    const alias = aliasOf(selectionIndex);
    const hasError = errors.some(({ path }) => path?.[0] === alias);
    return representations.map((representation, entityIndex) => {
      const entity = data?.[alias]?.[entityIndex] ?? null;
      const groups = cache?.entities?.[alias]?.[entityIndex] ?? undefined;
      const entitySubject = JSON.stringify(representation);
      return {
        subject: entitySubject,
        url: `${selection} of ${entitySubject}`,
        status,
        etag: "",
        // The gateway stores no null.
        isStorable: groups !== undefined && entity !== null && !hasError,
        groups: groups ?? [],
        text: JSON.stringify(entity),
      };
    });
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

/** The selections of all fields of an entity, each with one leaf: `title`, or `author { name }`. */
function listEntitySelections(type: GraphQLObjectType): readonly string[] {
  return listFields(type).flatMap((field) => listSelections(field).map((selection) => `${field.name}${selection}`));
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
  const directives = [astNode, ...extensionASTNodes].flatMap((node) => node?.directives ?? []);
  const keys = directives.filter(({ name }) => name.value === "key");
  return which === "all" ? keys.length > 0 : keys.some(isResolvable);
}

/** Whether a `@key` lacks `resolvable: false`. */
function isResolvable({ arguments: keyArguments = [] }: ConstDirectiveNode): boolean {
  const value = keyArguments.find(({ name }) => name.value === "resolvable")?.value;
  const isFalse = value?.kind === Kind.BOOLEAN && !value.value;
  return !isFalse;
}
