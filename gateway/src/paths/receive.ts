// Stage 1 of 5: admit. Identifies the caller of a POST and reads the parameters from its body. pipeline.ts calls it.
import type { IncompleteRequests } from "@tributary/kit/http/incomplete-requests";
import type { JsonLimits } from "@tributary/kit/http/json-body";
import { decompress, discardRest, isCompressed, parseJson, receiveJsonBody } from "../admit/body.ts";
import { admitCaller, type AdmitCallerOptions } from "../admit/caller.ts";
import type { GatewayExchange } from "../admit/exchange.ts";
import { countCpu } from "../document-cpu.ts";
import type { DocumentStore } from "../documents/document-store.ts";
import type { NextIteration } from "../engine/parse/event-loop-queue.ts";
import { type GraphqlRequest, readGraphqlBody } from "../engine/parse/graphql-request.ts";

export interface ReceiveOptions extends AdmitCallerOptions {
  /** The longest request body, decompressed. */
  readonly graphqlBodyBytesMax: number;
  readonly incompleteRequests: IncompleteRequests;
  readonly jsonLimits: JsonLimits;
  readonly documentCharactersMax: number;
  /** Undefined if clients register no documents. */
  readonly documents?: DocumentStore | undefined;
  /** Delays the parsing of each large body. */
  readonly nextIteration: NextIteration;
}

/** The parameters of a request, or the reason to reject it. */
export type ReceivedParameters = GraphqlRequest | Error;
type ReceiveCallback = (received: ReceivedParameters) => void;

/** A body up to this length is parsed as soon as it is received. JSON of this length takes up to 1 ms, of a megabyte up to 10 ms. */
const promptBytesMax = 16_384;
/** CPU time to receive a longer body, and to free its memory: a megabyte takes 5 ms, beside the parsing, which is measured. */
const bodyMsPerKb = 0.005;

/**
 * A token that is not in the cache is verified while the body is received.
 * @param done is called once. A callback instead of a promise, so that the fast path continues in the same iteration of the event loop.
 */
export function receive(options: ReceiveOptions, exchange: GatewayExchange, done: ReceiveCallback): void {
  const { request } = exchange;
  const identification = admitCaller(options, exchange);
  if (identification instanceof Error) {
    discardRest(request);
    return done(identification);
  }
  const { graphqlBodyBytesMax: bytesMax, incompleteRequests } = options;
  receiveJsonBody(request, { bytesMax, incompleteRequests }, (body) => {
    const isLong = !(body instanceof Error) && (body.length > promptBytesMax || isCompressed(request));
    if (isLong) return void readLater({ exchange, body, identification }, options, done);
    const received = body instanceof Error ? body : readParameters(body, options);
    if (identification === undefined) done(received);
    else void finishAfter(identification, received, done);
  });
}

async function finishAfter(
  identification: Promise<Error | undefined>,
  received: ReceivedParameters,
  done: ReceiveCallback,
): Promise<void> {
  const rejection = await identification;
  done(rejection ?? received);
}

interface ReceivedBody {
  readonly exchange: GatewayExchange;
  readonly body: Buffer;
  /** Resolves with the reason to reject the request, if there is one. Undefined if the caller is already identified. */
  readonly identification: Promise<Error | undefined> | undefined;
}

/** Decompresses and parses, and lets the variables be coerced, each in an iteration of the event loop in which nothing else takes long. */
async function readLater(
  { exchange, body, identification }: ReceivedBody,
  options: ReceiveOptions,
  done: ReceiveCallback,
): Promise<void> {
  const rejection = await identification;
  if (rejection) return done(rejection);
  const client = exchange.caller?.key ?? "";
  const inNextIteration = async <Result>(work: () => Result): Promise<Result> => {
    await options.nextIteration(client);
    return countCpu(exchange, work);
  };
  const decompressed = isCompressed(exchange.request)
    ? await inNextIteration(() => decompress(exchange.request, body, options.graphqlBodyBytesMax))
    : body;
  if (decompressed instanceof Error) return done(decompressed);
  exchange.documentCpuMs += (decompressed.length / 1_024) * bodyMsPerKb;
  const received = await inNextIteration(() => readParameters(decompressed, options));
  await options.nextIteration(client);
  done(received);
}

function readParameters(
  body: Buffer,
  { jsonLimits, documentCharactersMax, documents }: ReceiveOptions,
): ReceivedParameters {
  try {
    return readGraphqlBody(parseJson(body, jsonLimits), { documentCharactersMax, documents: documents?.current });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
