import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

export interface PlainAnswer {
  readonly status: number;
  /** Whole lines, as `toLines` makes them; with `Date`, and with `Content-Length` where there is a body. */
  readonly lines: string;
  /** Undefined for a 304. */
  readonly body: Buffer | undefined;
  /** Called when it has not left this process at once; resolves when it has, or its connection is gone. */
  readonly onUnread: (socket: Socket, left: Promise<void>) => void;
}

/** Of names and values in turn. */
export function toLines(headers: readonly string[]): string {
  let lines = "";
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return lines;
}

/** The bytes of an answer, each a character of latin1: as Node writes it on a connection that stays open. */
export function writePlainAnswer({ status, lines, body }: PlainAnswer, keepAliveSeconds: number): string {
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n${lines}`;
  const end = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n\r\n`;
  return body === undefined ? head + end : head + end + body.toString("latin1");
}
