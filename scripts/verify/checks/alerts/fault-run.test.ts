import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claimOutcome } from "./fault-run.ts";
import type { Fault } from "./faults.ts";
import { docsFolder } from "./monitoring-settings.ts";
import type { Notification } from "./notification-receiver.ts";

const fault: Fault = {
  name: "unit-down",
  description: "posts is killed",
  notified: [["UnitDown", "posts"]],
  inhibited: [["ServiceFails", "posts"]],
  possible: ["RequestsShed"],
  inject: () => Promise.reject(new Error("not called")),
};

/** Serves docs/runbooks, as Prometheus does. */
const pages = createServer(({ url }, response) => {
  if (url === "/missing.md") response.writeHead(404);
  response.end(url === "/missing.md" ? "" : readFileSync(join(docsFolder, "runbooks", url ?? "")));
});
let runbooks: string;
beforeAll(async () => {
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  runbooks = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
});
afterAll(() => void pages.close());

test("an outcome as expected passes every claim", async () => {
  expect(await failedClaims({})).toEqual([]);
  expect(await failedClaims({ others: [{ alert: "RequestsShed" }] })).toEqual([]);
});

test("the slow burn alert, whose windows are hours, need not resolve", async () => {
  expect(await failedClaims({ others: [{ alert: "ServiceLevelBurnsSlowly", resolvedMs: undefined }] })).toEqual([]);
});

test.each<[string, Planted]>([
  ["UnitDown of posts is notified", { unitDown: { unit: "users" } }],
  ["ServiceFails of posts is inhibited", { inhibited: [] }],
  ["no unexpected alert is notified", { others: [{ alert: "ReplicaDown" }] }],
  ["each alert goes to its receiver, and links to its runbook", { unitDown: { receiver: "ticket" } }],
  ["each alert goes to its receiver, and links to its runbook", { page: "/missing.md" }],
  ["each alert goes to its receiver, and links to its runbook", { page: "/service-level.md" }],
  ["each alert resolves after the fault is undone", { unitDown: { resolvedMs: undefined } }],
])("the claim that %s fails for %j", async (claim, planted) => {
  expect(await failedClaims(planted)).toContain(`unit-down: ${claim}`);
});

interface Planted {
  readonly unitDown?: Partial<Notification>;
  readonly others?: readonly Partial<Notification>[];
  readonly inhibited?: readonly [];
  readonly page?: string;
}

/** The README of the runbooks names every alert. */
async function failedClaims({ unitDown, others = [], inhibited, page = "/README.md" }: Planted) {
  const good: Notification = {
    alert: "UnitDown",
    unit: "posts",
    labels: { severity: "page" },
    annotations: { runbook_url: `${runbooks}${page}` },
    receiver: "page",
    notifiedMs: 4_000,
    resolvedMs: 9_000,
  };
  const failed: string[] = [];
  const notifications = [{ ...good, ...unitDown }, ...others.map((other) => ({ ...good, ...other }))];
  const inhibitedMs = new Map(inhibited ?? [["ServiceFails of posts", 5_000]]);
  await claimOutcome(
    fault,
    { notifications, inhibitedMs, injectedMs: 1_000, undoneMs: 8_000 },
    { isControl: false, print: () => {}, claim: (text, holds) => void (holds || failed.push(text)) },
  );
  return failed;
}
