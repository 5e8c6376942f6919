// Stage 4 of 5: run. Formats response paths for the log, without text of a client or a subgraph. Used by failure-reports.ts and stage 5.
import { type GraphQLSchema, isInterfaceType, isObjectType } from "graphql";
import type { ResponsePath } from "./fetch/subgraph-response.ts";

export type RedactPath = (path: ResponsePath) => string;

/**
 * Formats a path as `_entities.3.name`, with `*` for every step that is neither an index nor a field name of the schema: an alias of a client, or
 * a text that a subgraph sent, may be a secret.
 * @param schema of the supergraph. Its field names are listed when the first path is formatted.
 */
export function createPathRedactor(schema: GraphQLSchema): RedactPath {
  let listedNames: ReadonlySet<string> | undefined;
  return (path) => {
    listedNames ??= listFieldNames(schema);
    const fieldNames = listedNames;
    const redacted = path.map((step) => {
      const isKnown = typeof step === "number" || fieldNames.has(step);
      return isKnown ? step : "*";
    });
    return redacted.join(".");
  };
}

function listFieldNames(schema: GraphQLSchema): ReadonlySet<string> {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  const namesOfTypes = types.flatMap((type) => Object.keys(type.getFields()));
  return new Set(["_entities", "__typename", ...namesOfTypes]);
}
