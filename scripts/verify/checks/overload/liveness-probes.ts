// Liveness probes during a load (load-run.ts), as a container runtime sends them: each over a new connection, also while earlier probes are pending.
import { connect } from "node:net";

const probeEveryMs = 50;
const probeTimeoutMs = 5_000;
/** The last probes may still be in flight without being slow. */
const discardedProbes = 2;
const request = Buffer.from("GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");

export interface LivenessProbes {
  /** @returns the latencies so far; the timeout for a probe without a response of status 200. IPC turns an infinite number into null. */
  stop(): readonly number[];
}

export function startLivenessProbes(adminPort: number): LivenessProbes {
  const latenciesMs: number[] = [];
  const timer = setInterval(() => {
    const startMs = performance.now();
    const probeIndex = latenciesMs.length;
    latenciesMs.push(probeTimeoutMs);
    const socket = connect({ port: adminPort, host: "127.0.0.1", noDelay: true });
    socket.setTimeout(probeTimeoutMs, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.once("data", (bytes: Buffer) => {
      // The bytes begin with "HTTP/1.1 200".
      const status = bytes.toString("latin1", 9, 12);
      if (status === "200") latenciesMs[probeIndex] = performance.now() - startMs;
      socket.destroy();
    });
    socket.write(request);
  }, probeEveryMs);
  return {
    stop() {
      clearInterval(timer);
      return latenciesMs.slice(0, -discardedProbes);
    },
  };
}
