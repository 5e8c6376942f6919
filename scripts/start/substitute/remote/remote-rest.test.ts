import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { createRestForwarder } from "./remote-rest.ts";

test("a response keeps the links to the pages of its list, and loses what the remote's REST proxy added", async () => {
  const paths: (string | undefined)[] = [];
  const remote = await startServer((request, response) => {
    paths.push(request.url);
    const links = [
      '</v1/posts>; rel="first", </v1/posts?cursor=a,b>; rel="next"',
      '</v2/posts>; rel="successor-version"',
    ];
    const proxyHeaders = ["Deprecation", "@1", "RateLimit", '"read";r=1', "Cache-Status", "tributary; hit"];
    const headers = ["ETag", '"1"', "Link", links[0] ?? "", "Link", links[1] ?? "", "Content-Encoding", "gzip"];
    response.writeHead(200, [...headers, ...proxyHeaders]).end(gzipSync("[]"));
  });
  const forward = createRestForwarder(remote);
  const { signal } = new AbortController();
  const local = await startServer(
    (request, response) => void forward(request, response, { path: request.url ?? "", body: Buffer.of(), signal }),
  );
  const response = await fetch(`${local}/v1/posts`);
  const { headers } = response;
  expect(await response.json()).toEqual([]);
  expect(paths).toEqual(["/v1/posts"]);
  expect(headers.get("link")).toBe('</v1/posts>; rel="first", </v1/posts?cursor=a,b>; rel="next"');
  expect(headers.get("etag")).toBe('"1"');
  for (const name of ["deprecation", "ratelimit", "cache-status"]) expect(headers.has(name)).toBe(false);
});

/** Resolves with the origin. */
async function startServer(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  onTestFinished(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
