// The load of refused-inputs-part.ts: sends refused inputs in closed loops, while another client sends a small query every 10 ms.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describeFailures, type LoadReport, percentile, startLoad } from "../../traffic/open-loop.ts";
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

const attackers = 4;
const regularPerSecond = 100;
const warmUpMs = 1_000;
const pauseMs = 200;
const waitMsMax = 100;
const turnMsMax = 20;
/** Each attacker has its own connection, and sends these one after another. */
const variantsEach = 4;
const responseTimeoutMs = 15_000;

/**
 * Claims for each input that another client waits at most 100 ms, that no turn (iteration of the gateway's event loop) takes more than 20 ms of CPU
 * time, and that each response has the expected status and code.
 */
export async function checkRefusedInputs(
  load: RefusedInputLoad,
  { claim, print }: Pick<VerificationRun, "claim" | "print">,
): Promise<void> {
  for (const input of load.inputs) {
    const { regular, turnMs, responses } = await measureInput(load, input);
    const expected = `${input.status} ${input.codes.join(" or ")}`;
    const total = [...responses.values()].reduce((sum, count) => sum + count, 0);
    const correct = input.codes.reduce((sum, code) => sum + (responses.get(`${input.status} ${code}`) ?? 0), 0);
    const latencies = [50, 99, 100].map((percent) => percentile(regular.latenciesMs, percent).toFixed(1));
    const seen = `p50 ${latencies[0]} ms, p99 ${latencies[1]} ms, longest ${latencies[2]} ms, turn ${turnMs.toFixed(1)} ms`;
    print(`${input.name}: ${seen}, ${(total / load.seconds).toFixed(0)} rejections/s`);
    claim(`${input.name}: each response is ${expected}`, total > 0 && correct === total, {
      measured: describeFailures(responses),
    });
    claim(
      `${input.name}: another client waits at most ${waitMsMax} ms`,
      regular.count > 0 && regular.failures.size === 0 && (regular.latenciesMs.at(-1) ?? 0) <= waitMsMax,
      { measured: `${seen}, failures: ${describeFailures(regular.failures)}`, control: "fails" },
    );
    claim(`${input.name}: no turn takes more than ${turnMsMax} ms`, turnMs <= turnMsMax, {
      measured: `${turnMs.toFixed(1)} ms`,
    });
  }
}

interface InputMeasurement {
  readonly regular: LoadReport;
  readonly turnMs: number;
  /** The number of responses by status and code, as "400 MALFORMED_REQUEST". */
  readonly responses: ReadonlyMap<string, number>;
}

async function measureInput(
  { gatewayUrl, seconds, send, measureTurn }: RefusedInputLoad,
  input: RefusedInput,
): Promise<InputMeasurement> {
  const responses = new Map<string, number>();
  const stopping = new AbortController();
  const running = Array.from({ length: attackers }, (_, attacker) => {
    const contents = Array.from({ length: variantsEach }, (__, i) => input.build(attacker * variantsEach + i));
    return attack(gatewayUrl, contents, stopping.signal, (response) =>
      responses.set(response, (responses.get(response) ?? 0) + 1),
    );
  });
  const regularLoad = startLoad({ perSecond: regularPerSecond, send });
  await sleep(warmUpMs);
  regularLoad.reset();
  responses.clear();
  await measureTurn();
  await sleep(seconds * 1_000);
  const turnMs = await measureTurn();
  const regular = await regularLoad.stop();
  stopping.abort();
  // A copy, without the attackers' last responses, which are still pending.
  const counted = new Map(responses);
  await Promise.all(running);
  await sleep(pauseMs);
  return { regular, turnMs, responses: counted };
}

async function attack(
  gatewayUrl: string,
  contents: readonly RequestContent[],
  signal: AbortSignal,
  count: (response: string) => void,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let sent = 0; !signal.aborted; sent++) {
    const content = contents[sent % contents.length];
    if (content) count(await sendContent(gatewayUrl, agent, content));
  }
  agent.destroy();
}

/** @returns the status and the code of the first error; otherwise the error of the connection. */
export function sendContent(gatewayUrl: string, agent: Agent, { headers, body }: RequestContent): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const fixed = { accept: "application/graphql-response+json", "content-type": "application/json" };
  const length = { "content-length": String(body.length) };
  const options = { agent, method: "POST", headers: { ...fixed, ...length, ...headers }, timeout: responseTimeoutMs };
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

function readCode(text: string): string {
  const [, code = text.slice(0, 100)] = /"code":"(\w+)"/.exec(text) ?? [];
  return code;
}
