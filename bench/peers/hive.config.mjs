// Configuration of Hive Gateway. The planner in Rust is selected on the command line (contenders/gateways.ts).
import { defineConfig } from "@graphql-hive/gateway";

export const gatewayConfig = defineConfig({
  inboundInflightRequestDeduplication: process.env.INBOUND_DEDUP === "true",
});
