import { afterEach, expect, test } from "vitest";
import { type Receiver, startReceiver } from "./receiver.ts";

let receiver: Receiver;
afterEach(() => receiver.stop());

test("an alert is told once, by its first word and the word that it is over", async () => {
  receiver = await startReceiver();
  await tell("page", "firing");
  await tell("page", "firing");
  const told = { alert: "UnitGone", unit: "posts", receiver: "page", overMs: undefined };
  expect(receiver.since(0)).toMatchObject([told]);
  await tell("page", "resolved");
  expect(receiver.since(0)).toMatchObject([{ ...told, overMs: expect.any(Number) }]);
  const laterMs = performance.now();
  expect(receiver.since(laterMs)).toEqual([]);
  await tell("page", "firing");
  expect(receiver.since(0)).toHaveLength(2);
  await tell("page", "resolved");
  expect(receiver.since(laterMs)).toHaveLength(1);
  expect(receiver.since(performance.now())).toEqual([]);
});

async function tell(name: string, status: "firing" | "resolved"): Promise<void> {
  const alert = { status, labels: { alertname: "UnitGone", unit: "posts" }, annotations: {}, fingerprint: "a1" };
  await fetch(receiver.url(name), { method: "POST", body: JSON.stringify({ receiver: name, alerts: [alert] }) });
}
