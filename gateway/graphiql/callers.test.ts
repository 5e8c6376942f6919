import { expect, test } from "vitest";
import { type Callers, loadCallers } from "./callers.ts";

const cast = [
  { name: "grace", userId: "2", scopes: ["a"] },
  { name: "ada", userId: "1", scopes: ["a", "b"] },
];

test("user 1 is chosen at first, and the choice outlives a reload", async () => {
  const { load } = setUp();
  const first = await load();
  expect(first.all).toEqual(cast);
  expect(first.chosen()).toBe("ada");
  first.choose("nobody");
  expect((await load()).chosen()).toBe("nobody");
});

test("a kept choice that the issuer no longer knows is forgotten", async () => {
  const { load, storage } = setUp();
  storage.setItem("tributary:caller", "eve");
  expect((await load()).chosen()).toBe("ada");
});

test("a token is fetched once and used until a minute before its end", async () => {
  const { load, asked, clock } = setUp();
  const callers = await load();
  expect(await callers.authorization()).toBe("Bearer ada-1");
  clock.ms += 3_539_000;
  expect(await callers.authorization()).toBe("Bearer ada-1");
  clock.ms += 1_000;
  expect(await callers.authorization()).toBe("Bearer ada-2");
  expect(asked).toEqual(["/cast", "/token ada", "/token ada"]);
});

test("requests that start together share one token", async () => {
  const { load, asked } = setUp();
  const callers = await load();
  const both = await Promise.all([callers.authorization(), callers.authorization()]);
  expect(both).toEqual(["Bearer ada-1", "Bearer ada-1"]);
  expect(asked).toEqual(["/cast", "/token ada"]);
});

test("each caller has a token of their own, and nobody has none", async () => {
  const { load } = setUp();
  const callers = await load();
  expect(await authorizationOf(callers, "ada")).toBe("Bearer ada-1");
  expect(await authorizationOf(callers, "grace")).toBe("Bearer grace-2");
  expect(await authorizationOf(callers, "ada")).toBe("Bearer ada-1");
  expect(await authorizationOf(callers, "nobody")).toBeUndefined();
});

test("an issuer that is gone is named, and asked again the next time", async () => {
  const { load, faults } = setUp();
  const callers = await load();
  faults.push(new TypeError("Failed to fetch"), new Response("", { status: 500 }));
  await expect(callers.authorization()).rejects.toThrow("The token issuer does not answer at http://issuer.test");
  await expect(callers.authorization()).rejects.toThrow(
    "The token issuer at http://issuer.test answered 500 for /token.",
  );
  expect(await callers.authorization()).toBe("Bearer ada-1");
});

test("without its cast there are no callers", async () => {
  const { load, faults } = setUp();
  faults.push(new TypeError("Failed to fetch"));
  await expect(load()).rejects.toThrow("go on as nobody");
});

function authorizationOf(callers: Callers, name: string): Promise<string | undefined> {
  callers.choose(name);
  return callers.authorization();
}

/** An issuer whose tokens are counted. What is pushed to `faults` is answered first. */
function setUp() {
  const asked: string[] = [];
  const faults: (Response | Error)[] = [];
  const clock = { ms: 1_000_000 };
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  let tokens = 0;
  const issuerFetch = async (url: string, init?: RequestInit) => {
    const fault = faults.shift();
    if (fault instanceof Error) throw fault;
    if (fault) return fault;
    if (init?.method !== "POST") return record(url, JSON.stringify({ cast }));
    const { user } = JSON.parse(init.body as string) as { user: string };
    tokens += 1;
    return record(`${url} ${user}`, JSON.stringify({ access_token: `${user}-${tokens}`, expires_in: 3_600 }));
  };
  const record = (what: string, body: string) => {
    asked.push(what.replace("http://issuer.test", ""));
    return new Response(body);
  };
  const load = () => loadCallers({ issuer: "http://issuer.test", fetch: issuerFetch, storage, now: () => clock.ms });
  return { load, asked, faults, clock, storage };
}
