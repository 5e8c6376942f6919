import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

/** In groups, since the kernel resets connections beyond the listener's backlog of 511. */
const connectingMax = 100;

/** Requests arrive in one iteration of the event loop, each over its own connection. @param requests with `Connection: close`. */
export async function sendAtOnce(port: number, requests: readonly string[]): Promise<readonly string[]> {
  const connections = [];
  for (let start = 0; start < requests.length; start += connectingMax) {
    const group = requests.slice(start, start + connectingMax).map(async (request) => {
      const socket = connect({ port, host: "127.0.0.1" });
      // Node accepts one connection per iteration, so each connection has a response before the requests are sent.
      socket.write("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n");
      await once(socket, "data");
      return { socket, request };
    });
    connections.push(...(await Promise.all(group)));
  }
  return Promise.all(
    connections.map(({ socket, request }) => {
      socket.write(request);
      return text(socket);
    }),
  );
}
