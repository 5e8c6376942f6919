import { expect, test } from "vitest";
import { createNetworks } from "./networks.ts";

const networks = createNetworks(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::1"]);

test.each(["10.255.0.1", "192.0.2.7", "2001:db8:1::9", "::1", "::ffff:10.1.2.3"])(
  "%s is in the networks",
  (address) => {
    expect(networks.has(address)).toBe(true);
  },
);

test.each(["11.0.0.1", "192.0.2.8", "2001:db9::1", "::2", "::ffff:11.1.2.3", "10.0.0", "ada", ""])(
  "%j is not in the networks",
  (address) => {
    expect(networks.has(address)).toBe(false);
  },
);

test("a network of length 0 contains all addresses", () => {
  expect(createNetworks(["0.0.0.0/0"]).has("203.0.113.9")).toBe(true);
});

test.each(["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "10.0.0.0/a", "localhost", "10.0.0"])(
  "%j is rejected by name",
  (text) => {
    expect(() => createNetworks([text])).toThrow(`${JSON.stringify(text)} is neither an address nor a network`);
  },
);

test("an empty list contains no address", () => {
  expect(createNetworks([])).toMatchObject({ isEmpty: true });
  expect(createNetworks([]).has("127.0.0.1")).toBe(false);
});
