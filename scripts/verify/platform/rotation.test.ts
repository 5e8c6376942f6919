import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createHttpClient } from "../traffic/http-client.ts";
import { startRotation } from "./rotation.ts";

test("requests go to the ready instances in turn", async () => {
  const [one, two] = [await startInstance("one"), await startInstance("two")];
  const rotation = await startRotation([one.url, two.url], 5);
  onTestFinished(rotation.stop);
  const client = createHttpClient(rotation.next);
  onTestFinished(client.close);
  const sendTwo = async () => {
    const responses = [
      await client.send({ method: "GET", path: "/" }),
      await client.send({ method: "GET", path: "/" }),
    ];
    return responses.map(({ text }) => text).toSorted();
  };
  expect(await sendTwo()).toEqual(["one", "two"]);
  one.isReady = false;
  await expect.poll(sendTwo).toEqual(["two", "two"]);
  one.isReady = true;
  await rotation.untilInRotation(one.url);
  expect(await sendTwo()).toEqual(["one", "two"]);
});

async function startInstance(name: string) {
  const server = createServer(({ url }, response) => {
    response.writeHead(url !== "/health/ready" || instance.isReady ? 200 : 503).end(name);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => (server.close(), server.closeAllConnections()));
  const instance = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, isReady: true };
  return instance;
}
