import { afterEach, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

let library: Library;
let gateway: RunningGateway;

beforeEach(async () => void (library = await startLibrary()));
afterEach(async () => {
  await gateway.drain();
  await library.close();
});

const start = async (environment: Record<string, string> = {}) => {
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl, environment });
};
const asking = { headers: { "x-query-plan": "1" } };

test("a request with x-query-plan gets the query plan in extensions, the first time and later", async () => {
  await start();
  for (let times = 0; times < 2; times++) {
    const { body } = await gateway.send("{ books { title stars } }", asking);
    expect(body.data.books[0]).toEqual({ title: "Engines", stars: 1 });
    expect(JSON.stringify(body.extensions.queryPlan)).toMatch(/"books"[^]*"ratings"/);
  }
});

test("a request without x-query-plan gets no query plan", async () => {
  await start();
  expect((await gateway.send("{ books { title stars } }")).body).not.toHaveProperty("extensions");
});

test("in production no request gets a query plan", async () => {
  await start({ PROFILE: "production" });
  expect((await gateway.send("{ books { title stars } }", asking)).body).not.toHaveProperty("extensions");
});

test("Server-Timing has the time of each stage if it is switched on", async () => {
  await start({ SERVER_TIMING: "true" });
  for (let times = 0; times < 2; times++) {
    const { headers } = await gateway.send("{ books { title stars } }");
    expect(headers.get("server-timing")).toMatch(
      /^parse;dur=\d+\.\d{3}, plan;dur=\d+\.\d{3}, run;dur=\d+\.\d{3}, shape;dur=\d+\.\d{3}$/,
    );
  }
});

test("responses have no Server-Timing by default", async () => {
  await start();
  expect((await gateway.send("{ whoAmI }")).headers.has("server-timing")).toBe(false);
});
