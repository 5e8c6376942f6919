import { readFileSync } from "node:fs";
import { Kind, parse, print } from "graphql";
import type { RecordedChange } from "../../feed/outbox.ts";
import type { RouteDeclaration } from "../../rest/routes.ts";
import { type TestedColumn, toOtherValue } from "./column-writes.ts";
import type { TestService } from "../service.ts";

export interface Read {
  /** The path, or the query with the representation of the entity. */
  readonly url: string;
  /** The path, the call of a root field, or the entity. */
  readonly subject: string;
  readonly status: number;
  /** Whether shared caches may store it (RFC 9111, 3; RFC 9213), be it the REST proxy's alone. */
  readonly isStorable: boolean;
  /** Of a REST response: whether any shared cache may store it. */
  readonly isForEveryCache?: boolean;
  readonly groups: readonly string[];
  readonly etag: string;
  readonly text: string;
}

/** `__typename` and the key fields of one entity, as an `_entities` query sends them. */
export type Representation = Readonly<Record<string, string>>;

interface RestWrite {
  readonly rest: string;
  readonly as: string;
  readonly body?: unknown;
}

interface GraphqlWrite {
  readonly mutation: string;
  readonly as: string;
  readonly input: object;
}

interface SqlWrite {
  readonly sql: string;
}

export type Write = RestWrite | GraphqlWrite | SqlWrite;

export interface WriteCases {
  /** They alter a response that shared caches may store. Only these may name groups. */
  readonly visible: readonly Write[];
  /** They succeed, but alter no such response. */
  readonly hidden: readonly Write[];
  /** They fail. */
  readonly rejected: readonly Write[];
}

interface TableCases {
  /** The columns and values of a public row. */
  readonly insert: string;
  /** A condition for public rows: they are updated and deleted. */
  readonly where: string;
  /** The new value of each column, as SQL; a separate write sets each one. Text, boolean and integer columns have a default. */
  readonly update: Readonly<Record<string, string>>;
}

export interface CacheGroupsCases {
  readonly service: string;
  readonly start: () => Promise<TestService>;
  readonly routes: readonly RouteDeclaration[];
  readonly schema: URL;
  readonly groupsOfChange: (change: RecordedChange) => readonly string[] | undefined;
  readonly seed?: string;
  /** By name: user id and scopes. */
  readonly callers: Readonly<Record<string, readonly [userId: string, ...scopes: string[]]>>;
  /** Paths without the version, for anonymous GETs in every version. Of a list, all pages from this one on are read, and one page back. */
  readonly reads: readonly string[];
  /** Calls of root fields for anonymous GraphQL queries, such as `thing(id: "1")`. */
  readonly queries: readonly string[];
  /** Entities of every type, for anonymous `_entities` queries. */
  readonly entities: readonly Representation[];
  readonly writes: WriteCases;
  /** Every table, after those that it refers to. `hidden`: no response that shared caches may store has data of it. */
  readonly tables: Readonly<Record<string, TableCases | "hidden">>;
}

/** Adds a case for each column of which `toOtherValue` knows another value. */
export function withOtherValues(cases: CacheGroupsCases, columns: readonly TestedColumn[]): CacheGroupsCases {
  const tables: Record<string, TableCases | "hidden"> = {};
  for (const [table, tableCases] of Object.entries(cases.tables)) {
    const tableColumns = columns.filter((column) => column.table === table);
    tables[table] = tableCases === "hidden" ? "hidden" : addOtherValues(tableCases, tableColumns);
  }
  return { ...cases, tables };
}

/** A value of `tableCases` takes precedence. */
function addOtherValues(tableCases: TableCases, tableColumns: readonly TestedColumn[]): TableCases {
  const update: Record<string, string> = {};
  for (const tableColumn of tableColumns) {
    const value = toOtherValue(tableColumn);
    if (value !== undefined) update[tableColumn.column] = value;
  }
  return { ...tableCases, update: { ...update, ...tableCases.update } };
}

interface ExpectedWrite {
  readonly write: Write;
  readonly expected: keyof WriteCases;
}

/** All writes, REST writes without a version in every version of their route. */
export function listWrites({ writes, tables, routes }: CacheGroupsCases): readonly ExpectedWrite[] {
  const effects = ["visible", "hidden", "rejected"] as const;
  const declaredWrites = effects.flatMap((expected) => writes[expected].map((write) => ({ write, expected })));
  const tableWrites = toSqlWrites(tables).map((write) => ({ write, expected: "visible" as const }));
  return [...declaredWrites, ...tableWrites].flatMap(({ write, expected }) =>
    toVersionWrites(routes, write).map((versionWrite) => ({ write: versionWrite, expected })),
  );
}

/** The path of a REST write begins with a version. */
const versionPrefix = / \/v\d/;

/** A REST write without a version in every version of its route; any other write unchanged. */
function toVersionWrites(routes: readonly RouteDeclaration[], write: Write): readonly Write[] {
  if (!("rest" in write)) return [write];
  if (versionPrefix.test(write.rest)) return [write];
  const [method = "", path = ""] = write.rest.split(" ");
  return toVersionPaths(routes, method, path).map((versionPath) => ({ ...write, rest: `${method} ${versionPath}` }));
}

/** @throws Error if no route has this path. */
export function toVersionPaths(routes: readonly RouteDeclaration[], method: string, path: string): readonly string[] {
  const route = findRoute(routes, method, path);
  if (route === undefined) throw new Error(`No route is ${method} ${path}.`);
  return route.versions.map((version) => `/v${version}${path}`);
}

export function findRoute(
  routes: readonly RouteDeclaration[],
  method: string,
  path: string,
): RouteDeclaration | undefined {
  return routes.find((route) => route.method === method && toPathPattern(route.path).test(path));
}

/** Matches the paths of a route, with or without a query: a parameter such as `:id` is any segment. */
function toPathPattern(routePath: string): RegExp {
  return new RegExp(`^${routePath.replaceAll(/:\w+/g, "[^/]+")}(?:[?]|$)`);
}

export function toDocument(schema: URL, mutation: string): string {
  const input = readMutations(schema).find(({ name }) => name.value === mutation)?.arguments?.[0];
  if (input === undefined) throw new Error(`The schema has no mutation ${mutation} with an argument.`);
  return `mutation ($input: ${print(input.type)}) { ${mutation}(${input.name.value}: $input) { __typename } }`;
}

export function readMutations(schema: URL) {
  return parse(readFileSync(schema, "utf8")).definitions.flatMap((definition) => {
    const isType = definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.OBJECT_TYPE_EXTENSION;
    return isType && definition.name.value === "Mutation" ? (definition.fields ?? []) : [];
  });
}

function toSqlWrites(tables: CacheGroupsCases["tables"]): readonly SqlWrite[] {
  return Object.entries(tables).flatMap(([table, cases]) => {
    if (cases === "hidden") return [];
    const { insert, update, where } = cases;
    const updates = Object.entries(update).map(
      ([column, value]) => `update ${table} set ${column} = ${value} where ${where}`,
    );
    const statements = [`insert into ${table} ${insert}`, ...updates, `delete from ${table} where ${where}`];
    return statements.map((sql) => ({ sql }));
  });
}

export function describeWrite(write: Write): string {
  if ("sql" in write) return write.sql;
  if ("rest" in write) return `${write.rest} ${JSON.stringify(write.body)} as ${write.as}`;
  return `${write.mutation} ${JSON.stringify(write.input)} as ${write.as}`;
}
