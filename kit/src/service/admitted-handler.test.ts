import { once } from "node:events";
import { createServer, get, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Admission } from "../admission/admission.ts";
import { createAdmittedHandler } from "./admitted-handler.ts";

test("a request whose client disconnects while it waits is not handled, and leaves its place", async () => {
  const handled: unknown[] = [];
  const { send, admit, arrived, closed, left } = await start((request) => handled.push(request));
  const client = send({});
  await arrived;
  client.destroy();
  await closed;
  admit();
  await left;
  expect(handled).toEqual([]);
});

test("the time that a request waits is part of its deadline", async () => {
  const remaining: unknown[] = [];
  const { send, admit, arrived, left } = await start((request, response) => {
    remaining.push(request.headers["x-deadline-ms"]);
    response.end();
  });
  send({ "x-deadline-ms": "1000" });
  await arrived;
  setTimeout(admit, 100);
  await left;
  expect(Number(remaining[0])).toBeLessThan(950);
});

async function start(handler: RequestListener) {
  const [arrived, admitted, closed, left] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<boolean>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const admission: Admission = {
    enter() {
      arrived.resolve();
      return admitted.promise;
    },
    leave: () => left.resolve(),
    readState: () => ({ inFlight: 0, limit: 1, waiting: 0 }),
    close: () => {},
  };
  const handle = createAdmittedHandler(admission, handler);
  const server = createServer((request, response) => {
    response.once("close", closed.resolve);
    handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    send: (headers: Record<string, string>) => get({ port, headers }).on("error", () => {}),
    admit: () => admitted.resolve(true),
    arrived: arrived.promise,
    closed: closed.promise,
    left: left.promise,
  };
}
