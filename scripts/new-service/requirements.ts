import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ConstDirectiveNode, type DocumentNode, Kind, parse, type TypeNode } from "graphql";
import { findDescriptorProblems, type Service } from "../../supergraph/services.ts";
import { entityPattern, type NewServiceNames, spell } from "./names.ts";
import { authorType, findTakenIdentifiers, renderTemplate } from "./template.ts";

/** A cache group is named by the service, `:on-` and an id: with 10 digits at most 32 characters, which every cache supports (RFC 9875). */
const nameLengthMax = 18;
const entityLengthMax = 30;
/** Keywords of PostgreSQL that a plural can be. */
const reservedTables = new Set(["analyse", "grants", "references", "values"]);
const sharedCoordinate = /^(?:Query|Mutation|DateTime|PageInfo(?:\..*)?)$/;

interface RoutesTable {
  readonly routes: readonly { readonly id: string; readonly path: string; readonly service: string }[];
}

interface NamedSchema {
  readonly name: string;
  readonly document: DocumentNode;
}

interface ObjectType {
  readonly name: string;
  readonly directives: readonly ConstDirectiveNode[];
  readonly fields: readonly { readonly name: string; readonly type: TypeNode }[];
}

interface OpenApiSchemas {
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly properties?: { readonly id?: { readonly format?: string } } }>
    >;
  };
}

/** Each reason says what to do; the list is empty if the service can be added. */
export function findProblems(root: string, services: readonly Service[], names: NewServiceNames): readonly string[] {
  const nameProblems = [...findNameProblems(root, names, services), ...findEntityProblems(names)];
  if (nameProblems.length > 0) return nameProblems;
  const schemas = services.map(({ name, folder }) => ({ name, document: readSchema(join(root, folder)) }));
  const parents = findParents(root, schemas);
  if (names.parent !== undefined && !parents.includes(names.parent))
    return [describeUnknownParent(names.parent, parents)];
  return [...findTypeCollisions(schemas, names), ...findRouteCollisions(root, names)];
}

export function findNameProblems(
  root: string,
  names: NewServiceNames,
  services: readonly Service[],
): readonly string[] {
  const { service: name, team, port } = names;
  if (services.some((service) => service.name === name))
    return [`There is a service ${name} already. Choose another name, or remove it: npm run remove:service -- ${name}`];
  if (existsSync(join(root, "services", name)))
    return [`The folder services/${name} exists already. Choose another name, or delete it.`];
  // The description is any valid one: the service gets that of the template.
  const descriptor = { name, description: "It.", team, port };
  const problems = findDescriptorProblems(descriptor, services);
  if (name.length <= nameLengthMax) return problems;
  const lengthProblem = `name has to have at most ${nameLengthMax} characters: the names of cache groups begin with it, and have at most 32`;
  return [...problems, lengthProblem];
}

function findEntityProblems(names: NewServiceNames): readonly string[] {
  const { entity, plural } = names;
  const spellingProblem = findSpellingProblem("--entity", entity) ?? findSpellingProblem("--plural", plural);
  if (spellingProblem !== undefined) return [spellingProblem];
  if (entity === plural)
    return [
      `The plural of ${entity} has to differ from it, for the names of lists: choose --plural ${entity}List, for example.`,
    ];
  const table = spell(plural).snake;
  const taken = reservedTables.has(table) ? table : findTakenIdentifiers(names)[0];
  if (taken === undefined) return [];
  return [
    `--entity ${entity} does not work: ${taken} has another meaning in the code of a service. Choose a longer name, such as Sales${entity}.`,
  ];
}

function findSpellingProblem(option: string, name: string): string | undefined {
  if (!entityPattern.test(name))
    return `${option} ${name} has to be words with a capital letter each, such as Review or LineItem; write Url, not URL.`;
  if (name.length > entityLengthMax) return `${option} ${name} has to have at most ${entityLengthMax} characters.`;
  return undefined;
}

function readSchema(folder: string): DocumentNode {
  return parse(readFileSync(join(folder, "schema.graphql"), "utf8"));
}

