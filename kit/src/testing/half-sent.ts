import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface HalfSentRequests {
  readonly port: number;
  /** The client's loopback address, such as 127.0.0.2. */
  readonly from: string;
  readonly count: number;
  /** What each connection sends. */
  readonly bytes: string | Uint8Array;
}

/** Opens connections that send bytes and then nothing. They are closed at the end of the test. */
export async function sendHalf({ port, from, count, bytes }: HalfSentRequests): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  // In groups, since the kernel resets connections beyond the listener's backlog of 511.
  while (sockets.length < count) {
    const group = Array.from({ length: Math.min(count - sockets.length, 100) }, () =>
      connect({ port, host: "127.0.0.1", localAddress: from }),
    );
    for (const socket of group) {
      socket.on("error", () => undefined).resume();
      onTestFinished(() => void socket.destroy());
    }
    await Promise.all(group.map((socket) => once(socket, "connect")));
    for (const socket of group) socket.write(bytes);
    sockets.push(...group);
  }
  return sockets;
}

/** Those that the server has not closed. */
export function countOpen(sockets: readonly Socket[]): number {
  return sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
}
