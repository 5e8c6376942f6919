import { afterEach, expect, test } from "vitest";
import { type NotificationReceiver, startNotificationReceiver } from "./notification-receiver.ts";

let receiver: NotificationReceiver;
afterEach(() => receiver.stop());

test("repeated notifications of an alert are one entry, which ends when the alert is resolved", async () => {
  receiver = await startNotificationReceiver();
  await notify("page", "firing");
  await notify("page", "firing");
  const notification = { alert: "UnitDown", unit: "posts", receiver: "page", resolvedMs: undefined };
  expect(receiver.since(0)).toMatchObject([notification]);
  await notify("page", "resolved");
  expect(receiver.since(0)).toMatchObject([{ ...notification, resolvedMs: expect.any(Number) }]);
  const laterMs = performance.now();
  expect(receiver.since(laterMs)).toEqual([]);
  await notify("page", "firing");
  expect(receiver.since(0)).toHaveLength(2);
  await notify("page", "resolved");
  expect(receiver.since(laterMs)).toHaveLength(1);
  expect(receiver.since(performance.now())).toEqual([]);
});

async function notify(name: string, status: "firing" | "resolved"): Promise<void> {
  const alert = { status, labels: { alertname: "UnitDown", unit: "posts" }, annotations: {}, fingerprint: "a1" };
  await fetch(receiver.url(name), { method: "POST", body: JSON.stringify({ receiver: name, alerts: [alert] }) });
}
