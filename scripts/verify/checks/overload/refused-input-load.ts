// The load of refused-inputs-part.ts: sends refused inputs in closed loops, while another client sends a small query every 10 ms.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { describeFailures, type LoadReport, startLoad } from "../../traffic/open-loop.ts";
import type { VerificationRun } from "../../verification.ts";
import type { RefusedInput, RequestContent } from "./refused-inputs.ts";

export interface RefusedInputLoad {
  /** Base URL of the gateway. */
  readonly gatewayUrl: string;
  readonly inputs: readonly RefusedInput[];
  /** For each input, after a second of warm-up. */
  readonly seconds: number;
  /** Sends the other client's query. @returns what is wrong with the response. */
  send(): Promise<string | undefined>;
  /** Resolves to the longest CPU time of one iteration of the gateway's event loop since the last call, in milliseconds. */
  measureTurn(): Promise<number>;
}

const attackerCount = 4;
const regularPerSecond = 100;
const warmUpMs = 1_000;
/** Between two inputs. */
const pauseMs = 200;
const waitMsMax = 100;
const turnMsMax = 20;
/** Each attacker has its own connection, and sends its variants one after another, again and again. */
const variantsEach = 4;
const responseTimeoutMs = 15_000;
const codePattern = /"code":"(\w+)"/;
const unknownTextCharsMax = 100;

/**
 * Claims for each input that another client waits at most 100 ms, that no turn (iteration of the gateway's event loop) takes more than 20 ms of CPU
 * time, and that each response has the expected status and code.
 */
export async function checkRefusedInputs(
  load: RefusedInputLoad,
  { claim, print }: Pick<VerificationRun, "claim" | "print">,
): Promise<void> {
  let longestOfAllMs = 0;
  for (const input of load.inputs) {
    const { name, status, codes } = input;
    const { regular, turnMs, responseCounts } = await measureInput(load, input);
    const total = sum([...responseCounts.values()]);
    const expected = sum(codes.map((code) => responseCounts.get(`${status} ${code}`) ?? 0));
    const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => quantile(regular.latenciesMs, share).toFixed(1));
    const measured = `p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms, turn ${turnMs.toFixed(1)} ms`;
    print(`${name}: ${measured}, ${(total / load.seconds).toFixed(0)} rejections/s`);
    claim(`${name}: each response is ${status} ${codes.join(" or ")}`, total > 0 && expected === total, {
      measured: describeFailures(responseCounts),
    });
    const allSucceed = regular.count > 0 && regular.failures.size === 0;
    const longestMs = regular.latenciesMs.at(-1) ?? 0;
    claim(`${name}: another client waits at most ${waitMsMax} ms`, allSucceed && longestMs <= waitMsMax, {
      measured: `${measured}, failures: ${describeFailures(regular.failures)}`,
    });
    longestOfAllMs = Math.max(longestOfAllMs, longestMs);
    claim(`${name}: no turn takes more than ${turnMsMax} ms`, turnMs <= turnMsMax, {
      measured: `${turnMs.toFixed(1)} ms`,
    });
  }
  claim(`no input delays another client by more than ${waitMsMax} ms`, longestOfAllMs <= waitMsMax, {
    measured: `${longestOfAllMs.toFixed(1)} ms, ${load.inputs.length} inputs`,
    control: "fails",
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

interface InputMeasurement {
  readonly regular: LoadReport;
  readonly turnMs: number;
  /** The number of responses by status and code, as "400 MALFORMED_REQUEST". */
  readonly responseCounts: ReadonlyMap<string, number>;
}

async function measureInput(
  { gatewayUrl, seconds, send, measureTurn }: RefusedInputLoad,
  input: RefusedInput,
): Promise<InputMeasurement> {
  const responseCounts = new Map<string, number>();
  const countResponse = (response: string) => {
    responseCounts.set(response, (responseCounts.get(response) ?? 0) + 1);
  };
  const stopping = new AbortController();
  const attacks = Array.from({ length: attackerCount }, (_, attacker) => {
    const firstVariant = attacker * variantsEach;
    const contents = Array.from({ length: variantsEach }, (__, index) => input.build(firstVariant + index));
    return attack(gatewayUrl, contents, stopping.signal, countResponse);
  });
  const regularLoad = startLoad({ perSecond: regularPerSecond, send });
  await sleep(warmUpMs);
  // Discards the measurements of the warm-up.
  regularLoad.reset();
  responseCounts.clear();
  await measureTurn();
  await sleep(seconds * 1_000);
  const turnMs = await measureTurn();
  const regular = await regularLoad.stop();
  stopping.abort();
  // A copy, without the attackers' last responses, which are still pending.
  const measuredCounts = new Map(responseCounts);
  await Promise.all(attacks);
  await sleep(pauseMs);
  return { regular, turnMs, responseCounts: measuredCounts };
}

/** Closed loop: sends the contents in turn, each after the previous response, until the signal is aborted. */
async function attack(
  gatewayUrl: string,
  contents: readonly RequestContent[],
  signal: AbortSignal,
  countResponse: (response: string) => void,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let sent = 0; !signal.aborted; sent++) {
    const content = contents[sent % contents.length];
    if (content) countResponse(await sendContent(gatewayUrl, agent, content));
  }
  agent.destroy();
}

/** @returns the status and the code of the first error, as "400 MALFORMED_REQUEST"; without a response, the error of the connection. */
export function sendContent(gatewayUrl: string, agent: Agent, { headers, body }: RequestContent): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const allHeaders = {
    accept: "application/graphql-response+json",
    "content-type": "application/json",
    "content-length": String(body.length),
    ...headers,
  };
  const options = { agent, method: "POST", headers: allHeaders, timeout: responseTimeoutMs };
  const clientRequest = request(new URL("/graphql", gatewayUrl), options, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", (error) => resolve(String(error)));
    response.on("end", () => resolve(`${response.statusCode ?? 0} ${readCode(Buffer.concat(chunks).toString())}`));
  });
  clientRequest.on("timeout", () => clientRequest.destroy(new Error("no response in time")));
  clientRequest.on("error", (error) => resolve(String(error)));
  clientRequest.end(body);
  return promise;
}

/** @returns the start of the text if it contains no code. */
function readCode(text: string): string {
  return codePattern.exec(text)?.[1] ?? text.slice(0, unknownTextCharsMax);
}
