import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { rejectBrokenRequests } from "./broken-requests.ts";

const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n";

test.each([
  { part: "its head", sent: head.slice(0, -1), rest: "\n{}" },
  { part: "its body", sent: `${head}{`, rest: "}" },
])("a request that was rejected as too late is not processed when $part is completed afterwards", async (o) => {
  let completed = 0;
  const server = createServer({ connectionsCheckingInterval: 10 }, (request) =>
    request.resume().on("end", () => completed++),
  );
  Object.assign(server, { headersTimeout: 50, requestTimeout: 50 });
  const rejection = { status: 408, headers: [], body: "too late" };
  rejectBrokenRequests(
    server,
    () => [],
    () => rejection,
  );
  await once(server.listen(0, "127.0.0.1"), "listening");

  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write(o.sent);
  client.once("data", () => client.write(o.rest));
  expect(await text(client)).toMatch(/^HTTP\/1\.1 408 /);
  await once(server.close(), "close");
  expect(completed).toBe(0);
});
