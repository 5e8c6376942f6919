// The origin behind the proxies: sends canned responses from a separate process on the load's core. Sends its port once over IPC.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createHttpReader } from "../load/http-reader.ts";
import { uncacheablePath, cacheablePath } from "./rest-workloads.ts";

const bodyBytes = 1_024;

const responses = new Map([
  // Fresh for the whole run, stated in a field that every contender supports.
  [
    `/rest${cacheablePath}`,
    createResponse(["Cache-Control: public, max-age=3600", 'ETag: "7-v1-public"', "Vary: Accept"]),
  ],
  [
    `/rest${uncacheablePath}`,
    createResponse(["Cache-Control: private, no-cache", 'ETag: "3-v1-own"', "Vary: Authorization"]),
  ],
]);
const notFound = Buffer.from("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");

const server = createServer({ noDelay: true }, serve);
server.listen({ port: 0, host: "127.0.0.1", backlog: 1_024 });
await once(server, "listening");
process.on("disconnect", () => process.exit());
process.send?.((server.address() as AddressInfo).port);

function createResponse(headers: readonly string[]): Buffer {
  const frame = JSON.stringify({ id: "1", text: "" }).length;
  const body = JSON.stringify({ id: "1", text: "x".repeat(bodyBytes - frame) });
  const head = [
    "HTTP/1.1 200 OK",
    `Date: ${new Date().toUTCString()}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...headers,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function serve(socket: Socket): void {
  let path = "";
  const read = createHttpReader({
    onHead: (head) => (path = head.slice(head.indexOf(" ") + 1, head.indexOf(" ", head.indexOf(" ") + 1))),
    onBody: () => {},
    onEnd: () => void socket.write(responses.get(path) ?? notFound),
  });
  socket.on("data", read);
  socket.on("error", () => socket.destroy());
}
