import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";

/** A proxy in front of a service that can respond in the service's place. */
export interface FaultProxy {
  /** Sets the source of the next responses: the service, an error with status 500, or an HTML page with status 200. */
  respondWith(mode: "service" | "500" | "html"): void;
  stop(): Promise<void>;
}

/** Closes each client connection after the response, so that no connection bypasses a later mode. */
export async function startFaultProxy(port: number, serviceUrl: string): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true });
  let mode: Parameters<FaultProxy["respondWith"]>[0] = "service";
  const server = createServer((clientRequest, response) => {
    if (mode === "service") return forward(serviceUrl, agent, clientRequest, response);
    clientRequest.resume();
    if (mode === "500") response.writeHead(500, { "content-type": "application/problem+json" }).end('{"status":500}');
    else response.writeHead(200, { "content-type": "text/html" }).end("<h1>It works!</h1>");
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    respondWith: (next) => void (mode = next),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      agent.destroy();
    },
  };
}

function forward(serviceUrl: string, agent: Agent, clientRequest: IncomingMessage, response: ServerResponse): void {
  const { hostname, port } = new URL(serviceUrl);
  const { method, url: path, headers } = clientRequest;
  const upstreamRequest = request({ hostname, port, path, method, headers, agent }, (upstreamResponse) => {
    const { connection: _connection, "keep-alive": _keepAlive, ...endToEndHeaders } = upstreamResponse.headers;
    response.writeHead(upstreamResponse.statusCode ?? 502, endToEndHeaders);
    upstreamResponse.on("error", () => response.destroy()).pipe(response);
  });
  upstreamRequest.on("error", () => response.destroy());
  response.on("close", () => upstreamRequest.destroy());
  clientRequest.pipe(upstreamRequest);
}
