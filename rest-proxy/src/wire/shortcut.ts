import type { Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { type PlainAnswer, writePlainAnswer } from "./plain-answer.ts";
import { createPlainReader, type PlainRequest } from "./plain-request.ts";

/** Answers at once and for good, or undefined: then nothing has happened, and Node's server gets the request. */
export type AnswerAtOnce = (request: PlainRequest, socket: Socket) => PlainAnswer | undefined;

export interface ShortcutOptions {
  readonly answer: AnswerAtOnce;
  /** To the newest request of a connection that Node's server has handed on. */
  readonly newestResponse: (socket: Socket) => ServerResponse | undefined;
  /** Once it does, each answer has to end its connection, which is Node's business. */
  readonly isDraining: () => boolean;
}

/**
 * A way past Node's HTTP server for requests that can be answered at once: it makes two streams, two dozen closures and a parser's callbacks of
 * each request, and costs more than all that is done in between. Has to be called before the server listens.
 *
 * It sees a connection's bytes before Node's parser does, and takes a request only where no doubt is possible about where that request begins
 * and ends: it is plain (plain-request.ts), it is all of the chunk, nothing is under way on the connection, and of everything before it was known
 * where it ended. On the first chunk of which this cannot be said, the connection is Node's alone until it closes. So both always see the same
 * requests in the same bytes, and one that another server in front of us passes on can never be read in two ways.
 *
 * The first request of a connection is always Node's: until it has read one, its limit for slow heads runs.
 */
export function installShortcut(server: Server, o: ShortcutOptions): void {
  const read = createPlainReader();
  server.on("connection", (socket) => {
    const [toParser, ...others] = socket.listeners("data");
    // So it is since Node 0.10. Where it is not, nothing is taken away from Node.
    if (!(socket instanceof Socket) || toParser === undefined || others.length > 0) return;
    new Line(socket, toParser as (chunk: Buffer) => void, server.keepAliveTimeout, { ...o, read }).open();
  });
}

interface LineOptions extends ShortcutOptions {
  readonly read: (chunk: Buffer) => PlainRequest | undefined;
}

/** One connection. */
class Line {
  readonly #socket: Socket;
  readonly #toParser: (chunk: Buffer) => void;
  readonly #keepAliveSeconds: number;
  readonly #o: LineOptions;
  /** To the newest request that Node has got; undefined before the first. */
  #response: ServerResponse | undefined = undefined;
  /** Of that request, what has not come yet. */
  #bytesToCome = 0;

  constructor(socket: Socket, toParser: (chunk: Buffer) => void, keepAliveMs: number, o: LineOptions) {
    this.#socket = socket;
    this.#toParser = toParser;
    this.#keepAliveSeconds = Math.floor(keepAliveMs / 1_000);
    this.#o = o;
  }

  open(): void {
    this.#socket.on("data", this.#receive);
    this.#socket.off("data", this.#toParser);
  }

  readonly #receive = (chunk: Buffer): void => {
    if (this.#bytesToCome > 0) return this.#receiveBody(chunk);
    const request = this.#isBetweenRequests() ? this.#o.read(chunk) : undefined;
    if (!request || chunk.length > request.bytes) return this.#leave(chunk);
    const hasBody = request.headers["content-length"] !== undefined;
    if (this.#response && !hasBody && this.#answer(request)) return;
    this.#bytesToCome = request.bytes - chunk.length;
    this.#toParser(chunk);
    const response = this.#o.newestResponse(this.#socket);
    // Node has seen something in it that is no request.
    if (response === this.#response) this.#leave();
    this.#response = response;
  };

  /** Node has all of each request that came, and is done with it. */
  #isBetweenRequests(): boolean {
    return this.#response === undefined || this.#response.closed;
  }

  #answer(request: PlainRequest): boolean {
    const socket = this.#socket;
    // What a client does not read must not pile up here.
    if (this.#o.isDraining() || socket.writableLength > 0 || !socket.writable) return false;
    const answer = this.#o.answer(request, socket);
    if (!answer) return false;
    socket.write(writePlainAnswer(answer, this.#keepAliveSeconds), "latin1");
    // Nothing more is written before it, and what is written behind it comes to its end with it.
    if (socket.writableLength > 0) answer.onUnread(socket, new Promise((left) => socket.write("", () => left())));
    return true;
  }

  #receiveBody(chunk: Buffer): void {
    this.#bytesToCome -= chunk.length;
    if (this.#bytesToCome < 0) return this.#leave(chunk);
    this.#toParser(chunk);
  }

  /** From now on the connection is as if this had never been, what Node does on `CONNECT` or on a fault included. */
  #leave(chunk?: Buffer): void {
    this.#socket.on("data", this.#toParser);
    this.#socket.off("data", this.#receive);
    if (chunk) this.#toParser(chunk);
  }
}
