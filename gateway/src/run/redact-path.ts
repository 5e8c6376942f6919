// Stage 4 of 5: fetch it. Places in answers, as the log may hold them.
import { type GraphQLSchema, isInterfaceType, isObjectType } from "graphql";
import type { Path } from "./subgraph-response.ts";

export type TellPath = (path: Path) => string;

/**
 * `_entities.3.name`, with `*` for what is no field's name: a client's alias, or whatever a subgraph made up, may be a secret.
 * @param schema the supergraph's. It is read when the first path is to be told.
 */
export function createTellPath(schema: GraphQLSchema): TellPath {
  let names: ReadonlySet<string> | undefined;
  return (path) => {
    names ??= listFieldNames(schema);
    return path.map((step) => (typeof step === "number" || names?.has(step) ? step : "*")).join(".");
  };
}

function listFieldNames(schema: GraphQLSchema): ReadonlySet<string> {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  return new Set(["_entities", "__typename", ...types.flatMap((type) => Object.keys(type.getFields()))]);
}
