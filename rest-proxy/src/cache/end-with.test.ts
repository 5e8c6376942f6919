import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { endWith } from "./end-with.ts";

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

test.each([
  ["none", undefined],
  ["an empty one", Buffer.of()],
  ["every byte there is", allBytes],
  ["the last that goes as text", Buffer.alloc(8_192, allBytes)],
  ["the first that does not", Buffer.alloc(8_193, allBytes)],
])("a body arrives byte for byte: %s", async (_name, body) => {
  const length = String(body?.length ?? 0);
  const server = createServer((_request, response) => {
    response.writeHead(200, ["Content-Length", length]);
    endWith(response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(body ?? Buffer.of());
});
