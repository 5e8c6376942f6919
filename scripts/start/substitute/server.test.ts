import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "@tributary/kit/process/log";
import { createSubstituteHandler } from "./server.ts";

test.each([
  [{ prefix: "/rest/v{version}", versions: undefined }, "/rest/v2/posts?limit=1", "/v2/posts?limit=1"],
  [{ prefix: "/v{version}/api", versions: undefined }, "/v1/api/posts/1", "/v1/posts/1"],
  [{ prefix: "", versions: [1, 2] }, "/posts", "/v2/posts"],
])("with the REST paths %j it responds to %s as the REST proxy to %s", async (restPaths, path, expected) => {
  const handler = createSubstituteHandler({
    execute: () => Promise.reject(new Error("This is no GraphQL request.")),
    forwardRest: (_request, response, { path }) => void response.end(path),
    restPaths,
    log: createLog({ name: "test", level: "fatal" }),
  });
  const server = createServer(handler).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).toBe(expected);
});
