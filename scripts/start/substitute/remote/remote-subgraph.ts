// The GraphQL half of a remote substitute, the process that responds in place of a service under `npm start -- --against`; remote-rest.ts is
// the other half. Translates the local gateway's requests to the subgraph into operations on the public API of the remote gateway.
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import type { Log } from "@tributary/kit/process/log";
import { buildSchema, GraphQLError } from "graphql";
import { failedResult } from "../graphql-messages.ts";
import type { SubgraphExecutor } from "../server.ts";
import { readEntityKeys } from "../subgraph-schema.ts";
import { findLookups } from "./lookups.ts";
import type { RemoteClient } from "./remote-client.ts";
import { translate, type Translation } from "./translation.ts";

export interface RemoteSubgraphOptions {
  /** The subgraph's schema, for its keys. */
  readonly schemaFile: string;
  /** The API schema of the remote, for its look-ups: root fields that return one entity by its key, such as `user(id:)`. */
  readonly apiFile: string;
  readonly client: Pick<RemoteClient, "send">;
  readonly log: Log;
}

/** Headers of the gateway's requests to subgraphs that concern the caller and the trace. */
const forwardedHeaders = ["authorization", "x-request-id", "traceparent"];

/** @throws Error if a schema cannot be read. */
export function createRemoteSubgraph({ schemaFile, apiFile, client, log }: RemoteSubgraphOptions): SubgraphExecutor {
  const api = buildSchema(readFileSync(apiFile, "utf8"), { assumeValidSDL: true });
  const lookups = findLookups(api, readEntityKeys(readFileSync(schemaFile, "utf8")));
  const typesWithoutLookup = [...lookups.keys()].filter((type) => lookups.get(type)?.length === 0);
  if (typesWithoutLookup.length > 0)
    log.warn({ types: typesWithoutLookup }, "the remote has no root field that returns one of these types by its key");

  return async (request, { headers, signal }) => {
    const translation = tryTranslate(() => translate(request, { api, lookups }));
    if (!translation) return failedResult("GRAPHQL_PARSE_FAILED", "The document has a syntax error.");
    const { operations, isMutation, merge } = translation;
    const remoteHeaders = toRemoteHeaders(headers);
    // Sent at the same time: a mutation is one operation, and queries are independent of each other.
    const pendingResults = operations.map((operation) => {
      return client.send(operation, { headers: remoteHeaders, isMutation, signal });
    });
    return merge(await Promise.all(pendingResults));
  };
}

/** @returns a raw list: name, value, name, value. */
function toRemoteHeaders(headers: IncomingHttpHeaders): readonly string[] {
  const rawHeaders = ["accept", "application/json", "content-type", "application/json"];
  for (const name of forwardedHeaders) {
    const value = headers[name];
    if (typeof value === "string") rawHeaders.push(name, value);
  }
  return rawHeaders;
}

function tryTranslate(run: () => Translation): Translation | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}
