// The four subgraphs in one process on the load's core: HTTP servers on raw sockets that send canned responses.
// Sends its URLs once over IPC; afterwards replies to each IPC message with its fetch counts.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { subgraphNames } from "../graph/schemas.ts";
import { createHttpReader } from "../load/http-reader.ts";
import { type CannedResponses, createCannedResponses } from "./canned-responses.ts";

const subgraphs = await Promise.all(
  subgraphNames.map(async (name) => {
    const responses = createCannedResponses(name);
    return { name, responses, port: await listen(responses) };
  }),
);

process.on("message", () => {
  const sum = (count: "fetches" | "computed") =>
    subgraphs.reduce((total, { responses }) => total + responses.counts[count], 0);
  process.send?.({ fetches: sum("fetches"), computed: sum("computed") });
});
process.on("disconnect", () => process.exit());
process.send?.(Object.fromEntries(subgraphs.map(({ name, port }) => [name, `http://127.0.0.1:${port}/graphql`])));

/** Resolves with the port. */
async function listen(responses: CannedResponses): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => serve(socket, responses));
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1_024 });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Responses keep the order of the requests, because no contender pipelines. */
function serve(socket: Socket, responses: CannedResponses): void {
  let body: Buffer[] = [];
  const read = createHttpReader({
    onHead: () => (body = []),
    onBody: (bytes) => body.push(bytes),
    onEnd() {
      const [first, second] = body;
      const whole = first && !second ? first : Buffer.concat(body);
      const response = responses.respond(whole.toString("latin1"));
      if (Buffer.isBuffer(response)) socket.write(response);
      else void response.then((bytes) => socket.write(bytes));
    },
  });
  socket.on("data", read);
  socket.on("error", () => socket.destroy());
}
