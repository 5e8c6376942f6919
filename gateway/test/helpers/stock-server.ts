// Apollo Gateway behind Apollo Server as they come, over SUPERGRAPH_FILE: what our own gateway is held against.
import { readFileSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { ApolloGateway, type GraphQLDataSourceProcessOptions, RemoteGraphQLDataSource } from "@apollo/gateway";
import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";

process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

const file = process.env["SUPERGRAPH_FILE"] ?? "";
const say = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** The one thing that is set up: `authorization` goes further, as in our own gateway. */
class DataSource extends RemoteGraphQLDataSource {
  override willSendRequest({ request, context }: GraphQLDataSourceProcessOptions): void {
    const { authorization } = context as { authorization?: string };
    if (authorization !== undefined) request.http?.headers.set("authorization", authorization);
  }
}

const gateway = new ApolloGateway({
  buildService: ({ url }) => new DataSource({ url: url ?? "" }),
  supergraphSdl: ({ update }) => {
    const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name === basename(file)) update(readFileSync(file, "utf8"));
    });
    return Promise.resolve({
      supergraphSdl: readFileSync(file, "utf8"),
      cleanup: () => Promise.resolve(watcher.close()),
    });
  },
});
gateway.onSchemaLoadOrUpdate(() => say({ observation: "supergraph-loaded" }));
const { url } = await startStandaloneServer(new ApolloServer({ gateway }), {
  context: ({ req: { headers } }) =>
    Promise.resolve(headers.authorization === undefined ? {} : { authorization: headers.authorization }),
  listen: { host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) },
});
say({ msg: "listening", url: new URL(url).origin });
