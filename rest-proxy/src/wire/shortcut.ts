import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { type PlainAnswer, writePlainAnswer } from "./plain-answer.ts";
import { createPlainReader, type PlainRequest } from "./plain-request.ts";

/** Answers at once and for good, or undefined: then nothing has happened, and Node's server gets the request. */
export type AnswerAtOnce = (request: PlainRequest, socket: Socket) => PlainAnswer | undefined;

export interface ShortcutOptions {
  readonly answer: AnswerAtOnce;
  /** To the newest request of a connection that Node's server has handed on. */
  readonly newestResponse: (socket: Socket) => ServerResponse | undefined;
  /** What Node says of it on each answer. */
  readonly keepAliveSeconds: number;
  /** Once it does, each answer has to end its connection, which is Node's business. */
  readonly isDraining: () => boolean;
}

export interface Shortcut {
  /**
   * Asked for while Node's server answers a request that could have been answered at once: the next ones of this connection may be, when that
   * answer is out. Until then, and on connections of which nobody says this, bytes go Node's own short way.
   */
  offer(response: ServerResponse): void;
}

/**
 * A way past Node's HTTP server for requests that can be answered at once: it makes two streams, two dozen closures and a parser's callbacks of
 * each request, and costs more than all that is done in between.
 *
 * It sees a connection's bytes before Node's parser does, and takes a request only where no doubt is possible about where that request begins
 * and ends: it is plain (plain-request.ts), it is all of the chunk, nothing is under way on the connection, and of everything before it is known
 * where it ended. For that the first chunk goes to Node, and has to be, whole, the very request that Node then sees: had its parser held a part
 * of another one, it would see something else. On the first chunk of which all this cannot be said, the connection is Node's alone until it closes.
 * So both always see the same requests in the same bytes, and one that another server in front of us passes on can never be read in two ways.
 */
export function createShortcut(o: ShortcutOptions): Shortcut {
  const offered = new WeakSet<Socket>();
  const read = createPlainReader();

  return {
    offer(response) {
      const { socket } = response.req;
      if (offered.has(socket)) return;
      offered.add(socket);
      response.once("close", () => {
        const [toParser, ...others] = socket.listeners("data");
        // So it is since Node 0.10. Where it is not, nothing is taken away from Node.
        if (!(socket instanceof Socket) || toParser === undefined || others.length > 0) return;
        new Line(socket, toParser as (chunk: Buffer) => void, { ...o, read }).open();
      });
    },
  };
}

interface LineOptions extends ShortcutOptions {
  readonly read: (chunk: Buffer) => PlainRequest | undefined;
}

/** One connection. */
class Line {
  readonly #socket: Socket;
  readonly #toParser: (chunk: Buffer) => void;
  readonly #o: LineOptions;
  /** To the newest request that Node has got. */
  #response: ServerResponse | undefined;
  /** Of that request, what has not come yet. */
  #bytesToCome = 0;
  /** Where Node's parser stands is known. */
  #isKnown = false;

  constructor(socket: Socket, toParser: (chunk: Buffer) => void, o: LineOptions) {
    this.#socket = socket;
    this.#toParser = toParser;
    this.#o = o;
    this.#response = o.newestResponse(socket);
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
    if (this.#isKnown && !hasBody && this.#answer(request)) return;
    this.#bytesToCome = request.bytes - chunk.length;
    this.#toParser(chunk);
    const response = this.#o.newestResponse(this.#socket);
    // Node has seen something in it that is no request, or another one.
    const isSeen = response !== undefined && response !== this.#response;
    if (!isSeen || !(this.#isKnown || isSame(response.req, request))) return this.#leave();
    this.#response = response;
    this.#isKnown = true;
  };

  /** Node has all of each request that came, and is done with it. */
  #isBetweenRequests(): boolean {
    return this.#response?.closed ?? false;
  }

  #answer(request: PlainRequest): boolean {
    const socket = this.#socket;
    // What a client does not read must not pile up here.
    if (this.#o.isDraining() || socket.writableLength > 0 || !socket.writable) return false;
    const answer = this.#o.answer(request, socket);
    if (!answer) return false;
    socket.write(writePlainAnswer(answer, this.#o.keepAliveSeconds), "latin1");
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

/** Whether Node has read the same out of these bytes, to the last field. */
function isSame({ method, url, rawHeaders }: IncomingMessage, request: PlainRequest): boolean {
  if (method !== request.method || url !== request.url) return false;
  if (rawHeaders.length !== 2 * Object.keys(request.headers).length) return false;
  return rawHeaders.every((text, at) => at % 2 === 1 || request.headers[text.toLowerCase()] === rawHeaders[at + 1]);
}
