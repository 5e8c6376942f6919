// The receiver of Alertmanager's notifications in the verification alerts: records when each alert was first notified and when it was resolved.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One alert of which Alertmanager has notified a receiver. */
export interface Notification {
  readonly alert: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The receiver's name: page or ticket. */
  readonly receiver: string;
  /** When the first notification arrived, by `performance.now()`. */
  readonly notifiedMs: number;
  /** When the notification that the alert is resolved arrived; undefined before. */
  resolvedMs: number | undefined;
}

/** Receives Alertmanager's webhooks, with one URL for each receiver. */
export interface NotificationReceiver {
  url(receiver: string): string;
  /** All alerts that were first notified from this time on. An alert that fires again after it was resolved is a second entry. */
  since(fromMs: number): readonly Notification[];
  stop(): Promise<void>;
}

interface WebhookAlert {
  readonly status: "firing" | "resolved";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly fingerprint: string;
}

interface WebhookMessage {
  readonly receiver: string;
  readonly alerts: readonly WebhookAlert[];
}

export async function startNotificationReceiver(): Promise<NotificationReceiver> {
  const notifications: Notification[] = [];
  const firingByFingerprint = new Map<string, Notification>();

  function accept({ receiver, alerts }: WebhookMessage): void {
    for (const alert of alerts) {
      const firing = firingByFingerprint.get(alert.fingerprint);
      // Alertmanager repeats notifications: only the first one of an alert is recorded.
      if (alert.status === "firing" && !firing) {
        const notification = toNotification(alert, receiver);
        notifications.push(notification);
        firingByFingerprint.set(alert.fingerprint, notification);
      }
      if (alert.status === "resolved" && firing) {
        firing.resolvedMs = performance.now();
        firingByFingerprint.delete(alert.fingerprint);
      }
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      accept(JSON.parse(Buffer.concat(chunks).toString("utf8")) as WebhookMessage);
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: (receiver) => `http://127.0.0.1:${port}/${receiver}`,
    since: (fromMs) => notifications.filter(({ notifiedMs }) => notifiedMs >= fromMs),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function toNotification({ labels, annotations }: WebhookAlert, receiver: string): Notification {
  return {
    alert: labels["alertname"] ?? "",
    unit: labels["unit"] ?? "",
    labels,
    annotations,
    receiver,
    notifiedMs: performance.now(),
    resolvedMs: undefined,
  };
}
