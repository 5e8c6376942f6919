import { pickFreePort } from "../../process/free-port.ts";
import { expect, onTestFinished, test } from "vitest";
import { launch, type LaunchedProcess } from "./launched-process.ts";

const server = `require("node:http").createServer((_, response) => response.end()).listen(process.env.PORT, "127.0.0.1");`;

test("a process is ready when it responds, and inherits no variable but PATH, HOME and the compile cache", async () => {
  const port = await pickFreePort();
  const launched = run(`console.log(Object.keys(process.env).sort().join()); ${server}`, { PORT: String(port) });
  await launched.untilReady(`http://127.0.0.1:${port}`);
  expect(launched.recentOutput()).toBe("HOME,NODE_COMPILE_CACHE,PATH,PORT\n");
  expect(await launched.end("SIGKILL")).toBeNull();
  expect(launched.isRunning()).toBe(false);
});

test("the wait for a process that exits ends with its output", async () => {
  const launched = run(`console.error("no database"); process.exitCode = 3;`);
  await expect(launched.untilReady("http://127.0.0.1:9")).rejects.toThrow(/exited with 3:\nno database/);
  expect(await launched.exited).toBe(3);
});

test("a process that ends after SIGTERM has its exit code, and no failure", async () => {
  const launched = run(`process.on("SIGTERM", () => process.exit(0)); console.log("up"); setInterval(() => {}, 1e6);`);
  await expect.poll(() => launched.recentOutput()).toBe("up\n");
  expect(await launched.end("SIGTERM")).toBe(0);
  const failed = await Promise.race([launched.failed.catch(() => "failed"), Promise.resolve("no failure")]);
  expect(failed).toBe("no failure");
});

function run(text: string, environment: Readonly<Record<string, string>> = {}): LaunchedProcess {
  const launched = launch({ args: ["-e", text], environment });
  onTestFinished(() => void launched.end("SIGKILL"));
  return launched;
}
