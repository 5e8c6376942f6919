import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Linux takes the ports of outgoing connections from 32768 upwards, so such a port could be taken before `listen`.
const lowestPort = 20_000;
const highestPort = 32_767;
const attemptsMax = 100;
/** A returned port remains free until its listener is opened: no second caller in this process may get it. */
const returnedPorts = new Set<number>();

export function isPortFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** @param offset the port this far above has to be free too; 0 requires no second one. @throws Error after 100 ports in use. */
export async function pickFreePort(host = "127.0.0.1", offset = 0): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(lowestPort, highestPort + 1 - offset);
    const ports = offset === 0 ? [port] : [port, port + offset];
    if (ports.some((each) => returnedPorts.has(each))) continue;
    // Before the first `await`, so that no concurrent call tries the same port.
    for (const each of ports) returnedPorts.add(each);
    const areFree = await Promise.all(ports.map((each) => isPortFree(each, host)));
    if (!areFree.includes(false)) return port;
  }
  throw new Error(`No free port on ${host} between ${lowestPort} and ${highestPort} in ${attemptsMax} attempts.`);
}
