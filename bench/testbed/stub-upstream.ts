// An upstream that costs microseconds for each response, so that it leaves the load's core to the load: a raw-socket server of prepared responses.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createHttpReader } from "../load/http-reader.ts";

/** Returns the complete HTTP response to a request; a promise if it must be computed. The body is in Latin-1. */
export type Respond = (path: string, body: string) => Buffer | Promise<Buffer>;

/** Resolves with the URL. It listens until the process exits. */
export async function startStubUpstream(respond: Respond): Promise<string> {
  const server = createServer({ noDelay: true }, (socket) => serve(socket, respond));
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1_024 });
  await once(server, "listening");
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Responses keep the order of the requests, because no client of these upstreams pipelines. */
function serve(socket: Socket, respond: Respond): void {
  let path = "";
  let bodyPieces: Buffer[] = [];
  const read = createHttpReader({
    onHead(head) {
      const pathStart = head.indexOf(" ") + 1;
      path = head.slice(pathStart, head.indexOf(" ", pathStart));
      bodyPieces = [];
    },
    onBody: (bytes) => bodyPieces.push(bytes),
    onEnd() {
      const [firstPiece, secondPiece] = bodyPieces;
      const isOnePiece = firstPiece !== undefined && secondPiece === undefined;
      const body = isOnePiece ? firstPiece : Buffer.concat(bodyPieces);
      const response = respond(path, body.toString("latin1"));
      if (Buffer.isBuffer(response)) socket.write(response);
      else void response.then((bytes) => socket.write(bytes));
    },
  });
  socket.on("data", read);
  socket.on("error", () => socket.destroy());
}

/** Returns the bytes of a response with status 200. */
export function toHttp(text: string, headers: readonly string[]): Buffer {
  const body = Buffer.from(text);
  const head = ["HTTP/1.1 200 OK", ...headers, `Content-Length: ${body.length}`];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}
