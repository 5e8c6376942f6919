import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A subgraph whose responses contain data that must not be logged. */
export interface LoudSubgraph {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startLoudSubgraph(respond: (response: ServerResponse) => void): Promise<LoudSubgraph> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => respond(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
