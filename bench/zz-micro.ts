import { buildASTSchema, parse } from "graphql";
import { createEngine, buildSupergraphSchema } from "../gateway/src/engine.ts";
import { createQueryPlanner } from "../gateway/src/plan/rewrite/create-planner.ts";
import { composeSupergraph } from "./graph/compose.ts";
import { createCannedAnswers } from "./subgraphs/canned-answers.ts";
import { heavyOperation, smallOperation } from "./workloads/operations.ts";
import { subgraphNames } from "./graph/schemas.ts";
const canned = Object.fromEntries(subgraphNames.map((n) => [n, createCannedAnswers(n)])) as any;
const sdl = composeSupergraph(Object.fromEntries(subgraphNames.map((n) => [n, "http://x/"])) as any);
const planner = createQueryPlanner(sdl);
const memo = new Map<string, string>();
let fetches = 0;
const clientOf = (name: string) => ({
  name,
  close: async () => {},
  post: async (body: string) => {
    fetches++;
    const key = name + body;
    let text = memo.get(key);
    if (text === undefined) {
      const r = await canned[name].answer(body);
      text = String(r).replace(/^[\s\S]*?\r\n\r\n/, "");
      memo.set(key, text);
    }
    return { kind: "answered" as const, status: 200, text: text as string };
  },
});
const engine = createEngine({
  apiSchema: buildASTSchema(parse(planner.apiSdl)),
  supergraphSchema: buildSupergraphSchema(parse(sdl, { noLocation: true })),
  aliasPrefix: planner.aliasPrefix,
  plan: async (t) => planner.plan(t),
  clientOf: clientOf as any,
  fetchSharing: false,
  observe: (o) => {
    if (process.env.OBS) console.log(o);
  },
});
const vars = process.argv[2] === "small" ? { isbn: "978-7" } : { skip: 0 };
const op = process.argv[2] === "small" ? smallOperation : heavyOperation;
const document = parse(op);
const admitted = {
  source: op,
  document,
  operation: document.definitions.find((d) => d.kind === "OperationDefinition") as any,
};
const scope = () => ({
  requestId: "r",
  trace: { traceId: "0af7651916cd43dd8448eb211c80319c", flags: "01", state: undefined } as any,
  authorization: undefined,
  signal: new AbortController().signal,
  isTimed: false,
});
const first = await engine.execute(admitted, vars, scope() as any);
console.log("bytes", first.body.length, "fetches", fetches, first.body.subarray(0, 200).toString());
const n = process.argv[2] === "small" ? 20000 : 600;
const run = async (k: number) => {
  for (let i = 0; i < k; i++) await engine.execute(admitted, vars, scope() as any);
};
await run(n);
for (let r = 0; r < 5; r++) {
  const c = process.cpuUsage();
  await run(n);
  const u = process.cpuUsage(c);
  console.log(((u.user + u.system) / n).toFixed(1), "us/request");
}
