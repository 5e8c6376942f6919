import { diff } from "@graphql-inspector/core";
import { buildExecutableSchema } from "../start/substitute/subgraph-schema.ts";
import type { Drift } from "./document-drift.ts";

/** What federation adds, under any prefix of `@link`; directives of the schema. */
const machineryPath = /^(?:_|@|\.|FieldSet|Import|link|federation)|__|\._(?:entities|service|unused)\b/;

/** The outermost places that differ; descriptions and the order do not count. @throws GraphQLError if one of them is not GraphQL. */
export async function findSchemaDrift(contract: string, running: string): Promise<readonly Drift[]> {
  const build = (sdl: string) => buildExecutableSchema(sdl.replaceAll("@federation__", "@"));
  const drift = new Map<string, Drift>();
  for (const { type, path = "", message } of await diff(build(contract), build(running))) {
    if (machineryPath.test(path) || String(type).includes("DESCRIPTION")) continue;
    drift.set(path, { place: path, expected: "as in schema.graphql", got: message });
  }
  const isWithin = (place: string, outer: string) => place.startsWith(`${outer}.`);
  return [...drift.values()].filter(({ place }) => ![...drift.keys()].some((outer) => isWithin(place, outer)));
}
