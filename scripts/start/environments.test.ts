import { expect, test } from "vitest";
import { environmentOf, type PartContext } from "./environments.ts";
import { partNames, serviceNames } from "./parts.ts";
import { readPorts } from "./ports.ts";
import type { Secrets } from "./secrets.ts";

test("on the default ports the gateway uses the addresses of the supergraph", () => {
  const names = Object.keys(environmentOf("gateway", context({})));
  expect(names.filter((name) => name.startsWith("SUBGRAPH_URL_"))).toEqual([]);
});

test("every part inherits the environment, except addresses, ports and databases", () => {
  const outside = {
    LOG_LEVEL: "debug",
    ISSUER: "https://id.example.com",
    PORT: "80",
    HOST: "0.0.0.0",
    DATABASE_URL: "x",
  };
  for (const name of partNames) {
    const environment = environmentOf(name, context(outside));
    expect(environment).toMatchObject({ LOG_LEVEL: "debug", ISSUER: "https://id.example.com", HOST: "127.0.0.1" });
    expect(environment["PORT"]).not.toBe("80");
  }
  expect(environmentOf("users", context(outside))["DATABASE_URL"]).toContain("@127.0.0.1:4032/users");
});

function context(inherited: Record<string, string>): PartContext {
  const passwords = serviceNames.map((name) => [name, `password-of-${name}`]);
  const databasePasswords = Object.fromEntries(passwords) as Secrets["databasePasswords"];
  return { ports: readPorts({}), dataDir: "/data", secrets: { databasePasswords, cursorKey: "k" }, inherited };
}
