// Checks the built images: size, user, health check and command.
import { serviceNames } from "../../platform/platform.ts";
import { runCommand } from "./command.ts";
import { baseImage } from "./requirements.ts";

/** An image's size, limit and faults. */
export interface ImageCheck {
  readonly name: string;
  /** The size without the base image, in megabytes of 10^6 bytes. */
  readonly addedMb: number;
  readonly addedMbMax: number;
  /** Descriptions of violated requirements. */
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

/** How much larger than the Node base image each image may be, in megabytes. */
const addedMbMax: Readonly<Record<string, number>> = {
  ...Object.fromEntries(serviceNames.map((name) => [name, 100])),
  gateway: 130,
  "rest-proxy": 30,
};

/** Checks the built images of a version. */
export async function readImages(version: string): Promise<readonly ImageCheck[]> {
  const base = await inspect(baseImage);
  const checks = Object.entries(addedMbMax).map(async ([name, limitMb]): Promise<ImageCheck> => {
    const image = await inspect(`tributary/${name}:${version}`);
    return {
      name,
      addedMb: (image.Size - base.Size) / bytesPerMb,
      addedMbMax: limitMb,
      faults: findImageFaults(image.Config),
    };
  });
  return Promise.all(checks);
}

export function findImageFaults({ User, Healthcheck, Entrypoint, Cmd, Env }: Inspected["Config"]): readonly string[] {
  const words = new Set([...(Entrypoint ?? []), ...(Cmd ?? [])]);
  const requirements: readonly (readonly [fault: string, isMet: boolean])[] = [
    ["runs as root", !["", "0", "root"].includes(User)],
    ["has no health check", (Healthcheck?.Test ?? []).some((word) => word !== "NONE")],
    ["is started by a shell, which does not forward signals to Node", !words.has("-c") && words.has("node")],
    ["contains no compile cache", Env.some((line) => line.startsWith("NODE_COMPILE_CACHE="))],
  ];
  return requirements.filter(([, isMet]) => !isMet).map(([fault]) => fault);
}

export function describeImage({ name, addedMb, addedMbMax: limitMb, faults }: ImageCheck): string {
  const size = `${addedMb.toFixed(1).padStart(7)} MB added to the base image, limit ${String(limitMb).padStart(3)}`;
  return `${name.padEnd(12)}${size}${faults.map((fault) => `; ${fault}`).join("")}`;
}

async function inspect(image: string): Promise<Inspected> {
  const [first] = JSON.parse(await runCommand(["docker", "image", "inspect", image])) as readonly Inspected[];
  if (first === undefined) throw new Error(`The image ${image} does not exist.`);
  return first;
}
