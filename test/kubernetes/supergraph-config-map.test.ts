import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { environmentOf, getPod, renderOverlay } from "./cluster.ts";
import { root } from "./folders.ts";

/** Limit of an object's annotations. `kubectl apply` stores the applied object in one; a ConfigMap itself may have 1 MiB. */
const annotationBytesMax = 262_144;

test.each(["local", "production"])(
  "in %s the gateway mounts the composed supergraph, and the mounted file changes with the ConfigMap",
  (overlay) => {
    const cluster = renderOverlay(overlay);
    const gateway = getPod(cluster, "gateway");
    const file = environmentOf(cluster, gateway)["SUPERGRAPH_FILE"] ?? "";
    // The whole folder is mounted: a file that is mounted by subPath is never updated.
    const mount = gateway.container.volumeMounts?.find(({ mountPath }) => mountPath === dirname(file));
    expect(mount).toEqual({ name: "supergraph", mountPath: dirname(file), readOnly: true });
    // The name has no hash: with one, a change would replace the pods instead of the mounted file.
    const volume = gateway.spec.volumes?.find(({ name }) => name === "supergraph");
    expect(volume?.configMap).toEqual({ name: "supergraph" });
    const text = readFileSync(join(root, "supergraph/supergraph.graphql"), "utf8");
    expect(cluster.get("ConfigMap", "supergraph").data).toEqual({ [basename(file)]: text });
    const applied = JSON.stringify(cluster.get("ConfigMap", "supergraph"));
    expect(Buffer.byteLength(applied)).toBeLessThan(annotationBytesMax / 2);
  },
);

test("the names of settings have a hash, so that a change replaces the pods that read them", () => {
  const cluster = renderOverlay("production");
  const references = getPod(cluster, "users").container.env?.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name);
  expect(new Set(references)).toContainEqual(expect.stringMatching(/^settings-[a-z0-9]{10}$/));
});
