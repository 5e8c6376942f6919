import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";

/** What stands before a service, and may answer in its place. */
export interface Relay {
  /** From now on: the service's own answers, a 500, or something that is no answer of a service. */
  answer(what: "truly" | "500" | "nonsense"): void;
  stop(): Promise<void>;
}

/** Connections to it end with their answers, so that none outlives a fault. */
export async function startRelay(port: number, serviceUrl: string): Promise<Relay> {
  const agent = new Agent({ keepAlive: true });
  let what: Parameters<Relay["answer"]>[0] = "truly";
  const server = createServer((asked, answer) => {
    if (what === "truly") return passOn(serviceUrl, agent, asked, answer);
    asked.resume();
    if (what === "500") answer.writeHead(500, { "content-type": "application/problem+json" }).end('{"status":500}');
    else answer.writeHead(200, { "content-type": "text/html" }).end("<h1>It works!</h1>");
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    answer: (next) => void (what = next),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      agent.destroy();
    },
  };
}

function passOn(serviceUrl: string, agent: Agent, asked: IncomingMessage, answer: ServerResponse): void {
  const { hostname, port } = new URL(serviceUrl);
  const { method, url: path, headers } = asked;
  const passed = request({ hostname, port, path, method, headers, agent }, (answered) => {
    const { connection: _hop, "keep-alive": _alive, ...kept } = answered.headers;
    answer.writeHead(answered.statusCode ?? 502, kept);
    answered.on("error", () => answer.destroy()).pipe(answer);
  });
  passed.on("error", () => answer.destroy());
  answer.on("close", () => passed.destroy());
  asked.pipe(passed);
}
