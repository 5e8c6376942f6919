import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObjectType } from "graphql";
import { composeSubgraphs } from "../../supergraph/compose.ts";
import { findDescriptorProblems, type Service } from "../../supergraph/services.ts";
import { readSubgraphs } from "../../supergraph/subgraphs.ts";
import { buildExecutableSchema, readEntityKeys } from "../start/substitute/subgraph-schema.ts";
import { entityPattern, type NewServiceNames, spell } from "./names.ts";
import { findTakenIdentifiers, renderTemplate } from "./template.ts";

/** A cache group is named by the service, `:on-` and an id: with 10 digits at most 32 characters, which every cache supports (RFC 9875). */
const nameLengthMax = 18;
const entityLengthMax = 30;
/** Keywords of PostgreSQL that a plural can be. */
const reservedTables = new Set(["analyse", "grants", "references", "values"]);

interface RoutesTable {
  readonly routes: readonly { readonly id: string; readonly path: string; readonly service: string }[];
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
  const parents = findParents(root, services);
  if (names.parent !== undefined && !parents.includes(names.parent))
    return [describeUnknownParent(names.parent, parents)];
  return [...findCompositionProblems(root, services, names), ...findRouteCollisions(root, names)];
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

/** The entities that a new one can belong to: their key is one field `id: ID!`, whose values are whole numbers. */
function findParents(root: string, services: readonly Service[]): readonly string[] {
  const types = readSubgraphs(root, services).flatMap(({ sdl = "" }) => {
    const byId = [...readEntityKeys(sdl)].filter(([, keys]) => keys.some((key) => key.join() === "id"));
    const schema = buildExecutableSchema(sdl);
    return byId.map(([type]) => schema.getType(type)).filter(isObjectType);
  });
  const withId = types.filter((type) => String(type.getFields()["id"]?.type) === "ID!");
  const uuids = findTypesWithUuids(root);
  return [...new Set(withId.map(({ name }) => name))].filter((name) => !uuids.has(name));
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

/** With the schemas of all other services. */
function findCompositionProblems(
  root: string,
  services: readonly Service[],
  names: NewServiceNames,
): readonly string[] {
  const { service: name, team: owner, entity } = names;
  const folder = `services/${name}`;
  const sdl = renderTemplate(names).get("schema.graphql");
  const source = { name, folder, url: "", owner, file: `${folder}/schema.graphql`, sdl };
  const composition = composeSubgraphs([...readSubgraphs(root, services), source]);
  if (composition.ok) return [];
  const reasons = composition.errors.map(({ message }) => `  ${message.split("\n")[0]}\n`);
  return [`${entity} does not fit the other schemas:\n${reasons.join("")}Choose another --entity or --plural.`];
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
