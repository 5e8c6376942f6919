import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Node's arguments by which the image of one of our processes starts it: the `CMD` of the stage that is named after it. */
export function readStartCommand(target: "gateway" | "rest-proxy"): readonly string[] {
  const stages = readFileSync(join(root, "Dockerfile"), "utf8").split(/^(?=FROM )/m);
  const stage = stages.find((one) => new RegExp(`^FROM .+ AS ${target}$`, "m").test(one)) ?? "";
  const [, json = "[]"] = /^CMD (.+)$/m.exec(stage) ?? [];
  const [node, ...command] = JSON.parse(json) as string[];
  const main = command.pop();
  if (node !== "node" || main === undefined) throw new Error(`The Dockerfile's target ${target} starts no node`);
  return [...command, join(root, main)];
}
