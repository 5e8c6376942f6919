import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Stands in for an OpenTelemetry collector: takes whatever comes, as bytes. */
export interface FakeCollector {
  readonly url: string;
  /** Everything that was sent to it, one text per request: paths, headers and bodies, whose texts stand in them as they are (protobuf). */
  received(): readonly string[];
  /** What it answers from now on; 200 at first. */
  answerWith(status: number): void;
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
    answerWith: (next) => void (status = next),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
