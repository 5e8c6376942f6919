import { expect, test } from "vitest";
import { environmentOf, type PartContext } from "./environments.ts";
import { partNames, parts, serviceNames } from "./parts.ts";
import { readPorts } from "./ports.ts";
import type { Secrets } from "./secrets.ts";

test("on the usual ports the gateway takes the addresses of the supergraph", () => {
  const names = Object.keys(environmentOf("gateway", context({})));
  expect(names.filter((name) => name.startsWith("SUBGRAPH_URL_"))).toEqual([]);
});

test("what is said from outside reaches every part; where it listens does not", () => {
  const outside = {
    LOG_LEVEL: "debug",
    ISSUER: "https://id.example.com",
    PORT: "80",
    HOST: "0.0.0.0",
    DATABASE_URL: "x",
  };
  for (const name of partNames) {
    const own = environmentOf(name, context(outside));
    expect(own).toMatchObject({ LOG_LEVEL: "debug", ISSUER: "https://id.example.com", HOST: "127.0.0.1" });
    expect(own["PORT"]).not.toBe("80");
  }
  expect(environmentOf("users", context(outside))["DATABASE_URL"]).toContain("@127.0.0.1:4032/users");
});

test("the list has every part once", () => {
  expect(parts.map(({ name }) => name)).toEqual(partNames);
});

function context(ambient: Record<string, string>): PartContext {
  const passwords = serviceNames.map((name) => [name, `password-of-${name}`]);
  const databasePasswords = Object.fromEntries(passwords) as Secrets["databasePasswords"];
  return { ports: readPorts({}), dataDir: "/data", secrets: { databasePasswords, cursorKey: "k" }, ambient };
}