function objectTypesOf({ definitions }: DocumentNode): readonly ObjectType[] {
  return definitions.flatMap((node) => {
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.OBJECT_TYPE_EXTENSION) return [];
    const fields = (node.fields ?? []).map(({ name, type }) => ({ name: name.value, type }));
    return [{ name: node.name.value, directives: node.directives ?? [], fields }];
  });
}

/** The entities that a new one can belong to: their key is one field `id: ID!`, whose values are whole numbers. */
function findParents(root: string, schemas: readonly NamedSchema[]): readonly string[] {
  const types = schemas.flatMap(({ document }) => objectTypesOf(document)).filter(hasIdKey);
  const uuids = findTypesWithUuids(root);
  return [...new Set(types.map(({ name }) => name))].filter((name) => !uuids.has(name));
}

function hasIdKey({ directives, fields }: ObjectType): boolean {
  const idField = fields.find(({ name }) => name === "id");
  const keys = directives.filter((directive) => directive.name.value === "key");
  return isNonNullId(idField?.type) && keys.some((key) => stringArgumentOf(key, "fields") === "id");
}

function isNonNullId(type: TypeNode | undefined): boolean {
  return type?.kind === Kind.NON_NULL_TYPE && type.type.kind === Kind.NAMED_TYPE && type.type.name.value === "ID";
}

function stringArgumentOf(directive: ConstDirectiveNode, name: string): string | undefined {
  const value = directive.arguments?.find((argument) => argument.name.value === name)?.value;
  return value?.kind === Kind.STRING ? value.value : undefined;
}

/** Only the REST schemas have the format of an id. */
function findTypesWithUuids(root: string): ReadonlySet<string> {
  const file = join(root, "supergraph/openapi/v2.json");
  if (!existsSync(file)) return new Set();
  const { components } = JSON.parse(readFileSync(file, "utf8")) as OpenApiSchemas;
  const schemas = Object.entries(components.schemas);
  const schemasWithUuid = schemas.filter(([, { properties }]) => properties?.id?.format === "uuid");
  return new Set(schemasWithUuid.map(([name]) => name));
}

function describeUnknownParent(parent: string, parents: readonly string[]): string {
  return `--extends ${parent} is not possible: it takes an entity whose key is one field id: ID! with whole numbers. These are ${parents.toSorted().join(", ")}.`;
}

function findTypeCollisions(schemas: readonly NamedSchema[], names: NewServiceNames): readonly string[] {
  // Types of other services to which the new service adds fields. `Post` and `Post.id` may be in both subgraphs; another field of Post may not.
  const extendedTypes = [authorType, names.parent];
  const isShared = (coordinate: string) =>
    sharedCoordinate.test(coordinate) ||
    extendedTypes.some((type) => coordinate === type || coordinate === `${type}.id`);
  const newSchema = parse(renderTemplate(names).get("schema.graphql") ?? "");
  const newCoordinates = coordinatesOf(newSchema).filter((coordinate) => !isShared(coordinate));
  return schemas.flatMap(({ name, document }) => {
    const existing = new Set(coordinatesOf(document));
    const taken = newCoordinates.filter((coordinate) => existing.has(coordinate));
    if (taken.length === 0) return [];
    return [`The service ${name} has ${taken.join(", ")} already. Choose another --entity or --plural.`];
  });
}

/** Each type as `Post`, and each field as `Post.title`. */
function coordinatesOf(document: DocumentNode): readonly string[] {
  const fields = objectTypesOf(document).flatMap((type) => type.fields.map(({ name }) => `${type.name}.${name}`));
  const types = document.definitions.flatMap((node) => ("name" in node && node.name ? [node.name.value] : []));
  return [...new Set([...types, ...fields])];
}

function findRouteCollisions(root: string, { plural, entity }: NewServiceNames): readonly string[] {
  const { routes } = JSON.parse(readFileSync(join(root, "supergraph/routes.json"), "utf8")) as RoutesTable;
  const path = `/${spell(plural).kebab}`;
  const taken = routes.find((route) => route.path === path || route.path.startsWith(`${path}/`));
  if (taken === undefined) return [];
  return [
    `The REST path ${path} of ${entity} belongs to the service ${taken.service}. Choose another --entity or --plural.`,
  ];
}
