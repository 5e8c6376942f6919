import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { AppError } from "../errors/app-error.ts";
import { writeProblem } from "./problem.ts";

test("a problem with letters outside ASCII arrives unchanged, and HEAD gets its length without the body", async () => {
  const detail = "There is no user „Müller“ 李.";
  const server = createServer((_request, response) => writeProblem(response, new AppError("NOT_FOUND", detail)));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(await response.json()).toMatchObject({ type: "/problems/not-found", status: 404, detail });
  const head = await fetch(url, { method: "HEAD" });
  expect(head.headers.get("content-length")).toBe(response.headers.get("content-length"));
  expect(await head.text()).toBe("");
});
