import { runCommand } from "./command.ts";
import { baseImage } from "./obstacle.ts";

/** An image and what it is held to. */
export interface ImageFacts {
  readonly name: string;
  /** More than the base image has, in megabytes of 10^6 bytes. */
  readonly addedMb: number;
  readonly addedMbMax: number;
  /** What is not as it has to be, in words. */
  readonly faults: readonly string[];
}

interface Inspected {
  readonly Size: number;
  readonly Config: {
    readonly User: string;
    readonly Healthcheck?: { readonly Test?: readonly string[] };
    readonly Entrypoint: readonly string[] | null;
    readonly Cmd: readonly string[] | null;
    readonly Env: readonly string[];
  };
}

const bytesPerMb = 1_000_000;

/** By how much an image may be larger than Node's own, in megabytes. */
const addedMbMax: Readonly<Record<string, number>> = {
  users: 100,
  posts: 100,
  comments: 100,
  orders: 100,
  gateway: 130,
  "rest-proxy": 30,
};

/** Looks at the images of a version, as they were built. */
export async function readImages(version: string): Promise<readonly ImageFacts[]> {
  const base = await inspect(baseImage);
  const facts = Object.entries(addedMbMax).map(async ([name, most]): Promise<ImageFacts> => {
    const image = await inspect(`tributary/${name}:${version}`);
    return {
      name,
      addedMb: (image.Size - base.Size) / bytesPerMb,
      addedMbMax: most,
      faults: findFaults(image.Config),
    };
  });
  return Promise.all(facts);
}

export function findFaults({ User, Healthcheck, Entrypoint, Cmd, Env }: Inspected["Config"]): readonly string[] {
  const words = new Set([...(Entrypoint ?? []), ...(Cmd ?? [])]);
  const claims: readonly (readonly [string, boolean])[] = [
    ["runs as root", !["", "0", "root"].includes(User)],
    ["has no health check", (Healthcheck?.Test ?? []).some((word) => word !== "NONE")],
    ["is started by a shell, which keeps signals from Node", !words.has("-c") && words.has("node")],
    ["holds no compiled code", Env.some((line) => line.startsWith("NODE_COMPILE_CACHE="))],
  ];
  return claims.filter(([, holds]) => !holds).map(([fault]) => fault);
}

export function describeImage({ name, addedMb, addedMbMax: most, faults }: ImageFacts): string {
  const size = `${addedMb.toFixed(1).padStart(7)} MB over its base, of ${String(most).padStart(3)}`;
  return `${name.padEnd(12)}${size}${faults.map((fault) => `; ${fault}`).join("")}`;
}

async function inspect(image: string): Promise<Inspected> {
  const [first] = JSON.parse(await runCommand(["docker", "image", "inspect", image])) as readonly Inspected[];
  if (first === undefined) throw new Error(`There is no image ${image}.`);
  return first;
}
