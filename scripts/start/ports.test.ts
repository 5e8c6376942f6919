import { expect, test } from "vitest";
import { readPorts } from "./ports.ts";

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
