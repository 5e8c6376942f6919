import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createJourney, journeyScopes } from "../../scripts/verify/traffic/journey.ts";
import { auditComments } from "../../scripts/verify/traffic/audit.ts";
import { writerId } from "../../scripts/verify/traffic/seeded.ts";
import type { Step } from "../../scripts/verify/traffic/step.ts";
import { createHttpClient, type HttpClient } from "../../scripts/verify/traffic/http-client.ts";
import { type Platform, startPlatform } from "./platform.ts";

const numbers = [0, 1, 199, 1_234];
const confirmed = new Set<string>();

let platform: Platform;
let token: string;
let clients: Readonly<Record<"graphql" | "rest", HttpClient>>;
beforeAll(async () => {
  platform = await startPlatform(inject("postgresUrl"));
  token = await platform.tokenOf(writerId, journeyScopes);
  clients = { graphql: createHttpClient(platform.gatewayUrl), rest: createHttpClient(platform.proxyUrl) };
});
afterAll(async () => {
  for (const client of Object.values(clients)) client.close();
  await platform.stop();
});

test("each step of the load journey passes on an idle platform", async () => {
  for (const [client, step] of stepsOf(token)) {
    for (const number of numbers) {
      expect(step.findProblem(await client.send(step.createRequest(number)), number)).toBeUndefined();
    }
  }
  expect(confirmed.size).toBe(2 * numbers.length);
});

test("each step rejects the response to another request", async () => {
  for (const [client, step] of stepsOf(token)) {
    expect(step.findProblem(await client.send({ method: "GET", path: "/v1/products" }), 0)).toContain(`${step.name}: `);
  }
});

test("the audit finds every confirmed comment, and reports a missing one as lost", async () => {
  const expected = new Set([...confirmed, "never written"]);
  const audit = await auditComments(clients.rest, "steps", expected);
  expect(audit).toEqual({ stored: 2 * numbers.length, lost: ["never written"], duplicated: [] });
});

function stepsOf(token: string): readonly (readonly [client: HttpClient, step: Step])[] {
  const { graphql, rest } = createJourney({ token, run: "steps", confirm: (text) => void confirmed.add(text) });
  return [
    ...[...graphql.reads, ...graphql.writes].map((step) => [clients.graphql, step] as const),
    ...[...rest.reads, ...rest.writes].map((step) => [clients.rest, step] as const),
  ];
}
