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

test("a developer who asks for it gets the query plan beside the answer, the first time and later", async () => {
  await start();
  for (let times = 0; times < 2; times++) {
    const { body } = await gateway.ask("{ books { title stars } }", asking);
    expect(body.data.books[0]).toEqual({ title: "Engines", stars: 1 });
    expect(JSON.stringify(body.extensions.queryPlan)).toMatch(/"books"[^]*"ratings"/);
  }
});

test("nobody gets it unasked", async () => {
  await start();
  expect((await gateway.ask("{ books { title stars } }")).body).not.toHaveProperty("extensions");
});

test("nobody gets it in production", async () => {
  await start({ PROFILE: "production" });
  expect((await gateway.ask("{ books { title stars } }", asking)).body).not.toHaveProperty("extensions");
});

test("Server-Timing tells what the stages took, where it is switched on", async () => {
  await start({ SERVER_TIMING: "true" });
  for (let times = 0; times < 2; times++) {
    const { headers } = await gateway.ask("{ books { title stars } }");
    expect(headers.get("server-timing")).toMatch(
      /^parse;dur=\d+\.\d{3}, plan;dur=\d+\.\d{3}, run;dur=\d+\.\d{3}, shape;dur=\d+\.\d{3}$/,
    );
  }
});

test("Server-Timing is not told otherwise", async () => {
  await start();
  expect((await gateway.ask("{ whoAmI }")).headers.has("server-timing")).toBe(false);
});
