import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What somebody was told by Alertmanager. */
export interface Told {
  readonly alert: string;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Whose turn it was: page, ticket. */
  readonly receiver: string;
  /** As of `performance.now()`: the first word of it, and the word that it is over, if that has come. */
  readonly toldMs: number;
  overMs: number | undefined;
}

/** An operator's receiver: one address for each of our receivers. */
export interface Receiver {
  url(receiver: string): string;
  /** Everything whose first word came from this time on; one that came again after it was over stands there twice. */
  since(fromMs: number): readonly Told[];
  stop(): Promise<void>;
}

interface Message {
  readonly receiver: string;
  readonly alerts: readonly {
    readonly status: "firing" | "resolved";
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly fingerprint: string;
  }[];
}

export async function startReceiver(): Promise<Receiver> {
  const told: Told[] = [];
  const open = new Map<string, Told>();

  function take({ receiver, alerts }: Message): void {
    for (const { status, labels, annotations, fingerprint } of alerts) {
      const known = open.get(fingerprint);
      if (status === "firing" && !known) {
        const { alertname: alert = "", unit = "" } = labels;
        const one = { alert, unit, labels, annotations, receiver, toldMs: performance.now(), overMs: undefined };
        told.push(one);
        open.set(fingerprint, one);
      }
      if (status === "resolved" && known) {
        known.overMs = performance.now();
        open.delete(fingerprint);
      }
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      take(JSON.parse(Buffer.concat(chunks).toString("utf8")) as Message);
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: (receiver) => `http://127.0.0.1:${port}/${receiver}`,
    since: (fromMs) => told.filter(({ toldMs }) => toldMs >= fromMs),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
