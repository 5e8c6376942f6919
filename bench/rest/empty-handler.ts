// The floor: `node:http` that answers the same bytes without a look at the request.
import { createServer } from "node:http";

const body = Buffer.from(JSON.stringify({ id: "1", text: "x".repeat(1_003) }));
const headers = { "Content-Type": "application/json", "Content-Length": body.length };

createServer((_request, response) => void response.writeHead(200, headers).end(body)).listen(
  Number(process.env["PORT"]),
  "127.0.0.1",
);
process.on("SIGTERM", () => process.exit());
