import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createHttpReader } from "../load/http-reader.ts";
import type { CannedAnswers } from "./canned-answers.ts";

/** Serves canned answers from a raw socket. Resolves with the port. */
export async function listenCanned(answers: CannedAnswers): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => serve(socket, answers));
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1_024 });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** No gateway here pipelines: the next request of a connection comes after its answer, so answers keep their order. */
function serve(socket: Socket, answers: CannedAnswers): void {
  let body: Buffer[] = [];
  const read = createHttpReader({
    onHead: () => (body = []),
    onBody: (bytes) => body.push(bytes),
    onEnd() {
      const [first, second] = body;
      const whole = first && !second ? first : Buffer.concat(body);
      const answer = answers.answer(whole.toString("latin1"));
      if (Buffer.isBuffer(answer)) socket.write(answer);
      else void answer.then((bytes) => socket.write(bytes));
    },
  });
  socket.on("data", read);
  socket.on("error", () => socket.destroy());
}
