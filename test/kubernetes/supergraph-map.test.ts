import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { environmentOf, getPod, renderOverlay } from "./cluster.ts";
import { root } from "./folders.ts";

/** Of all annotations of an object. `kubectl apply` keeps what it applied in one, as JSON: less than the 1 MiB of a ConfigMap. */
const annotationBytesMax = 262_144;

test.each(["local", "production"])(
  "in %s the gateway mounts the composed supergraph, and sees it change",
  (overlay) => {
    const cluster = renderOverlay(overlay);
    const gateway = getPod(cluster, "gateway");
    const file = environmentOf(cluster, gateway)["SUPERGRAPH_FILE"] ?? "";
    // The whole folder: what is mounted by subPath stays as it was.
    const mount = gateway.container.volumeMounts?.find(({ mountPath }) => mountPath === dirname(file));
    expect(mount).toEqual({ name: "supergraph", mountPath: dirname(file), readOnly: true });
    // The name as it stands: a hash in it would replace the pods instead of the file under them.
    const volume = gateway.spec.volumes?.find(({ name }) => name === "supergraph");
    expect(volume?.configMap).toEqual({ name: "supergraph" });
    const text = readFileSync(join(root, "supergraph/supergraph.graphql"), "utf8");
    expect(cluster.get("ConfigMap", "supergraph").data).toEqual({ [basename(file)]: text });
    const applied = JSON.stringify(cluster.get("ConfigMap", "supergraph"));
    expect(Buffer.byteLength(applied)).toBeLessThan(annotationBytesMax / 2);
  },
);

test("settings have a hash in their name: who changes one replaces the pods that read it", () => {
  const cluster = renderOverlay("production");
  const references = getPod(cluster, "users").container.env?.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name);
  expect(new Set(references)).toContainEqual(expect.stringMatching(/^settings-[a-z0-9]{10}$/));
});
