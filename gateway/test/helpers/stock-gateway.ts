// The control of the test for outgoing calls: stock Apollo Gateway, with its default telemetry.
import { readFileSync } from "node:fs";
import { ApolloGateway } from "@apollo/gateway";

const gateway = new ApolloGateway({ supergraphSdl: readFileSync(process.argv[2] ?? "", "utf8") });
await gateway.load();
await gateway.stop();
