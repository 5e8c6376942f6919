// Checks the built images: size, user, health check and command.
import { serviceNames } from "../../platform/part-process.ts";
import { runCommand } from "./command.ts";
import { baseImage } from "./requirements.ts";

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
const addedMbMaxByImage: Readonly<Record<string, number>> = {
  ...Object.fromEntries(serviceNames.map((name) => [name, 100])),
  gateway: 45,
  "rest-proxy": 15,
};
/** Without a user, a process of an image runs as root. */
const rootUsers: ReadonlySet<string> = new Set(["", "0", "root"]);

/** @returns the violated requirements of the built images of a version. */
export async function findFaults(version: string): Promise<readonly string[]> {
  const base = await inspect(baseImage);
  const faults = Object.entries(addedMbMaxByImage).map(async ([name, addedMbMax]) => {
    const image = await inspect(`tributary/${name}:${version}`);
    const addedMb = (image.Size - base.Size) / bytesPerMb;
    const sizeFaults =
      addedMb > addedMbMax ? [`adds ${addedMb.toFixed(1)} MB to the base image, limit ${addedMbMax}`] : [];
    return [...sizeFaults, ...findImageFaults(image.Config)].map((fault) => `${name} ${fault}`);
  });
  return (await Promise.all(faults)).flat();
}

export function findImageFaults({ User, Healthcheck, Entrypoint, Cmd, Env }: Inspected["Config"]): readonly string[] {
  const commandWords = new Set([...(Entrypoint ?? []), ...(Cmd ?? [])]);
  const isStartedDirectly = commandWords.has("node") && !commandWords.has("-c");
  // `NONE` switches a health check of the base image off.
  const hasHealthCheck = (Healthcheck?.Test ?? []).some((word) => word !== "NONE");
  const hasCompileCache = Env.some((variable) => variable.startsWith("NODE_COMPILE_CACHE="));
  const requirements: readonly (readonly [fault: string, isMet: boolean])[] = [
    ["runs as root", !rootUsers.has(User)],
    ["has no health check", hasHealthCheck],
    ["is started by a shell, which does not forward signals to Node", isStartedDirectly],
    ["contains no compile cache", hasCompileCache],
  ];
  return requirements.filter(([, isMet]) => !isMet).map(([fault]) => fault);
}

async function inspect(image: string): Promise<Inspected> {
  const [first] = JSON.parse(await runCommand(["docker", "image", "inspect", image])) as readonly Inspected[];
  if (first === undefined) throw new Error(`The image ${image} does not exist.`);
  return first;
}
