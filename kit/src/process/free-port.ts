import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// The system takes the ports of outgoing connections from 32768 upwards (Linux, net.ipv4.ip_local_port_range):
// one chosen from there can be taken again between our choice and the listening.
const lowestPort = 20_000;
const highestPort = 32_767;
const attemptsMax = 100;

/** Whether nobody listens on this port of `host` now (it says nothing about the next millisecond). */
export function isPortFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** A port between 20000 and 32767 on which nobody listens. Throws after 100 taken ones. */
export async function pickFreePort(host = "127.0.0.1"): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(lowestPort, highestPort + 1);
    if (await isPortFree(port, host)) return port;
  }
  throw new Error(`No free port on ${host} between ${lowestPort} and ${highestPort} in ${attemptsMax} attempts.`);
}
