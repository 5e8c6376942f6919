// The process of a substitute under `npm start -- --against` and `--mock`: it listens on the port of one service that does not run here, and
// responds to the gateway and the REST proxy in its place. scripts/start/environments.ts sets its variables.
import { readFileSync } from "node:fs";
import { readEnvironment } from "@tributary/kit/process/env";
import { startServer } from "@tributary/kit/process/lifecycle";
import { readListenerConfig } from "@tributary/kit/process/listener-config";
import { createLog, type Log } from "@tributary/kit/process/log";
import { runMain, stopOnSignals } from "@tributary/kit/process/main";
import { buildSchema } from "graphql";
import type { RestPaths } from "../../../supergraph/contract/rest-paths.ts";
import { createMockRest } from "./mock/mock-rest.ts";
import { createMockExecutor } from "./mock/mock-subgraph.ts";
import { findLookups } from "./remote/lookups.ts";
import { createRemoteClient } from "./remote/remote-client.ts";
import { createRestForwarder } from "./remote/remote-rest.ts";
import { executeOnRemote } from "./remote/remote-subgraph.ts";
import { createSubstituteHandler, type SubgraphExecutor, type SubstituteOptions } from "./server.ts";
import { buildExecutableSchema, readEntityKeys } from "./subgraph-schema.ts";

/** The variable SUBSTITUTE, as JSON. */
export interface SubstituteConfig {
  readonly name: string;
  readonly schemaFile: string;
  /** Where the REST proxy expects the service's routes. */
  readonly restPaths: RestPaths;
  /** The OpenAPI documents by which a mock responds to REST requests. */
  readonly openapiFolder: string;
  /** Undefined for a mock. */
  readonly remote: RemoteConfig | undefined;
}

interface RemoteConfig {
  /** The API schema of the remote, for its root fields that return one entity by its key, such as `user(id:)`. */
  readonly apiFile: string;
  readonly graphqlUrl: string;
  /** The origin of the remote's REST proxy. */
  readonly restUrl: string | undefined;
}

await runMain(async () => {
  const listener = readEnvironment(process.env, (env) => readListenerConfig(env, { port: 0, shutdownGraceMs: 2_500 }));
  const config = JSON.parse(process.env["SUBSTITUTE"] ?? "") as SubstituteConfig;
  const { name, remote, restPaths } = config;
  const log = createLog({ name, level: listener.logLevel });
  const substitute = remote ? createRemote(config, remote, log) : createMock(config);
  const handler = createSubstituteHandler({ ...substitute, restPaths, log });
  const server = await startServer({ ...listener, name, handler, log, isReady: () => true, close: async () => {} });
  stopOnSignals([server], log);
  log.info({ url: server.url, remote: remote?.graphqlUrl ?? "none: it is a mock" }, "listening");
});

type Substitute = Pick<SubstituteOptions, "execute" | "forwardRest">;

/** Headers of the gateway's requests to subgraphs that concern the caller and the trace. */
const forwardedHeaders = ["authorization", "x-request-id", "traceparent"];

function createRemote(
  { schemaFile }: SubstituteConfig,
  { apiFile, graphqlUrl, restUrl }: RemoteConfig,
  log: Log,
): Substitute {
  const api = buildSchema(readFileSync(apiFile, "utf8"), { assumeValidSDL: true });
  const lookups = findLookups(api, readEntityKeys(readFileSync(schemaFile, "utf8")));
  const typesWithoutLookup = [...lookups.keys()].filter((type) => lookups.get(type)?.length === 0);
  if (typesWithoutLookup.length > 0)
    log.warn({ types: typesWithoutLookup }, "the remote has no root field that returns one of these types by its key");
  const sendToRemote = createRemoteClient(graphqlUrl, log);
  const execute: SubgraphExecutor = (request, { headers, signal }) => {
    const sent = forwardedHeaders.flatMap((name) => (headers[name] ? [[name, String(headers[name])]] : []));
    const options = { headers: Object.fromEntries(sent) as Record<string, string>, signal };
    return executeOnRemote(request, { api, lookups, send: (operation) => sendToRemote(operation, options) });
  };
  return { execute, forwardRest: restUrl === undefined ? undefined : createRestForwarder(restUrl) };
}

/** Nothing is stored: the objects in a mutation's payload have the values of its input. */
function createMock({ schemaFile, openapiFolder }: SubstituteConfig): Substitute {
  const sdl = readFileSync(schemaFile, "utf8");
  return {
    execute: createMockExecutor(buildExecutableSchema(sdl), readEntityKeys(sdl)),
    forwardRest: createMockRest(openapiFolder),
  };
}
