import { parse, print } from "graphql";
import { createQueryPlanner } from "../gateway/src/plan/rewrite/create-planner.ts";
import { normalize } from "../gateway/src/plan/normalize.ts";
import { composeSupergraph } from "./graph/compose.ts";
import { heavyOperation } from "./workloads/operations.ts";
import { subgraphNames } from "./graph/schemas.ts";
const sdl = composeSupergraph(Object.fromEntries(subgraphNames.map((n) => [n, "http://x/"])) as any);
const planner = createQueryPlanner(sdl);
const document = parse(heavyOperation);
const { planned } = normalize(document, document.definitions[0] as any, {}, planner.aliasPrefix);
const plan = planner.plan(print(planned!));
const show = (n: any, d = 0, path = ""): void => {
  const pad = "  ".repeat(d);
  if (n.kind === "Flatten") return show(n.node, d, path + n.path.join("."));
  if (n.kind === "Fetch") return console.log(pad, "Fetch", n.serviceName, path, n.operation.replace(/\s+/g, " ").slice(0, 150));
  console.log(pad, n.kind); n.nodes.forEach((c: any) => show(c, d + 1, path));
};
show(plan.node);
