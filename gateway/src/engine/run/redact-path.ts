// Stage 4 of 5: run. Formats response paths for the log, without text of a client or a subgraph.
import { type GraphQLSchema, isInterfaceType, isObjectType } from "graphql";
import type { ResponsePath } from "./fetch/subgraph-response.ts";

export type RedactPath = (path: ResponsePath) => string;

/** `_entities.3.name`, with `*` for each step that is neither an index nor a field name of the schema: an alias may be a secret. */
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
