// An OTLP collector in a separate process on the load's core: accepts all traces and discards them. Sends its URL once over IPC.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((request, response) => {
  request.resume();
  // An empty protobuf body reports that all spans were accepted (OTLP specification, "Full Success").
  request.once("end", () => response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end());
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.on("disconnect", () => process.exit());
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
