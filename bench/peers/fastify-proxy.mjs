// @fastify/http-proxy with its defaults: forwards every path to the origin, prefixed with /rest.
import proxy from "@fastify/http-proxy";
import fastify from "fastify";

const { PORT, ORIGIN } = process.env;
const app = fastify({ logger: false });
app.register(proxy, { upstream: ORIGIN, prefix: "/", rewritePrefix: "/rest/" });
await app.listen({ port: Number(PORT), host: "127.0.0.1" });
