import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A test double of an OpenTelemetry collector that stores the requests it receives. */
export interface FakeCollector {
  readonly url: string;
  /** The path, headers and body of each request as one text. Strings in a protobuf body are readable. */
  received(): readonly string[];
  /** Sets the status of further responses; initially 200. */
  respondWith(status: number): void;
  stop(): Promise<void>;
}

export async function startCollector(): Promise<FakeCollector> {
  const texts: string[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      texts.push(`${request.url}\n${JSON.stringify(request.headers)}\n${Buffer.concat(chunks).toString("latin1")}`);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => texts,
    respondWith: (next) => void (status = next),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
