import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

test("the process caches the configured origin until SIGTERM", async () => {
  let count = 0;
  const origin = createServer((_request, response) => {
    response.writeHead(200, { "Cache-Control": "max-age=60" }).end(String(++count));
  });
  onTestFinished(() => void origin.close());
  await once(origin.listen(0, "127.0.0.1"), "listening");
  const { port } = origin.address() as AddressInfo;
  const main = start({ PORT: "0", ORIGIN: `http://127.0.0.1:${port}` });
  const [line] = (await once(main.stdout ?? main, "data")) as [Buffer];
  const listeningPort = /port (\d+)/.exec(line.toString())?.[1];
  const bodies = [await read(`http://127.0.0.1:${listeningPort}/a`), await read(`http://127.0.0.1:${listeningPort}/a`)];
  expect(bodies).toEqual(["1", "1"]);
  main.kill("SIGTERM");
  expect(await once(main, "exit")).toEqual([0, null]);
});

test("without its variables the process reports them and does not start", async () => {
  const main = start({});
  const errors = main.stderr ? await text(main.stderr) : "";
  expect(errors).toMatch(/PORT is required[\s\S]*ORIGIN is required/);
});

function start(variables: Readonly<Record<string, string>>): ChildProcess {
  const file = new URL("../standalone/main.ts", import.meta.url).pathname;
  const main = spawn(process.execPath, [file], { env: variables });
  onTestFinished(() => void main.kill("SIGKILL"));
  return main;
}

async function read(url: string): Promise<string> {
  return (await fetch(url)).text();
}
