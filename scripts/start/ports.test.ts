import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { findTakenPorts, readPorts } from "./ports.ts";

test("every part has a default port, and a variable that changes it", () => {
  expect(readPorts({ USERS_PORT: "5001", POSTGRES_PORT: "5432" })).toEqual({
    issuer: 4020,
    users: 5001,
    posts: 4002,
    comments: 4003,
    orders: 4004,
    gateway: 4000,
    "rest-proxy": 4010,
    postgres: 5432,
  });
});

test("an invalid port and two parts on one port are reported together", () => {
  const read = () => readPorts({ USERS_PORT: "x", POSTS_PORT: "4000" });
  expect(read).toThrow("USERS_PORT");
  expect(read).toThrow("POSTS_PORT and GATEWAY_PORT are both 4000");
});

test("a port in use is reported with its part and its variable; ports of other parts are not checked", async () => {
  const port = await pickFreePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  const ports = readPorts({ POSTS_PORT: String(port), USERS_PORT: String(await pickFreePort()) });
  expect(await findTakenPorts(["posts", "users"], ports)).toEqual([
    `Port ${port} (posts) is in use. Free it, or choose another port: POSTS_PORT=${port + 1_000} npm start`,
  ]);
  expect(await findTakenPorts(["users"], ports)).toEqual([]);
  server.close();
});
