// Checks the size of the built images. What else they need, infra/images/images.test.ts reads in the Dockerfile.
import { serviceNames } from "../../platform/part-process.ts";
import { runCommand } from "./command.ts";
import { baseImage } from "./requirements.ts";

const bytesPerMb = 1_000_000;

/** How much larger than the Node base image each image may be, in megabytes. */
const addedMbMaxByImage: Readonly<Record<string, number>> = {
  ...Object.fromEntries(serviceNames.map((name) => [name, 100])),
  gateway: 45,
  "rest-proxy": 15,
};

/** @returns the images of a version that are too large. */
export async function findLargeImages(version: string): Promise<readonly string[]> {
  const baseBytes = await readBytes(baseImage);
  const faults = Object.entries(addedMbMaxByImage).map(async ([name, addedMbMax]) => {
    const addedMb = ((await readBytes(`tributary/${name}:${version}`)) - baseBytes) / bytesPerMb;
    return addedMb > addedMbMax ? [`${name} adds ${addedMb.toFixed(1)} MB to the base image, limit ${addedMbMax}`] : [];
  });
  return (await Promise.all(faults)).flat();
}

async function readBytes(image: string): Promise<number> {
  return Number(await runCommand(["docker", "image", "inspect", "--format", "{{.Size}}", image]));
}
