// A `node:http` handler that reads each request and rejects it. Its CPU time is the lower bound for a
// rejection in Node.
import { createServer } from "node:http";

const body = JSON.stringify({ errors: [{ message: "The server is overloaded.", extensions: { code: "OVERLOADED" } }] });
const headers = ["Content-Type", "application/json", "Retry-After", "1", "Content-Length", String(body.length)];

createServer((request, response) => {
  if (request.url === "/health/ready") {
    response.end();
    return;
  }
  request.resume();
  request.on("end", () => response.writeHead(503, headers).end(body));
}).listen({ port: Number(process.env["PORT"]), host: "127.0.0.1", backlog: 1_024 });
process.on("SIGTERM", () => process.exit());
