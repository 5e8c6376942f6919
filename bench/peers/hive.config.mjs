// Hive Gateway as its own command starts it; the planner in Rust is chosen on its command line.
import { defineConfig } from "@graphql-hive/gateway";

export const gatewayConfig = defineConfig({
  inboundInflightRequestDeduplication: process.env.INBOUND_DEDUP === "true",
});
