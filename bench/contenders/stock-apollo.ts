// The contender `stock`: Apollo's gateway and server, set up for production as in their documentation. gateways.ts starts this file as a process.
// The packages are those that Tributary's gateway depends on (gateway/package.json); bench/peers does not install them.
import { readFileSync } from "node:fs";
import { ApolloGateway } from "@apollo/gateway";
import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";

const { SUPERGRAPH_FILE = "", PORT = "4000", HOST = "127.0.0.1" } = process.env;

const gateway = new ApolloGateway({ supergraphSdl: readFileSync(SUPERGRAPH_FILE, "utf8") });
const server = new ApolloServer({ gateway, introspection: false });
await startStandaloneServer(server, { listen: { port: Number(PORT), host: HOST } });
