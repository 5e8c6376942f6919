// Takes traces over OTLP as a collector does, and keeps none. In a process of its own on the load's core. Says its address once.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((request, response) => {
  request.resume();
  // Without a word of what was not taken all of it was (OTLP specification, "Full Success").
  request.once("end", () => response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end());
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.on("disconnect", () => process.exit());
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
