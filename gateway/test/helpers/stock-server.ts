// Apollo Gateway behind Apollo Server as they come, over SUPERGRAPH_FILE: what our own gateway is held against.
import { readFileSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { ApolloGateway } from "@apollo/gateway";
import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";

process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

const file = process.env["SUPERGRAPH_FILE"] ?? "";
const say = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`);

const gateway = new ApolloGateway({
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
  listen: { host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) },
});
say({ msg: "listening", url: new URL(url).origin });
