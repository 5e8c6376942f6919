// The lower bound for a cache hit in Node: a `node:http` handler that sends the same response without reading the request.
import { createServer } from "node:http";
import { originBody } from "../graph/rest-content.ts";

const body = Buffer.from(JSON.stringify(originBody));

/**
 * The header fields of a cache hit, as one list of names and values; empty-handler.test.ts compares them. Node adds `Date` and the connection
 * fields.
 */
const headers = Object.entries({
  "Content-Type": "application/json",
  "Cache-Control": "public, max-age=3600",
  ETag: '"7-v1-public"',
  "Content-Length": String(body.length),
  Age: "1",
  "Cache-Status": "tributary; hit; ttl=3599",
  Vary: "Accept, Accept-Encoding",
  "X-Content-Type-Options": "nosniff",
  "API-Version": "1",
  "RateLimit-Policy": '"reads";q=100000000;w=60',
  RateLimit: '"reads";r=99999999;t=1',
}).flat();

const server = createServer((_request, response) => void response.writeHead(200, headers).end(body));
server.listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => process.exit());
