// The process of a substitute under `npm start -- --against` and `--mock`: it listens on the port of one service that does not run here, and
// responds to the gateway and the REST proxy in its place. scripts/start/environments.ts sets its variables.
import { readEnvironment } from "@tributary/kit/process/env";
import { startServer, stopOnSignals } from "@tributary/kit/process/lifecycle";
import { readListenerConfig } from "@tributary/kit/process/listener-config";
import { createLog, type Log } from "@tributary/kit/process/log";
import { runMain } from "@tributary/kit/process/main";
import { defaultRestPaths, type RestPaths } from "../../../supergraph/contract/rest-paths.ts";
import { createMockRest } from "./mock/mock-rest.ts";
import { createMockSubgraph } from "./mock/mock-subgraph.ts";
import { createRemoteClient } from "./remote/remote-client.ts";
import { createRestForwarder } from "./remote/remote-rest.ts";
import { createRemoteSubgraph } from "./remote/remote-subgraph.ts";
import { createSubstituteHandler, type RestForwarder, type SubgraphExecutor } from "./server.ts";

interface Substitute {
  readonly execute: SubgraphExecutor;
  readonly rest: RestForwarder | undefined;
  readonly restReason: string;
  close(): Promise<void>;
}

await runMain(async () => {
  const config = readConfig();
  const { name, logLevel } = config;
  const log = createLog({ name, level: logLevel });
  const substitute = config.remoteUrl === undefined ? createMock(config) : createRemote(config, config.remoteUrl, log);
  const { execute, rest, restReason } = substitute;
  const server = await startServer({
    ...config,
    name,
    handler: createSubstituteHandler({ execute, rest, restReason, restPaths: config.restPaths, log }),
    log,
    isReady: () => true,
    close: () => substitute.close(),
  });
  stopOnSignals([server], log);
  log.info({ url: server.url, remote: config.remoteUrl ?? "none: it is a mock" }, "listening");
});

type Config = ReturnType<typeof readConfig>;

function readConfig() {
  return readEnvironment(process.env, (env) => ({
    ...readListenerConfig(env, { port: 0, shutdownGraceMs: 2_500 }),
    name: env.string("SUBSTITUTE_NAME", { why: "the service in whose place it responds" }),
    schemaFile: env.string("SUBSTITUTE_SCHEMA_FILE", { why: "the service's schema.graphql" }),
    documentsFolder: env.string("SUBSTITUTE_OPENAPI_FOLDER", {
      fallback: "",
      why: "the OpenAPI documents by which a mock responds to REST requests",
    }),
    apiFile: env.string("SUBSTITUTE_API_FILE", { fallback: "", why: "the API schema of the remote" }),
    remoteUrl: env.optional("SUBSTITUTE_REMOTE_URL", { why: "the GraphQL endpoint of the remote; without it, a mock" }),
    restPaths: JSON.parse(
      env.string("SUBSTITUTE_REST", {
        fallback: JSON.stringify(defaultRestPaths),
        why: "where the REST proxy expects the service's routes, as JSON",
      }),
    ) as RestPaths,
    restUrl: env.optional("SUBSTITUTE_REST_URL", { why: "the origin of the remote's REST proxy" }),
  }));
}

function createRemote(config: Config, remoteUrl: string, log: Log): Substitute {
  const { name, restUrl, schemaFile, apiFile } = config;
  const client = createRemoteClient(remoteUrl, log);
  const rest = restUrl === undefined ? undefined : createRestForwarder(restUrl);
  return {
    execute: createRemoteSubgraph({ schemaFile, apiFile, client, log }),
    rest,
    restReason: `${name} does not run here, and npm start has no --against-rest. Send this request to the REST proxy of the remote.`,
    async close() {
      await Promise.all([client.close(), rest?.close()]);
    },
  };
}

function createMock({ schemaFile, documentsFolder }: Config): Substitute {
  return {
    execute: createMockSubgraph(schemaFile),
    rest: createMockRest(documentsFolder),
    restReason: "",
    close: async () => {},
  };
}
