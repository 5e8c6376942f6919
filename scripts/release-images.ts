// Prints the matrix of the workflow images.yml as one line of JSON: the images that a release builds.
import { readFileSync } from "node:fs";
import { listReleasedImages } from "./release/images.ts";

const compose = readFileSync(new URL("../docker-compose.yml", import.meta.url), "utf8");
console.log(JSON.stringify({ include: listReleasedImages(compose) }));
