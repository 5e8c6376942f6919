import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/**
 * Returns Node's arguments from the `CMD` of a stage of the Dockerfile, so that the benchmark starts a process as its image does.
 * @throws Error if the stage's `CMD` does not start Node.
 */
export function readStartCommand(target: "gateway" | "rest-proxy"): readonly string[] {
  const stages = readFileSync(join(root, "Dockerfile"), "utf8").split(/^(?=FROM )/m);
  const stage = stages.find((text) => new RegExp(`^FROM .+ AS ${target}$`, "m").test(text)) ?? "";
  const [, json = "[]"] = /^CMD (.+)$/m.exec(stage) ?? [];
  const [node, ...command] = JSON.parse(json) as string[];
  const main = command.pop();
  if (node !== "node" || main === undefined) throw new Error(`The Dockerfile's stage ${target} does not start node`);
  return [...command, join(root, main)];
}
